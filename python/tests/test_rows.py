"""Ranks, filters, the best values and products against SciPy and NumPy."""

from __future__ import annotations

import gpu_similarity as gs
import numpy as np
import pytest
from scipy import ndimage, stats


@pytest.mark.parametrize("ties", ["average", "min", "max", "dense", "ordinal"])
def test_rank(table: np.ndarray, ties: str) -> None:
    expected = stats.rankdata(table, ties, axis=1)
    np.testing.assert_array_equal(gs.rank(table, ties=ties), expected)
    np.testing.assert_array_equal(gs.rank(-table, ties=ties, order="descending"), expected)


def test_rank_and_nan() -> None:
    x = np.array([[1.0, np.nan, 2.0], [3.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match="row 0"):
        gs.rank(x)
    np.testing.assert_array_equal(gs.rank(x, nans="propagate"), [[np.nan] * 3, [3, 1, 2]])


MODES = {
    "reflect": "reflect",
    "zero": "constant",
    "nearest": "nearest",
    "mirror": "mirror",
    "wrap": "wrap",
}


@pytest.mark.parametrize("boundary", MODES)
@pytest.mark.parametrize("window", [1, 2, 5, 24, 61])
@pytest.mark.parametrize("kind", ["float64", "float32", "int8", "uint8", "int16", "int32", "int64"])
def test_mean_filter(rng: np.random.Generator, boundary: str, window: int, kind: str) -> None:
    x = rng.integers(0, 100, size=(7, 40)).astype(kind)
    expected = ndimage.uniform_filter1d(x.astype(float), window, mode=MODES[boundary])
    got = gs.mean_filter(x, window, boundary=boundary)
    assert got.dtype == x.dtype
    if x.dtype.kind == "f":
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-5)
    else:
        assert (np.abs(got - expected) < 1 + 1e-9).all()
    in_double = gs.mean_filter(x, window, boundary=boundary, dtype=float)
    assert in_double.dtype == np.float64
    np.testing.assert_allclose(in_double, expected, atol=1e-9)


def test_mean_filter_shrink_valid_and_nan() -> None:
    x = np.array([1.0, 2, np.nan, 4, 5, 6])
    np.testing.assert_array_equal(
        gs.mean_filter(x, 3, boundary="shrink", nans="omit"), [1.5, 1.5, 3, 4.5, 5, 5.5]
    )
    np.testing.assert_array_equal(
        gs.mean_filter(x, 2, boundary="valid"), [1.5, np.nan, np.nan, 4.5, 5.5]
    )


@pytest.mark.parametrize("boundary", MODES)
@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_convolve(rng: np.random.Generator, boundary: str, size: int) -> None:
    x, weights = rng.normal(size=(4, 30)), rng.normal(size=size)
    for origin in range(-(size // 2), (size - 1) // 2 + 1):
        expected = ndimage.convolve1d(x, weights, mode=MODES[boundary], origin=origin)
        got = gs.convolve(x, weights, boundary=boundary, origin=origin)
        np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["float32", "int32", "int64", "uint8"])
def test_top_k(rng: np.random.Generator, kind: str) -> None:
    x = rng.integers(0, 50, size=(6, 100)).astype(kind)
    best = gs.top_k(x, 9)
    order = np.argsort(-x.astype(np.int64), axis=1, kind="stable")[:, :9]
    np.testing.assert_array_equal(best.indices, order)
    np.testing.assert_array_equal(best.values, np.take_along_axis(x, order, 1))
    assert best.values.dtype == x.dtype
    smallest = gs.top_k(x[0], 3, select="smallest")
    np.testing.assert_array_equal(smallest.indices, np.argsort(x[0], kind="stable")[:3])


def test_top_k_distinct(rng: np.random.Generator) -> None:
    x = rng.integers(0, 20, size=200)
    values, first, counts = np.unique(x, return_index=True, return_counts=True)
    got = gs.top_k_distinct(x, 5)
    np.testing.assert_array_equal(got.values, values[::-1][:5])
    np.testing.assert_array_equal(got.indices, first[::-1][:5])
    np.testing.assert_array_equal(got.counts, counts[::-1][:5])
    rows = gs.top_k_distinct(np.array([[1, 1, 2], [3, 3, 3]]), 2)
    assert rows.values.tolist() == [[2, 1], [3, 0]]
    assert rows.found.tolist() == [2, 1]


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_matmul_of_views(rng: np.random.Generator, kind: str) -> None:
    a, b = rng.normal(size=(5, 7)).astype(kind), rng.normal(size=(7, 6)).astype(kind)
    for left in (a, np.asfortranarray(a)):
        for right in (b, np.asfortranarray(b)):
            got = gs.matmul(left, right)
            assert got.dtype == kind
            np.testing.assert_allclose(got, a @ b, rtol=1e-4)
    with pytest.raises(ValueError):
        gs.matmul(a, a)


def test_binary_products(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=(4, 70)), rng.normal(size=(3, 70))
    a, b = gs.pack_bits(x), gs.pack_bits(y)
    p, q = (x >= 0).astype(int), (y >= 0).astype(int)
    np.testing.assert_array_equal(a.unpack(), p)
    np.testing.assert_array_equal(gs.binary_matmul(a, b), (2 * p - 1) @ (2 * q - 1).T)
    np.testing.assert_array_equal(gs.binary_matmul(a, b, product="and_count"), p @ q.T)
    hamming = gs.binary_matmul(a, b, product="hamming_distance")
    np.testing.assert_array_equal(hamming, (p[:, None] != q).sum(-1))
    with pytest.raises(ValueError, match="columns"):
        gs.binary_matmul(a, gs.pack_bits(y[:, :5]))
    with pytest.raises(ValueError, match="threshold"):
        gs.pack_bits(p, 0.5)


def test_a_mean_is_finite_where_its_values_are() -> None:
    np.testing.assert_array_equal(gs.mean_filter([1.2e308, 1.2e308], 2), [1.2e308, 1.2e308])
    np.testing.assert_array_equal(gs.uniform_filter1d([1.2e308, -1.2e308] * 4, 2)[1:], np.zeros(7))
