"""On a machine with a GPU: device arrays, streams, parity with the CPU, fork."""

from __future__ import annotations

import functools
import math
import multiprocessing
import os
from collections.abc import Iterator
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest
from gpu_similarity._tables import device_memory

if not gs.devices() and os.environ.get("GPU_SIMILARITY_REQUIRE_CUDA") != "1":
    pytest.skip("no usable GPU", allow_module_level=True)


@pytest.fixture(params=["torch", "cupy"])
def library(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param)


def on_device(library: Any, x: np.ndarray) -> Any:
    if library.__name__ == "torch":
        return library.as_tensor(x, device="cuda")
    return library.asarray(x)


def on_host(x: Any) -> np.ndarray:
    return x.cpu().numpy() if hasattr(x, "cpu") else x.get()


@pytest.mark.parametrize("measure", ["spearman", "pearson"])
def test_parity(table: np.ndarray, measure: str) -> None:
    call = getattr(gs, f"{measure}_edges")
    on_cpu, on_gpu = (call(table, max_p=0.05, backend=b) for b in ("cpu", "cuda"))
    assert on_gpu.summary.backend == "cuda"
    assert on_cpu.records.tobytes() == on_gpu.records.tobytes()
    assert (
        gs.counts(table, measure=measure, min_abs=0.3, backend="cuda").kept
        == gs.counts(table, measure=measure, min_abs=0.3, backend="cpu").kept
    )


def test_rank(library: Any, table: np.ndarray) -> None:
    got = gs.rank(on_device(library, table))
    assert type(got).__module__.split(".")[0] == library.__name__
    np.testing.assert_array_equal(on_host(got), gs.rank(table, backend="cpu"))


@pytest.mark.parametrize("kind", ["float32", "float64", "int8", "int16", "int32", "uint8"])
def test_filters(library: Any, rng: np.random.Generator, kind: str) -> None:
    x = rng.integers(0, 20, size=(5, 300)).astype(kind)
    for boundary in ("reflect", "valid"):
        for dtype in (kind, "float64"):
            options = {"boundary": boundary, "dtype": dtype}
            got = gs.mean_filter(on_device(library, x), 7, **options)
            expected = gs.mean_filter(x, 7, **options, backend="cpu")
            np.testing.assert_allclose(on_host(got), expected, rtol=1e-6)
    got = gs.convolve(on_device(library, x[0]), [1, 2, 3], dtype="float64")
    np.testing.assert_allclose(
        on_host(got), gs.convolve(x[0], [1, 2, 3], dtype="float64", backend="cpu")
    )


def test_top_k_and_matmul(library: Any, rng: np.random.Generator) -> None:
    x = rng.integers(0, 1000, size=(4, 5000)).astype(np.int32)
    for data in (x, x[0]):
        got, expected = gs.top_k(on_device(library, data), 20), gs.top_k(data, 20, backend="cpu")
        np.testing.assert_array_equal(on_host(got.values), expected.values)
        np.testing.assert_array_equal(on_host(got.indices), expected.indices)
    a, b = rng.normal(size=(30, 40)), rng.normal(size=(40, 20))
    got = gs.matmul(on_device(library, a), on_device(library, b))
    np.testing.assert_allclose(on_host(got), a @ b, rtol=1e-12)


def test_row_strides_are_taken_and_others_refused(library: Any, rng: np.random.Generator) -> None:
    x = rng.normal(size=(10, 40))
    view = on_device(library, x)[::2, 5:30]
    np.testing.assert_array_equal(on_host(gs.rank(view)), gs.rank(x[::2, 5:30], backend="cpu"))
    best = gs.top_k(x[::2, 5:30], 3, backend="cpu").values
    np.testing.assert_array_equal(on_host(gs.top_k(view, 3).values), best)
    with pytest.raises(ValueError, match="contiguous"):
        gs.top_k(on_device(library, x).T, 3)
    with pytest.raises(TypeError, match="x: got elements of type float16, expected int8, int16"):
        gs.mean_filter(on_device(library, x.astype(np.float16)), 3)
    with pytest.raises(TypeError, match="x: got elements of type complex64, expected int8, int16"):
        gs.spearman_edges(on_device(library, x.astype(np.complex64)))


# The values of each are exact in all of them.
KINDS = ["float16", "bfloat16", "float32", "float64", "int64", "int32", "uint8", "bool"]


