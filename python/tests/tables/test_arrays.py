"""What is read in place, what is copied, what is refused."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import tracemalloc
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest
from gpu_similarity._tables.arrays import host_array
from scipy import stats

KINDS = ["int8", "int16", "int32", "uint8", "uint16", "float32", "float64"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_copy_on_the_way_in(kind: str) -> None:
    x = np.arange(40, dtype=kind).reshape(4, 10)
    for view in (x, x[::2], x[:, 2:8], x[1:, :]):
        taken = host_array(view, "x", copy=False)
        assert taken.ctypes.data == view.ctypes.data
        assert taken.strides == view.strides
        np.testing.assert_array_equal(
            gs.rank(view, copy=False), np.tile(np.arange(1.0, view.shape[1] + 1), (len(view), 1))
        )


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x[:, ::2],
        lambda x: x[::-1],
        lambda x: x.T[::-1],
        lambda x: x.astype(">f8"),
        lambda x: x.astype(np.float16),
        lambda x: np.broadcast_to(x[0], (4, 10)),
        lambda x: x.tolist(),
    ],
)
def test_copies_are_made_or_refused(make: object) -> None:
    x = make(np.arange(40.0).reshape(4, 10))  # type: ignore[operator]
    expected = np.argsort(np.argsort(np.asarray(x), axis=1), axis=1) + 1.0
    np.testing.assert_array_equal(gs.rank(x), expected)
    with pytest.raises(ValueError, match="copy=False"):
        gs.rank(x, copy=False)


def test_unaligned_and_read_only_memory() -> None:
    octets = np.zeros(8 * 12 + 1, np.uint8)
    x = octets[1:].view(np.float64).reshape(3, 4)
    x[...] = [[1, 2, 3, 4]] * 3
    np.testing.assert_array_equal(gs.rank(x)[0], [1, 2, 3, 4])
    y = np.arange(12.0).reshape(3, 4)
    y.flags.writeable = False
    assert len(gs.spearman_edges(y, copy=False)) == 3


LAYOUTS = {
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "F": np.asfortranarray,
    "block of columns": lambda x: np.asfortranarray(np.pad(x, ((0, 5), (2, 3))))[: len(x), 2:-3],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [*KINDS, "int64", "uint32", "uint64"])
def test_columns_are_read_in_place(rng: np.random.Generator, kind: str, layout: str) -> None:
    x = rng.integers(0, 9, size=(40, 12)).astype(kind)
    turned = LAYOUTS[layout](x)
    assert np.array_equal(turned, x)
    np.testing.assert_array_equal(gs.rank(turned, copy=False), stats.rankdata(x, axis=1))
    y = np.asfortranarray(rng.normal(size=(9, 12)))
    for measure in ("spearman", "pearson", "cosine"):
        cut = {"measure": measure, "min_abs": 0.3}
        for call in (gs.edges, gs.stream):
            got, want = (np.concatenate([e.records for e in _batches(call(table, **cut))])
                         for table in (turned, x.astype(float)))  # fmt: skip
            assert len(want) > 0 and got.tobytes() == want.tobytes()
        got = gs.edges(turned, y, copy=False, **cut)
        want = gs.edges(x.astype(float), np.ascontiguousarray(y), **cut)
        assert got.records.tobytes() == want.records.tobytes()
        across = gs.edges(turned.T, axis="columns", copy=False, **cut)
        assert across.records.tobytes() == gs.edges(x.astype(float), **cut).records.tobytes()
        best = gs.top_k_partners(turned, 3, measure=measure, copy=False)
        np.testing.assert_array_equal(
            best.index, gs.top_k_partners(x.astype(float), 3, measure=measure).index
        )
    np.testing.assert_array_equal(gs.observations(turned), np.full((40, 40), 12))


def _batches(edges: Any) -> list[Any]:
    return [edges] if isinstance(edges, gs.Edges) else list(edges)


def test_no_second_table_in_memory() -> None:
    # In a process of its own: the peak is one of the whole process.
    program = """
import resource, sys
import numpy as np
import gpu_similarity as gs
rng = np.random.default_rng(0)
x = np.empty((30, 1_000_000), sys.argv[1])
for row in x:
    row[:] = rng.integers(0, 1000, 1_000_000)
