"""What is read in place, what is copied, what is refused."""

from __future__ import annotations

import pickle
import tracemalloc

import gpu_similarity as gs
import numpy as np
import pytest
from gpu_similarity._arrays import host_array

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
        lambda x: x.T,
        lambda x: x[:, ::2],
        lambda x: x[::-1],
        lambda x: x.astype(np.int64),
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


def test_integers_of_64_bits() -> None:
    big = 2**60 + np.array([[3, 1, 2, 1]])
    np.testing.assert_array_equal(gs.rank(big), [[4, 1.5, 3, 1.5]])
    with pytest.raises(ValueError, match="exact in no type"):
        gs.mean_filter(big, 3)
    best = gs.top_k(np.array([2**40, 5, 2**40 + 1]), 2)
    assert best.values.dtype == np.int64
    assert best.values.tolist() == [2**40 + 1, 2**40]


def test_results_are_the_memory_of_the_library() -> None:
    x = np.random.default_rng(0).normal(size=(300, 12))
    edges = gs.spearman_edges(x)
    for field in (edges.row, edges.col, edges.statistic, edges.p):
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
        lambda x: gs.folded_edges(x),
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
        lambda: list(gs.folded_stream(x, batch_edges=1000)),
        lambda: gs.folded_edges(x, max_p=0.5),
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
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(200):
        for call in calls:
            call()
    last = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert last - first < 50_000
    # 200 dense results alone would be 64 MB.
    assert _resident() - before < 40_000_000


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
