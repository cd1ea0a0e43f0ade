"""Soft-threshold networks beside NumPy's arithmetic."""

from __future__ import annotations

import gpu_similarity as gs
import numpy as np
import pytest

POWERS = [6, 1, 0.5, 3.3, 12]


def adjacency(r: np.ndarray, power: float, network: str) -> np.ndarray:
    base = {"unsigned": np.abs(r), "signed": (1 + r) / 2, "signed-hybrid": np.maximum(r, 0)}
    out = base[network] ** power
    np.fill_diagonal(out, 0)
    return out


@pytest.fixture
def table() -> np.ndarray:
    x = np.random.default_rng(7).normal(size=(90, 14))
    x[10:40] += 2 * x[3]
    return x


@pytest.mark.parametrize("network", ["unsigned", "signed", "signed-hybrid"])
def test_connectivity_is_the_sum_of_adjacencies(table: np.ndarray, network: str) -> None:
    found = gs.connectivity(table, POWERS, network=network, measure="pearson", backend="cpu")
    r = np.corrcoef(table)
    wanted = np.stack([adjacency(r, p, network).sum(axis=1) for p in POWERS], axis=1)
    np.testing.assert_allclose(found.connectivity, wanted, rtol=1e-11)
    assert found.network == network
    assert found.measure == "pearson"
    assert found.summary.pairs_tested == 90 * 89 // 2
    assert np.asarray(found) is found.connectivity or np.shares_memory(found, found.connectivity)


def test_names_columns_and_parts(table: np.ndarray) -> None:
    pandas = pytest.importorskip("pandas")
    names = [f"gene {i}" for i in range(90)]
    frame = pandas.DataFrame(table.T, columns=names)
    found = gs.connectivity(frame, [2], axis="columns")
    assert list(found.to_pandas().index) == names
    part = gs.connectivity(frame, [2], axis="columns", part=(1, 3))
    first = part.summary.part_begin
    assert list(part.to_pandas().index) == names[first : first + len(part.connectivity)]
    np.testing.assert_array_equal(
        part.connectivity, found.connectivity[first : first + len(part.connectivity)]
    )


def test_rows_without_a_statistic_are_nan(table: np.ndarray) -> None:
    table[5] = 1
    table[6, 2] = np.nan
    found = gs.connectivity(table, 2, nans="propagate")
    assert np.flatnonzero(np.isnan(found.connectivity[:, 0])).tolist() == [5, 6]
    fit = found.scale_free_fit()
    assert fit.mean[0] == pytest.approx(np.nanmean(found.connectivity))


def test_fits_are_those_of_least_squares(table: np.ndarray) -> None:
    found = gs.connectivity(table, POWERS, measure="pearson")
    fit = found.scale_free_fit(bins=7)
    for j, k in enumerate(found.connectivity.T):
        breaks = np.linspace(k.min(), k.max(), 8)
        place = np.clip(np.searchsorted(breaks, k) - 1, 0, 6)
        count = np.bincount(place, minlength=7)
        mean = np.bincount(place, weights=k, minlength=7) / np.maximum(count, 1)
        mean = np.where(count == 0, (breaks[1:] + breaks[:-1]) / 2, mean)
        x, y = np.log10(mean), np.log10(count / len(k) + 1e-9)
        assert fit.slope[j] == pytest.approx(np.polyfit(x, y, 1)[0])
        assert fit.r_squared[j] == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)
        assert fit.median[j] == pytest.approx(np.median(k))
    again = gs.scale_free_fit(found.connectivity, POWERS, bins=7)
    np.testing.assert_array_equal(again.r_squared, fit.r_squared)
    np.testing.assert_array_equal(fit.signed_r_squared, -np.sign(fit.slope) * fit.r_squared)


def test_the_first_power_above_the_cut_is_taken(table: np.ndarray) -> None:
    found = gs.connectivity(table, [1, 2, 3])
    fit = found.scale_free_fit(r_squared_cut=-2)
    assert fit.power == 1
    assert found.scale_free_fit(r_squared_cut=1).power is None


def test_fits_as_a_frame(table: np.ndarray) -> None:
    pytest.importorskip("pandas")
    frame = gs.connectivity(table, [1, 6]).scale_free_fit().to_pandas()
    assert frame.index.tolist() == [1, 6]
    assert list(frame.columns)[:2] == ["r_squared", "slope"]


@pytest.mark.parametrize("network", ["unsigned", "signed", "signed-hybrid"])
def test_topological_overlap(table: np.ndarray, network: str) -> None:
    r = np.corrcoef(table)
    a = adjacency(r, 4, network)
    k = a.sum(axis=1)
    wanted = (a @ a + a) / (np.minimum.outer(k, k) + 1 - a)
    np.fill_diagonal(wanted, 1)
    dense = gs.dense(table, measure="pearson")
    for given in (dense, dense.matrix, dense.matrix.astype(np.float32)):
        got = gs.topological_overlap(given, power=4, network=network)
        np.testing.assert_allclose(got, wanted, rtol=1e-5)
    exact = gs.topological_overlap(dense, power=4, network=network)
    np.testing.assert_allclose(exact, wanted, rtol=1e-11)


def test_errors_name_the_keywords(table: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"^powers\[1\]: got 0, expected above 0"):
        gs.connectivity(table, [1, 0])
    with pytest.raises(
        ValueError, match=r"^network: got 'sign', expected one of 'unsigned', 'signed'"
    ):
        gs.connectivity(table, [1], network="sign")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^powers: got 'six', expected numbers"):
        gs.connectivity(table, "six")
    with pytest.raises(NotImplementedError, match=r"^fold: always"):
        gs.connectivity(table, fold="always")
    with pytest.raises(ValueError, match=r"^bins: got 1, expected 3 to 10000"):
        gs.scale_free_fit([[1.0], [2.0]], [1], bins=1)
    with pytest.raises(ValueError, match=r"^powers: got 2 of them"):
        gs.scale_free_fit([[1.0], [2.0]], [1, 2])
    with pytest.raises(ValueError, match=r"^powers: expected those"):
        gs.scale_free_fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match=r"^power: got 0"):
        gs.topological_overlap(np.eye(3), power=0)
    with pytest.raises(ValueError, match=r"^statistics: got \[2, 3\]"):
        gs.topological_overlap(np.ones((2, 3)))