gs.counts(np.ones((3, 3)).T, cpu_threads=2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
gs.counts(x[:, :400_000], axis="columns", max_p=1e-3, part=(0, 2000), copy=False,
          workspace_bytes=1 << 24, cpu_threads=2)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""
    for kind in ("float64", "int64"):
        done = subprocess.run(
            [sys.executable, "-c", program, kind], capture_output=True, text=True, check=True
        )
        # A second table would be 92 MiB.
        assert float(done.stdout) < 60, done.stdout


def test_large_integers_of_all_pairs() -> None:
    rng = np.random.default_rng(3)
    for kind, base in (("int64", 2**53), ("int64", 2**63 - 8), ("uint64", 2**64 - 8)):
        codes = rng.integers(0, 7, size=(30, 12))
        x = np.asfortranarray(codes.astype(kind) + np.array(base, kind))
        expected = gs.spearman_edges(codes.astype("int8"), min_abs=0.2)
        assert gs.spearman_edges(x, min_abs=0.2).records.tobytes() == expected.records.tobytes()
        np.testing.assert_array_equal(gs.rank(x), stats.rankdata(codes, axis=1))
        values = [base + int(code) for code in codes[0]]
        column = next(k for k, value in enumerate(values) if value > 2**53)
        place = rf": got {values[column]} at row 0, column {column}, expected integers up to 2\^53"
        for call in (gs.edges, gs.plan, gs.prepare):
            with pytest.raises(ValueError, match=place):
                call(x, measure="pearson")
    frame = pytest.importorskip("pandas").DataFrame(
        codes + 2**60, index=[f"g{i}" for i in range(30)]
    )
    with pytest.raises(ValueError, match=r"^x: column 0 of dtype int64: integers from"):
        gs.pearson_edges(frame)
    assert len(gs.spearman_edges(frame, min_abs=0.2)) == len(expected)


def test_integers_of_64_bits() -> None:
    big = 2**60 + np.array([[3, 1, 2, 1]])
    np.testing.assert_array_equal(gs.rank(big), [[4, 1.5, 3, 1.5]])
    with pytest.raises(ValueError, match="exact in no type"):
        gs.mean_filter(big, 3)
    ends = host_array(np.array([[-(2**53), 2**53]]), "x")
    assert ends.dtype == np.float64 and ends.tolist() == [[-(2.0**53), 2.0**53]]
    for beyond in (-(2**53) - 1, 2**53 + 1):
        with pytest.raises(ValueError, match="exact in no type"):
            host_array(np.array([[beyond, 0]]), "x")
    best = gs.top_k(np.array([2**40, 5, 2**40 + 1]), 2)
    assert best.values.dtype == np.int64
    assert best.values.tolist() == [2**40 + 1, 2**40]


def test_results_are_the_memory_of_the_library() -> None:
    x = np.random.default_rng(0).normal(size=(300, 12))
    edges = gs.spearman_edges(x)
    for field in (edges.statistic, edges.p):
        assert field.base is not None
        assert np.shares_memory(field, edges.records)
    assert edges.records.dtype.itemsize == 24
    dense = gs.dense(x)
    assert not dense.matrix.flags.owndata
    frame = dense.to_pandas()
    assert np.shares_memory(frame.to_numpy(), dense.matrix)


def test_other_libraries() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(12.0).reshape(3, 4)
    assert host_array(x, "x", copy=False).ctypes.data == x.data_ptr()
    assert len(gs.spearman_edges(x)) == 3


def test_empty_tables() -> None:
    assert len(gs.spearman_edges(np.empty((0, 5)))) == 0
    assert gs.rank(np.empty((0, 5))).shape == (0, 5)
    assert gs.rank(np.empty((3, 0))).shape == (3, 0)
    assert gs.top_k(np.empty(0), 3).values.size == 0
    assert gs.matmul(np.ones((2, 0)), np.ones((0, 3))).tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: gs.spearman_edges(x, names=[f"g{i}" for i in range(len(x))]),
        lambda x: gs.top_k_partners(x, 2),
        lambda x: gs.counts(x, bins=10),
        lambda x: gs.dense(x),
        lambda x: gs.spearman_edges(x).summary,
        lambda x: gs.spearman_edges(x, x[:3]),
        lambda x: gs.plan(x),
        lambda x: gs.pack_bits(x),
        lambda x: gs.top_k_distinct(x, 2),
        lambda x: gs.spearmanr(x.T),
    ],
)
def test_results_can_be_pickled(make: object) -> None:
    x = np.random.default_rng(0).normal(size=(10, 12))
    result = make(x)  # type: ignore[operator]
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result)
    assert repr(again) == repr(result)
    if isinstance(result, gs.Edges):
        np.testing.assert_array_equal(again.records, result.records)


def test_errors_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(gs.CapacityExceeded("too many", 12)))
    assert (str(error), error.needed) == ("too many", 12)


def test_nothing_leaks() -> None:
    x = np.random.default_rng(0).normal(size=(200, 12))
    calls = [
        lambda: gs.spearman_edges(x, max_p=0.5),
        lambda: gs.dense(x),
        lambda: gs.counts(x, bins=16),
        lambda: gs.top_k_partners(x, 4),
        lambda: gs.rank(x),
        lambda: list(gs.stream(x, batch_edges=1000)),
        lambda: gs.spearman_edges(x, x[:20]),
        lambda: next(gs.stream(x, batch_edges=10)),
        lambda: gs.pack_bits(x),
    ]
    for call in calls:
        call()
    before = _resident()
    tracemalloc.start()
    for call in calls:
        call()
    gc.collect()  # cycles that wait for the collector are not a leak
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(200):
        for call in calls:
            call()
    gc.collect()
    last = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert last - first < 50_000
    # 200 dense results alone would be 64 MB.
    assert _resident() - before < 40_000_000


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