def forms(library: Any, host: np.ndarray, kind: str) -> Iterator[tuple[Any, str]]:
    """The table on the device as a type, in several layouts, with the axis of its variables."""
    if kind == "bfloat16" and library.__name__ == "cupy":
        pytest.skip("CuPy has no bfloat16")
    whole = on_device(library, host)
    x = whole.to(getattr(library, kind)) if hasattr(whole, "to") else whole.astype(kind)
    yield x, "rows"
    columns = x.T.contiguous() if hasattr(x, "contiguous") else library.ascontiguousarray(x.T)
    yield columns.T, "rows"
    yield columns, "columns"
    wide = library.stack([x, x], 2)  # between two elements of a row lies another
    yield wide[:, :, 1], "rows"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("measure", ["spearman", "pearson", "kendall", "bicor"])
def test_types_and_layouts(library: Any, rng: np.random.Generator, measure: Any, kind: str) -> None:
    """Each gives the bits of the same values on the host."""
    host = rng.integers(0, 2 if kind == "bool" else 9, size=(40, 31)).astype(np.float64)
    edges = functools.partial(gs.edges, measure=measure)
    cut = {"max_p": 0.2}
    wanted = edges(host, **cut, backend="cpu")
    against = edges(host, host[:9], **cut, backend="cpu")
    matrix = gs.dense(host, measure=measure, backend="cpu").matrix
    counted = gs.counts(host, measure=measure, **cut, backend="cpu")
    assert len(wanted) > 5
    for x, axis in forms(library, host, kind):
        y = x[:9] if axis == "rows" else x[:, :9]
        run = {"axis": axis}
        assert edges(x, **cut, **run).records.tobytes() == wanted.records.tobytes()
        assert edges(x, y, **cut, **run).records.tobytes() == against.records.tobytes()
        np.testing.assert_array_equal(on_host(gs.device.dense(x, measure=measure, **run)), matrix)
        got = gs.device.counts(x, measure=measure, **cut, **run)
        np.testing.assert_array_equal(on_host(got.degree), counted.degree)
        prepared = gs.prepare(x, measure=measure, **run)
        assert edges(y, prepared, **cut, **run).records.tobytes() == (
            edges(host[:9], host, **cut, backend="cpu").records.tobytes()
        )
        copied = edges(x, **cut, **run, copy=True, backend="cpu")
        assert copied.records.tobytes() == wanted.records.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_and_bits_of_types_and_layouts(
    library: Any, rng: np.random.Generator, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_memory, "_BLOCK_BYTES", 8 * 31 * 6)  # blocks of 7 rows
    host = rng.integers(0, 2 if kind == "bool" else 9, size=(40, 31)).astype(np.float64)
    for x, axis in forms(library, host, kind):
        rows = x if axis == "rows" else x.T
        np.testing.assert_array_equal(on_host(gs.rank(rows)), gs.rank(host, backend="cpu"))
        np.testing.assert_array_equal(on_host(gs.rank(rows[3])), gs.rank(host[3], backend="cpu"))
        bits = gs.pack_bits(rows, threshold=1)
        np.testing.assert_array_equal(on_host(bits.unpack()), host >= 1)


def test_wide_integers_of_a_device(library: Any, rng: np.random.Generator) -> None:
    host = 2**53 - rng.integers(0, 9, size=(30, 20))
    host[::2] *= -1
    wanted = gs.spearman_edges(host, max_p=0.3, backend="cpu")
    x = on_device(library, host)
    assert gs.spearman_edges(x, max_p=0.3).records.tobytes() == wanted.records.tobytes()
    np.testing.assert_array_equal(on_host(gs.rank(x)), gs.rank(host, backend="cpu"))
    host[3, 4] = -(2**53) - 1
    x = on_device(library, host)
    place = f"x: got {host[3, 4]} at row 3, column 4, expected integers up to 2"
    for call in (gs.spearman_edges, gs.device.dense):
        with pytest.raises(ValueError, match=place):
            call(x)
    with pytest.raises(ValueError, match="x: expected integers up to 2"):
        gs.rank(x)
    assert len(gs.spearman_edges(x, copy=True)) > 0


