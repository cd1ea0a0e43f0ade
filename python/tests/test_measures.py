"""The list of measures, and cosine through every function over all pairs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import get_args

import gpu_similarity as gs
import numpy as np
import pytest
from gpu_similarity._shared import options as _options

RNG = np.random.default_rng(5)


def cosines(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return (x @ y.T) / np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))


def test_the_type_names_every_measure() -> None:
    assert list(get_args(_options.Measure)) == [*gs.MEASURES, *gs.BIT_MEASURES]


def test_what_is_known_of_measures() -> None:
    assert gs.MEASURES["spearman"].is_ordinal and gs.MEASURES["spearman"].symbol == "rho"
    assert gs.MEASURES["pearson"].has_p
    assert not gs.MEASURES["cosine"].has_p


def test_edges_take_any_measure() -> None:
    x = RNG.normal(size=(30, 20))
    for measure in ("spearman", "pearson"):
        wanted = getattr(gs, f"{measure}_edges")(x, max_p=0.1)
        got = gs.edges(x, measure=measure, max_p=0.1)
        assert np.array_equal(got.records, wanted.records)


@pytest.mark.parametrize("cols", [1, 2, 25, 300])
def test_cosine_edges_are_those_of_numpy(cols: int) -> None:
    x = RNG.normal(size=(60, cols)).astype(np.float32)
    x[7] = 0
    x[8] = 3
    wanted = cosines(x.astype(float), x.astype(float))
    edges = gs.edges(x, measure="cosine", min_abs=0.5)
    i, j = np.nonzero(np.triu(np.abs(np.nan_to_num(wanted)) >= 0.5, 1))
    assert np.array_equal(edges.row, i) and np.array_equal(edges.col, j)
    assert np.allclose(edges.statistic, wanted[i, j], rtol=0, atol=1e-14)
    assert np.isnan(edges.p).all()
    assert list(edges.summary.constant_rows) == [7]
    assert "p =" not in repr(edges)


def test_cosine_of_x_against_y_partners_counts_dense_and_stream() -> None:
    x, y = RNG.normal(size=(20, 30)), RNG.normal(size=(25, 30))
    wanted = cosines(x, y)
    prepared = gs.prepare(y, measure="cosine")
    for other in (y, prepared):
        dense = gs.dense(x, other, measure="cosine")
        assert np.allclose(dense.matrix, wanted, rtol=0, atol=1e-13)
        best = gs.top_k_partners(x, 1, other, measure="cosine")
        assert np.array_equal(best.index[:, 0], np.abs(wanted).argmax(axis=1))
        kept = gs.counts(x, other, measure="cosine", min_abs=0.2).kept
        assert kept == (np.abs(wanted) >= 0.2).sum()
    with gs.stream(x, y, measure="cosine", min_abs=0.3) as batches:
        found = sum(len(batch) for batch in batches)
    assert found == (np.abs(wanted) >= 0.3).sum()


def test_cosine_in_parts_is_the_whole() -> None:
    x = RNG.normal(size=(40, 12))
    whole = gs.edges(x, measure="cosine", min_abs=0.4)
    parts = [gs.edges(x, measure="cosine", min_abs=0.4, part=(i, 3)) for i in range(3)]
    assert sum(len(part) for part in parts) == len(whole)
    job = gs.distributed.Job(x, parts=3, measure="cosine", options={"min_abs": 0.4})
    assert sum(len(job.part(i)) for i in range(3)) == len(whole)


def test_cosine_has_no_p() -> None:
    x = RNG.normal(size=(5, 6))
    for call in (
        lambda: gs.edges(x, measure="cosine", max_p=0.05),
        lambda: gs.counts(x, measure="cosine", adjust="bonferroni"),
        lambda: gs.top_k_partners(x, 2, measure="cosine", max_p=0.05),
    ):
        with pytest.raises(gs.Unsupported, match="no significance test"):
            call()


def test_an_unknown_measure_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="measure: got 'kendal'"):
        gs.edges(np.zeros((3, 4)), measure="kendal")  # type: ignore[arg-type]


def bicors(x: np.ndarray) -> np.ndarray:
    rows = []
    for row in x:
        distance = row - np.median(row)
        mad = np.median(np.abs(distance))
        if mad == 0:
            rows.append(row - row.mean())
            continue
        a = distance / (9 * mad)
        rows.append(np.where(np.abs(a) < 1, distance * (1 - a**2) ** 2, 0.0))
    unit = np.array(rows)
    with np.errstate(invalid="ignore"):
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize("cols", [3, 24, 25, 300])
def test_bicor_edges_are_those_of_its_formula(cols: int) -> None:
    x = RNG.normal(size=(50, cols)).astype(np.float32)
    x[3, ::2] *= 100
    x[7] = 3
    x[8, : cols - 1] = 1  # MAD is 0
    wanted = bicors(x.astype(float))
    edges = gs.edges(x, measure="bicor", min_abs=0.2)
    i, j = np.nonzero(np.triu(np.abs(np.nan_to_num(wanted)) >= 0.2, 1))
    assert np.array_equal(edges.row, i) and np.array_equal(edges.col, j)
    assert np.allclose(edges.statistic, wanted[i, j], rtol=0, atol=1e-13)
    assert np.array_equal(edges.p, gs.p_value(edges.statistic, cols))
    assert list(edges.summary.constant_rows) == [7]


def kendalls(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """tau-b and its asymptotic p, from the signs of all differences."""
    first, second = np.triu_indices(x.shape[1], 1)
    s, t = (np.sign(rows[:, second] - rows[:, first]) for rows in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        total = s @ t.T
        tau = total / np.sqrt(np.outer((s != 0).sum(axis=1), (t != 0).sum(axis=1)))
    m = x.shape[1]

    def sums(row: np.ndarray) -> np.ndarray:
        t = np.unique(row, return_counts=True)[1].astype(float)
        powers = (t * (t - 1) * (2 * t + 5), t * (t - 1), t * (t - 1) * (t - 2))
        return np.array([power.sum() for power in powers])

    a, b = (np.array([sums(row) for row in rows]) for rows in (x, y))
    var = (m * (m - 1) * (2 * m + 5) - a[:, :1] - b[:, 0]) / 18
    var += np.outer(a[:, 1], b[:, 1]) / (2 * m * (m - 1))
    var += np.outer(a[:, 2], b[:, 2]) / (9 * m * (m - 1) * (m - 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.abs(total) / np.sqrt(2 * var)
    return tau, np.vectorize(math.erfc)(z)


@pytest.mark.parametrize("cols", [5, 40, 120])
def test_kendall_edges_are_those_of_its_signs(cols: int) -> None:
    x = RNG.integers(0, 4, size=(50, cols)).astype(np.float32)  # every row has ties
    x[7] = 3
    wanted, p = kendalls(x, x)
    edges = gs.edges(x, measure="kendall", max_p=0.2)
    i, j = np.nonzero(np.triu(np.isfinite(wanted) & (p <= 0.2), 1))
    assert np.array_equal(edges.row, i) and np.array_equal(edges.col, j)
    assert np.allclose(edges.statistic, wanted[i, j], rtol=0, atol=1e-15)
    assert np.allclose(edges.p, p[i, j], rtol=1e-12, atol=0)
    assert list(edges.summary.constant_rows) == [7]
    assert edges.summary.backend == "cpu"
    assert gs.MEASURES["kendall"].has_p and gs.MEASURES["kendall"].symbol == "tau"


def test_kendall_partners_have_the_p_of_their_ties() -> None:
    x = RNG.integers(0, 5, size=(20, 30)).astype(float)
    y = RNG.integers(0, 9, size=(25, 30)).astype(float)
    wanted, p = kendalls(x, y)
    for other in (y, gs.prepare(y, measure="kendall")):
        best = gs.top_k_partners(x, 3, other, measure="kendall", max_p=0.5)
        for i in range(20):
            own = [j for j in np.argsort(-np.abs(wanted[i]), kind="stable") if p[i, j] <= 0.5][:3]
            assert list(best.index[i, : best.count[i]]) == own
            assert np.allclose(best.p[i, : best.count[i]], p[i, own], rtol=1e-12, atol=0)
            assert np.isnan(best.p[i, best.count[i] :]).all()
    rejected = gs.edges(x, y, measure="kendall", max_p=0.3, adjust="bh")
    ascending = np.sort(p, axis=None)
    passing = np.nonzero(ascending <= 0.3 * np.arange(1, p.size + 1) / p.size)[0]
    assert len(rejected) == (passing[-1] + 1 if passing.size else 0)


def test_what_kendall_does_not_offer_is_refused() -> None:
    x = RNG.normal(size=(5, 9))
    for call in (
        lambda: gs.prepare(x, measure="kendall", nans="pairwise"),
        lambda: gs.edges(RNG.normal(size=(3, 2049)), measure="kendall", backend="cuda"),
        lambda: gs.edges(x, measure="kendall").to_pandas(confidence=0.95),
    ):
        with pytest.raises(gs.Unsupported):
            call()


def test_independent_rows_have_the_normal_tau() -> None:
    from gpu_similarity.plot import null_share

    edges = np.linspace(-1, 1, 21)
    x = RNG.normal(size=(300, 40))
    found = gs.counts(x, measure="kendall", bins=20)
    expected = found.tested * null_share(edges, 40, "kendall")
    assert abs(expected.sum() - found.tested) < 1
    assert np.allclose(found.histogram, expected, rtol=0.1, atol=150)
