"""Threads, Ctrl-C, progress and fork."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import gpu_similarity as gs
import numpy as np
import pytest


def test_threads_may_call_at_once(rng: np.random.Generator) -> None:
    tables = [rng.integers(0, 9, size=(150, 12)).astype(np.int32) for _ in range(8)]

    def work(x: np.ndarray) -> tuple[bytes, int, float]:
        return (
            gs.spearman_edges(x, max_p=0.1, cpu_threads=1).records.tobytes(),
            gs.counts(x, min_abs=0.5, cpu_threads=1).kept,
            float(gs.rank(x, cpu_threads=1).sum()),
        )

    alone = [work(x) for x in tables]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, tables * 4)) == alone * 4


def test_the_gil_is_free_during_a_call(rng: np.random.Generator) -> None:
    x = rng.normal(size=(9000, 64))
    ticks = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.perf_counter()
    gs.counts(x, min_abs=0.9, cpu_threads=1)
    ended = time.perf_counter()
    stop.set()
    thread.join()
    during = [t for t in ticks if began < t < ended]
    assert len(during) >= min(5, (ended - began) / 0.1)


LONG_RUN = """
import signal, sys, time
import numpy as np
import gpu_similarity as gs
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits "ignore"
x = np.random.default_rng(0).normal(size=(400_000, 64)).astype(np.float32)
{setup}
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""


@pytest.mark.parametrize(
    "call",
    [
        "gs.counts(x, min_abs=0.9, cpu_threads=1)",
        "gs.pearson_edges(x, min_abs=0.99, cpu_threads=1)",
        "gs.top_k_partners(x, 3, cpu_threads=1)",
        "list(gs.stream(x, min_abs=0.99, cpu_threads=1))",
        "gs.dense(x.reshape(16_000, 1600), dtype='float32', cpu_threads=1)",
    ],
)
def test_ctrl_c(call: str) -> None:
    check_ctrl_c("", call)


# Each is work for three seconds or more of one core at full speed.
@pytest.mark.parametrize(
    ("setup", "call"),
    [
        ("x = np.tile(x.reshape(64, -1), (4, 1)).astype(float)", "gs.prepare(x, cpu_threads=1)"),
        ("x = np.tile(x.reshape(64, -1), (4, 1))", "gs.counts(x, cpu_threads=1)"),
        ("x = np.tile(x.reshape(-1, 1600), (4, 1)).astype(float)", "gs.rank(x, cpu_threads=1)"),
        ("x = np.tile(x.ravel(), 4)", "gs.rank(x, cpu_threads=1)"),
        ("x = x.ravel()", "gs.mean_filter(x, 2001, variant='direct', cpu_threads=1)"),
        ("x = np.tile(x, (8, 1)); w = np.ones(256)", "gs.convolve(x, w, cpu_threads=1)"),
        ("x = np.tile(x, (4, 1)).reshape(-1, 4)", "gs.top_k(x, 3, cpu_threads=1)"),
        ("x = x.ravel()", "gs.top_k(x, x.size, cpu_threads=1)"),
        ("x = x.reshape(-1, 8)", "gs.top_k_distinct(x, 3, cpu_threads=1)"),
        ("x = np.linspace(-1, 1, 2 * 10**8)", "gs.p_value(x, 30)"),
        ("x = x.reshape(8000, -1).astype(float)", "gs.matmul(x, x.T, cpu_threads=1)"),
        (
            "b = gs.pack_bits(x.reshape(4000, -1))\n"
            "b = gs.Bits(np.tile(b.words, (2, 31)), 31 * 6400)",
            "gs.binary_matmul(b, b, cpu_threads=1)",
        ),
    ],
)
def test_ctrl_c_of_rows(setup: str, call: str) -> None:
    check_ctrl_c(setup, call)


def check_ctrl_c(setup: str, call: str) -> None:
    script = LONG_RUN.format(setup=setup, call=call)
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.7)
    assert process.poll() is None, "the run has to be longer than the test"
    asked = time.perf_counter()
    process.send_signal(signal.SIGINT)
    answer = process.stdout.readline()
    took = time.perf_counter() - asked
    assert answer == "interrupted\n"
    assert process.wait(30) == 7
    # A second is promised; another is left for a machine whose cores or pages others take.
    assert took < max(2.0, 2 * os.getloadavg()[0] / (os.cpu_count() or 1))


def test_progress_calls_and_cancels(rng: np.random.Generator) -> None:
    x = rng.normal(size=(300, 20))
    seen: list[tuple[str, int, int]] = []
    gs.spearman_edges(x, max_p=0.01, progress=lambda *state: seen.append(state))
    assert seen
    assert all(0 <= done <= total for _, done, total in seen)
    with pytest.raises(gs.Cancelled):
        gs.counts(x, progress=lambda *_: False)


def test_an_exception_of_the_progress_callback_is_raised(rng: np.random.Generator) -> None:
    def fail(*_: object) -> None:
        raise KeyError("from the callback")

    x = rng.normal(size=(300, 20))
    with pytest.raises(KeyError, match="from the callback"):
        gs.spearman_edges(x, progress=fail)
    with pytest.raises(KeyError, match="from the callback"):
        list(gs.stream(x, progress=fail))
    with pytest.raises(TypeError, match="progress"):
        gs.counts(x, progress="yes")  # type: ignore[arg-type]


def test_progress_bar(rng: np.random.Generator, capsys: pytest.CaptureFixture[str]) -> None:
    from gpu_similarity._shared import progress as _progress

    gs.counts(rng.normal(size=(300, 20)), progress=True)
    _progress._line("pairs", 1, 4)
    _progress._line("pairs", 4, 4)
    assert capsys.readouterr().err.endswith("\rpairs: 25 %\rpairs: 100 %\n")


def _child(x: np.ndarray, queue: multiprocessing.Queue[int]) -> None:
    queue.put(gs.counts(x, max_p=0.05, cpu_threads=2).kept)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(rng: np.random.Generator, method: str) -> None:
    x = rng.normal(size=(2000, 20))
    expected = gs.counts(x, max_p=0.05, cpu_threads=2).kept  # threads run before the fork
    context = multiprocessing.get_context(method)
    queue: multiprocessing.Queue[int] = context.Queue()
    child = context.Process(target=_child, args=(x, queue))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join(60)
    assert child.exitcode == 0
    assert gs.counts(x, max_p=0.05, cpu_threads=2).kept == expected