class Exported:
    """An array of a library that has DLPack and nothing else, as JAX's."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16", "bool"])
def test_arrays_by_dlpack(rng: np.random.Generator, kind: str) -> None:
    torch = pytest.importorskip("torch")
    host = rng.integers(0, 2 if kind == "bool" else 9, size=(40, 31)).astype(np.float64)
    x = torch.as_tensor(host, device="cuda").to(getattr(torch, kind))
    wanted = gs.spearman_edges(host, max_p=0.2, backend="cpu")
    for array, axis in ((x, "rows"), (x.T.contiguous(), "columns"), (x.T.contiguous().T, "rows")):
        got = gs.spearman_edges(Exported(array), max_p=0.2, axis=axis)
        assert got.records.tobytes() == wanted.records.tobytes()


@pytest.mark.filterwarnings("ignore:.*observations")
@pytest.mark.parametrize("columns", [4, 6, 9, 12])
@pytest.mark.parametrize("tail", ["two-sided", "greater"])
def test_least_p_of_ranks(rng: np.random.Generator, columns: int, tail: Any) -> None:
    """No p below the share of permutations that give the statistic at its extreme."""
    host = rng.integers(0, 5, size=(60, columns)).astype(np.float64)
    host[::2] = rng.normal(size=(30, columns)).argsort(axis=1)
    for measure in ("spearman", "kendall"):
        edges = functools.partial(gs.edges, measure=measure)
        wanted = edges(host, max_p=0.9, tail=tail, backend="cpu")
        got = edges(host, max_p=0.9, tail=tail, backend="cuda")
        assert got.records.tobytes() == wanted.records.tobytes()
        if columns <= 9:  # p of Kendall's tau of rows with ties is normal, as SciPy's
            least = (2 if tail == "two-sided" else 1) / math.factorial(columns)
            untied = (got.row % 2 == 0) & (got.col % 2 == 0)
            assert got.p[untied | (measure == "spearman")].min() >= least * (1 - 1e-12)


def late_ramp(library: Any, rows: int) -> tuple[Any, Any]:
    """A stream, and an array [rows, 1000] that is written late on it: each row 0, 1, 2, ..."""
    n = 4096
    torch = library.__name__ == "torch"
    stream = library.cuda.Stream() if torch else library.cuda.Stream(non_blocking=True)
    with library.cuda.stream(stream) if torch else stream:
        big = on_device(library, np.full((n, n), 1 / n, np.float32))
        x = on_device(library, np.zeros((rows, 1000), np.float32))
        product = big
        for _ in range(50):
            product = product @ big
        x += on_device(library, np.arange(1000, dtype=np.float32))
        x *= product[0, 0] / product[0, 0]
    return stream, x


def current(library: Any, stream: Any) -> Any:
    return library.cuda.stream(stream) if library.__name__ == "torch" else stream


def test_a_delayed_producer_is_waited_for(library: Any) -> None:
    """The call runs behind the writer of its input, on the current stream."""
    stream, x = late_ramp(library, 64)
    with current(library, stream):
        ranks = gs.rank(x)
    stream.synchronize()
    np.testing.assert_array_equal(on_host(ranks)[-1], np.arange(1.0, 1001))


def test_all_pairs_wait_for_a_delayed_producer(library: Any) -> None:
    stream, x = late_ramp(library, 64)
    with current(library, stream):
        edges = gs.spearman_edges(x)
    assert len(edges) == 64 * 63 // 2
    assert (edges.statistic == 1).all()


@pytest.mark.parametrize("measure", ["spearman", "pearson"])
def test_all_pairs_of_device_arrays(library: Any, table: np.ndarray, measure: str) -> None:
    x, y = on_device(library, table), on_device(library, table[:7])
    edges = getattr(gs, f"{measure}_edges")
    for data, host in (((x,), (table,)), ((x, y), (table, table[:7]))):
        got, expected = (edges(*tables, max_p=0.05) for tables in (data, host))
        assert got.summary.backend == "cuda"
        assert got.records.tobytes() == expected.records.tobytes()
        got, expected = (gs.counts(*t, measure=measure, min_abs=0.3, bins=9) for t in (data, host))
        np.testing.assert_array_equal(got.degree, expected.degree)
        np.testing.assert_array_equal(got.histogram, expected.histogram)
        got, expected = (gs.dense(*t, measure=measure).matrix for t in (data, host))
        np.testing.assert_array_equal(got, expected)
        batches = list(gs.stream(*data, measure=measure, max_p=0.05, batch_edges=100))
        records = np.concatenate([b.records for b in batches])
        assert records.tobytes() == edges(*host, max_p=0.05).records.tobytes()
        got, expected = (gs.plan(*t, measure=measure, max_p=0.05) for t in (data, host))
        # Rows in device memory are not looked at beforehand: nothing is estimated.
        assert got.pairs == expected.pairs
        assert got.sampled_pairs == 0
    got, expected = (gs.top_k_partners(t, 3, measure=measure) for t in (x, table))
    np.testing.assert_array_equal(got.index, expected.index)


@pytest.mark.parametrize("measure", ["spearman", "pearson"])
@pytest.mark.parametrize("against", [False, True])
def test_results_that_stay_on_the_device(
    library: Any, table: np.ndarray, measure: str, against: bool
) -> None:
    host = (table, table[:7]) if against else (table,)
    data = [on_device(library, t) for t in host]
    second = data[1:]
    # The diagonal and NaN as well: equal bits.
    np.testing.assert_array_equal(
        on_host(gs.device.dense(*data, measure=measure)), gs.dense(*host, measure=measure).matrix
    )
    best = gs.device.top_k_partners(data[0], 3, *second, measure=measure)
    expected = gs.top_k_partners(host[0], 3, *host[1:], measure=measure)
    assert type(best.index).__module__.split(".")[0] == library.__name__
    np.testing.assert_array_equal(on_host(best.index).view(np.uint32), expected.index)
    np.testing.assert_array_equal(on_host(best.statistic), expected.statistic)
    np.testing.assert_array_equal(on_host(best.count), expected.count)

    cut = {"measure": measure, "min_abs": 0.3}
    got, counts = gs.device.counts(*data, bins=9, **cut), gs.counts(*host, bins=9, **cut)
    np.testing.assert_array_equal(on_host(got.degree), counts.degree)
    np.testing.assert_array_equal(on_host(got.histogram), counts.histogram)
    assert on_host(got.totals).tolist()[:2] == [counts.tested, counts.kept]
    if against:
        np.testing.assert_array_equal(on_host(got.y_degree), counts.y_degree)

    whole = getattr(gs, f"{measure}_edges")(*host, max_p=0.05)
    for capacity in (len(whole) + 5, max(len(whole) // 2, 1)):
        few = gs.device.edges(*data, capacity=capacity, measure=measure, max_p=0.05)
        assert on_host(few.found).tolist() == [len(whole)]
        n = min(capacity, len(whole))
        for name in ("row", "col", "statistic", "p"):
            np.testing.assert_array_equal(on_host(getattr(few, name))[:n], getattr(whole, name)[:n])


def test_device_results_of_a_delayed_producer(library: Any) -> None:
    stream, x = late_ramp(library, 64)
    with current(library, stream):
        rho = gs.device.dense(x)
    stream.synchronize()
    assert (on_host(rho) == 1).all()
    with pytest.raises(TypeError, match="on the host"):
        gs.device.dense(np.ones((3, 4)))


def test_prepared_rows_of_a_device(library: Any, table: np.ndarray) -> None:
    prepared = gs.prepare(on_device(library, table))
    assert prepared.backend == "cuda"
    for queries in (table[:5], on_device(library, table[:5])):
        got = gs.spearman_edges(queries, prepared, max_p=0.2)
        expected = gs.spearman_edges(table[:5], table, max_p=0.2, backend="cpu")
        assert got.records.tobytes() == expected.records.tobytes()


def test_device_tables_that_are_refused(library: Any, table: np.ndarray) -> None:
    x = on_device(library, table)
    with pytest.raises(TypeError, match="y: got an array on the host"):
        gs.spearman_edges(x, table)
    with pytest.raises(ValueError, match="'cpu' does not take"):
        gs.spearman_edges(x, backend="cpu")
    with pytest.raises(ValueError, match="dimensions"):
        gs.spearman_edges(x[0])
    expected = gs.spearman_edges(table, max_p=0.05, backend="cpu")
    got = gs.spearman_edges(x, max_p=0.05, backend="cpu", copy=True)
    assert got.records.tobytes() == expected.records.tobytes()


@pytest.mark.parametrize("measure", ["spearman", "pearson"])
@pytest.mark.parametrize("kind", ["float64", "float32", "int16"])
def test_differential_of_device_arrays(
    library: Any, rng: np.random.Generator, measure: Any, kind: str
) -> None:
    host = (50 * rng.normal(size=(60, 40))).astype(kind)
    host[1::2, :15] += host[::2, :15]
    x = on_device(library, host)
    groups = (np.arange(15), np.arange(39, 17, -1))
    options: dict[str, Any] = {"measure": measure, "max_p": 0.2}
    for more in ({}, {"adjust": "bh"}, {"tail": "less", "min_abs_z": 0.5}, {"part": (1, 3)}):
        got = gs.differential(x, groups, **options, **more)
        expected = gs.differential(host, groups, backend="cpu", **options, **more)
        assert len(got) > 0 and got.summary.device != expected.summary.device
        for name in ("row", "col", "first", "second", "z", "p"):
            np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))
        partners = gs.differential_partners(x, groups, 3, **options, **more)
        wanted = gs.differential_partners(host, groups, 3, backend="cpu", **options, **more)
        for name in ("index", "first", "second", "z", "p", "count"):
            np.testing.assert_array_equal(getattr(partners, name), getattr(wanted, name))
    with pytest.raises(ValueError, match="'cpu' does not take"):
        gs.differential(x, groups, backend="cpu")
    if kind != "int16":
        host[7, 30] = np.nan
        with pytest.raises(ValueError, match="NaN at row 7, column 30"):
            gs.differential(on_device(library, host), groups, measure=measure)


def test_differential_waits_for_a_delayed_producer(library: Any) -> None:
    stream, x = late_ramp(library, 64)
    with current(library, stream):
        found = gs.differential(x, (range(500), range(500, 1000)), measure="spearman")
    assert len(found) == 64 * 63 // 2
    assert (found.first == 1).all() and (found.z == 0).all()


def test_parts_of_both_backends_are_one_whole(rng: np.random.Generator) -> None:
    x = rng.normal(size=(300, 20))
    whole = gs.spearman_edges(x, max_p=0.05, backend="cpu")
    parts = [
        gs.spearman_edges(x, max_p=0.05, part=(i, 4), backend=("cpu", "cuda")[i % 2])
        for i in range(4)
    ]
    assert np.concatenate([p.records for p in parts]).tobytes() == whole.records.tobytes()
    assert sum(p.summary.checksum for p in parts) == whole.summary.checksum


@pytest.mark.parametrize("kind", ["float32", "int32", "uint8"])
def test_top_k_distinct(library: Any, rng: np.random.Generator, kind: str) -> None:
    x = rng.integers(0, 30, size=(5, 400)).astype(kind)
    got = gs.top_k_distinct(on_device(library, x), 40)
    expected = gs.top_k_distinct(x, 40, backend="cpu")
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_array_equal(on_host(mine), theirs)
    vector = gs.top_k_distinct(on_device(library, x[0]), 5)
    np.testing.assert_array_equal(on_host(vector.values), gs.top_k_distinct(x[0], 5).values)
    assert on_host(vector.found).tolist() == [5]


def test_products_of_bits(library: Any, rng: np.random.Generator) -> None:
    x, y = rng.normal(size=(40, 130)), rng.normal(size=(30, 130))
    a, b = gs.pack_bits(on_device(library, x)), gs.pack_bits(on_device(library, y))
    assert type(a.words).__module__.split(".")[0] == library.__name__
    np.testing.assert_array_equal(on_host(a.unpack()), x >= 0)
    for product in ("xnor_dot", "hamming_distance", "and_count"):
        got = gs.binary_matmul(a, b, product=product)
        expected = gs.binary_matmul(gs.pack_bits(x), gs.pack_bits(y), product=product)
        np.testing.assert_array_equal(on_host(got), expected)


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    x = jax.numpy.asarray(np.random.default_rng(0).normal(size=(4, 30)).astype(np.float32))
    if "cuda" not in str(x.device).lower() and "gpu" not in str(x.device).lower():
        pytest.skip("JAX has no GPU here")
    host = np.asarray(x)
    np.testing.assert_array_equal(on_host(gs.rank(x)), gs.rank(host, backend="cpu"))
    for kind in ("float32", "float16", "bfloat16"):
        small = jax.numpy.asarray(np.round(host * 4), dtype=kind)
        wanted = gs.spearman_edges(np.round(host * 4), max_p=0.9, backend="cpu")
        assert gs.spearman_edges(small, max_p=0.9).records.tobytes() == wanted.records.tobytes()


def _child(queue: multiprocessing.Queue[str]) -> None:
    x = np.random.default_rng(0).normal(size=(10, 12))
    try:
        gs.counts(x)
    except gs.BackendUnavailable as error:
        queue.put(str(error))
    else:
        queue.put("no error")
    queue.put(f"{gs.counts(x, backend='cpu').kept} on the CPU")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_after_cuda_says_so() -> None:
    x = np.random.default_rng(0).normal(size=(10, 12))
    gs.counts(x, backend="cuda")
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[str] = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    assert "forked" in queue.get(timeout=60)
    assert queue.get(timeout=60) == "45 on the CPU"
    child.join(60)
