"""Covariates and weights of columns: beside NumPy's least squares, and in every function."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest

ROWS, COLS = 12, 30


def rows(seed: int = 3) -> Any:
    random = np.random.default_rng(seed)
    return random.normal(size=(ROWS, COLS)) + random.normal(size=COLS)


def covariates(count: int = 2) -> Any:
    return np.random.default_rng(9).normal(size=(count, COLS))


def ranks(a: Any) -> Any:
    return np.argsort(np.argsort(a, axis=1), axis=1).astype(float)


def residuals(x: Any, z: Any, weights: Any = None) -> Any:
    root = np.sqrt(np.ones(COLS) if weights is None else weights)
    design = (np.vstack([np.ones(COLS), *z]) * root).T
    y = (x * root).T
    return (y - design @ np.linalg.lstsq(design, y, rcond=None)[0]).T


def cosine(a: Any) -> Any:
    unit = a / np.linalg.norm(a, axis=1)[:, None]
    return unit @ unit.T


@pytest.mark.parametrize("count", [1, 2, 5])
def test_partial_correlation_is_that_of_residuals(count: int) -> None:
    x, z = rows(), covariates(count)
    for measure, values, given in (("pearson", x, z), ("spearman", ranks(x), ranks(z))):
        wanted = cosine(residuals(values, given))
        got = gs.dense(x, measure=measure, covariates=z)
        np.testing.assert_allclose(got.matrix, wanted, atol=1e-13)
        assert got.summary.observations == COLS - count
        edges = gs.edges(x, measure=measure, covariates=z)
        p = gs.p_value(edges.statistic, COLS - count)
        np.testing.assert_array_equal(edges.p, p)
        low, high = edges.confidence_interval()
        wide = gs.confidence_interval(edges.statistic, COLS - count, measure=measure)
        np.testing.assert_array_equal([low, high], wide)
        best = gs.top_k_partners(x, 3, measure=measure, covariates=z)
        np.testing.assert_array_equal(best.p, gs.p_value(best.statistic, COLS - count))


def test_weights_give_the_weighted_correlation() -> None:
    x = rows()
    weights = np.random.default_rng(2).uniform(size=COLS)
    weights[[3, 7]] = 0
    cov = np.cov(x, aweights=weights)
    scale = np.sqrt(np.diag(cov))
    got = gs.dense(x, measure="pearson", weights=weights)
    np.testing.assert_allclose(got.matrix, cov / np.outer(scale, scale), atol=1e-13)
    assert got.summary.observations == 0
    root = np.sqrt(weights)
    cosines = gs.dense(x, measure="cosine", weights=weights).matrix
    np.testing.assert_allclose(cosines, cosine(x * root), atol=1e-13)
    edges = gs.edges(x, measure="pearson", weights=weights, min_abs=0.3)
    assert np.isnan(edges.p).all() and not edges.has_p and "p =" not in repr(edges)
    best = gs.top_k_partners(x, 2, measure="pearson", weights=weights)
    assert np.isnan(best.p).all()
    with pytest.raises(gs.Unsupported, match="weights and without effective_observations"):
        gs.edges(x, measure="pearson", weights=weights, max_p=0.1)
    z = covariates(1)
    both = gs.edges(x, measure="pearson", weights=weights, covariates=z, effective_observations=20)
    wanted = cosine(residuals(x, z, weights))[both.row, both.col]
    np.testing.assert_allclose(both.statistic, wanted, atol=1e-13)
    np.testing.assert_array_equal(both.p, gs.p_value(both.statistic, 19))


def test_covariates_stand_as_the_table_does() -> None:
    x, z = rows(), covariates()
    wanted = gs.edges(x, covariates=z, max_p=0.2)
    pandas = pytest.importorskip("pandas")
    for got in (
        gs.edges(x.T, covariates=z.T, axis="columns", max_p=0.2),
        gs.edges(pandas.DataFrame(x), covariates=pandas.DataFrame(z), max_p=0.2),
        gs.edges(x, covariates=np.asfortranarray(z), max_p=0.2),
        gs.edges(x, covariates=z.tolist(), max_p=0.2),
    ):
        assert got.summary.checksum == wanted.summary.checksum
    one = gs.edges(x, covariates=z[0], max_p=0.2)
    assert one.summary.checksum == gs.edges(x, covariates=z[:1], max_p=0.2).summary.checksum
    assert gs.edges(x, covariates=None, weights=None).summary.observations == COLS


def test_every_function_takes_them() -> None:
    x, z = rows(), covariates()
    edges = gs.spearman_edges(x, covariates=z, max_p=0.3)
    assert gs.counts(x, covariates=z, max_p=0.3).kept == len(edges)
    assert gs.plan(x, covariates=z, max_p=0.3).kept_estimate == pytest.approx(len(edges))
    with gs.stream(x, covariates=z, max_p=0.3, batch_edges=2) as batches:
        found = [(batch.statistic, batch.summary.observations) for batch in batches]
    np.testing.assert_array_equal(np.concatenate([f[0] for f in found]), edges.statistic)
    assert {f[1] for f in found} == {COLS - 2}
    prepared = gs.prepare(x, covariates=z)
    assert prepared.observations == COLS - 2
    queries = gs.spearman_edges(x[:3], prepared)
    wanted = gs.spearman_edges(x[:3], x, covariates=z)
    assert queries.summary.checksum == wanted.summary.checksum
    np.testing.assert_array_equal(queries.p, wanted.p)
    with pytest.raises(ValueError, match="effective_observations: got others than y"):
        gs.spearman_edges(x[:3], prepared, covariates=z[:1])
    assert pickle.loads(pickle.dumps(edges)).summary.observations == COLS - 2


def test_what_is_refused_is_named() -> None:
    x, z = rows(), covariates()
    with pytest.raises(ValueError, match="covariates: got 29 columns, expected 30"):
        gs.edges(x, covariates=z[:, 1:])
    with pytest.raises(ValueError, match="covariates: got 3 dimensions"):
        gs.edges(x, covariates=z[None])
    with pytest.raises(ValueError, match="covariates: got none"):
        gs.edges(x, covariates=z[:0])
    with pytest.raises(ValueError, match="weights: got 3 weights, expected 30"):
        gs.edges(x, measure="pearson", weights=[1, 2, 3])
    with pytest.raises(ValueError, match="weights: got shape"):
        gs.edges(x, measure="pearson", weights=z)
    with pytest.raises(gs.Unsupported, match="weights: not offered for Spearman"):
        gs.edges(x, weights=np.ones(COLS))
    with pytest.raises(gs.Unsupported, match="nans: pairwise is not offered with covariates"):
        gs.edges(x, covariates=z, nans="pairwise")
    with pytest.raises(TypeError, match="did you mean covariates"):
        gs.edges(x, covariate=z)


@pytest.mark.parametrize("adjust", ["none", "bh"])
def test_parts_of_a_job_take_them(adjust: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    x, z = rows(), covariates()
    options = {"max_p": 0.4, "adjust": adjust, "covariates": z}
    job = gs.distributed.Job(x, parts=3, options=options).with_cut()
    whole = gs.spearman_edges(x, max_p=0.4, adjust=adjust, covariates=z)
    parts = [job.part(index) for index in range(3)]
    np.testing.assert_array_equal(np.concatenate([p.statistic for p in parts]), whole.statistic)
    other = gs.distributed.Job(x, parts=3, options={**options, "covariates": z + 1e-9})
    assert other.digest() != gs.distributed.Job(x, parts=3, options=options).digest()
    turned = gs.distributed.Job(
        x.T, parts=3, options={**options, "axis": "columns", "covariates": z.T}
    ).with_cut()
    np.testing.assert_array_equal(turned.part(1).statistic, parts[1].statistic)


def test_effective_observations_change_p_and_no_statistic() -> None:
    x, z = rows(), covariates()
    stats = pytest.importorskip("scipy.stats")
    for measure in ("spearman", "pearson", "bicor"):
        plain = gs.edges(x, measure=measure)
        got = gs.edges(x, measure=measure, effective_observations=11.25)
        np.testing.assert_array_equal(got.statistic, plain.statistic)
        np.testing.assert_array_equal(got.p, gs.p_value(got.statistic, 11.25))
        t = np.abs(got.statistic) * np.sqrt(9.25 / (1 - got.statistic**2))
        np.testing.assert_allclose(got.p, 2 * stats.t.sf(t, 9.25), rtol=1e-12)
        assert got.summary.observations == 11.25
        cut = gs.edges(x, measure=measure, effective_observations=11.25, max_p=0.05)
        np.testing.assert_array_equal(cut.statistic, got.statistic[got.p <= 0.05])
        low, high = got.confidence_interval()
        wide = gs.confidence_interval(got.statistic, 11.25, measure=measure)
        np.testing.assert_array_equal([low, high], wide)
        with gs.stream(x, measure=measure, effective_observations=11.25) as batches:
            assert {batch.summary.observations for batch in batches} == {11.25}
    partial = gs.edges(x, covariates=z, effective_observations=12)
    assert partial.summary.observations == 10 and type(partial.summary.observations) is int
    np.testing.assert_array_equal(partial.p, gs.p_value(partial.statistic, 10))
    for options, words in (
        ({"measure": "kendall"}, "effective_observations: not offered for Kendall"),
        ({"measure": "cosine"}, "effective_observations: not offered for Cosine"),
        ({"p_method": "exact"}, "p_method: exact is not offered with effective_observations"),
        ({"nans": "pairwise"}, "nans: pairwise is not offered with effective_observations"),
    ):
        with pytest.raises(gs.Unsupported, match=words):
            gs.edges(x, effective_observations=8.5, **options)
    for wrong in (2.9, -1, float("nan")):
        with pytest.raises(ValueError, match="effective_observations: got"):
            gs.edges(x, effective_observations=wrong)


def lag_1(row: Any) -> float:
    centred = row - row.mean()
    return float((centred[1:] * centred[:-1]).sum() / (centred**2).sum())


def test_effective_observations_are_bartletts() -> None:
    random = np.random.default_rng(4)
    x = np.cumsum(random.normal(size=(6, 50)), axis=1)
    y = random.normal(size=(4, 50)) * np.where(np.arange(50) % 2, 1, -1) + x[:4] / 10
    a, b = ([lag_1(row) for row in t] for t in (x, y))

    def worth(product: float) -> float:
        return min(50.0, 50 * (1 - product) / (1 + product))

    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    each = gs.effective_observations(x, pairs=np.transpose(pairs))
    np.testing.assert_allclose(each, [worth(a[i] * a[j]) for i, j in pairs], rtol=1e-12)
    assert gs.effective_observations(x) == pytest.approx(min(each))
    assert gs.effective_observations(x.T, axis="columns") == pytest.approx(min(each))
    assert gs.effective_observations(x, y) == pytest.approx(min(worth(i * j) for i in a for j in b))
    x[2] = 5  # does not vary, and does not count
    assert gs.effective_observations(x) == pytest.approx(
        min(worth(a[i] * a[j]) for i, j in pairs if 2 not in (i, j))
    )
    assert np.isnan(gs.effective_observations(x, pairs=([1], [2]))).all()
    with pytest.raises(ValueError, match="y: got 40 columns, expected 50"):
        gs.effective_observations(x, y[:, :40])
    with pytest.raises(ValueError, match="x: got 1 rows that vary, expected at least 2"):
        gs.effective_observations(x[1:3])


def test_a_cut_at_1_says_that_equal_rows_may_miss_it() -> None:
    x = rows()
    x[6:] = x[:6]
    with pytest.warns(UserWarning, match=r"min_abs=0\.999999999999 keeps all of them"):
        gs.pearson_edges(x, min_abs=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(gs.pearson_edges(x, min_abs=0.999999999999)) == 6
        assert len(gs.spearman_edges(x, min_abs=1.0)) == 6
        gs.pearson_edges(x, min_abs=float("inf"))
