"""Missing values, pair by pair, against SciPy and pandas."""

from __future__ import annotations

import gpu_similarity as gs
import numpy as np
import pytest


@pytest.fixture
def table() -> np.ndarray:
    random = np.random.default_rng(7)
    x = random.normal(size=(12, 40)) + np.sin(np.arange(40)) * (np.arange(12)[:, None] % 3)
    x[random.random(x.shape) < 0.15] = np.nan
    return x


def shared(x: np.ndarray, i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
    there = ~(np.isnan(x[i]) | np.isnan(x[j]))
    return x[i, there], x[j, there]


def test_edges_have_scipys_statistic_and_p(table):
    stats = pytest.importorskip("scipy.stats")
    table[5] = np.round(table[5])  # ties
    for measure, peer in (
        ("spearman", stats.spearmanr),
        ("pearson", stats.pearsonr),
        ("kendall", stats.kendalltau),
    ):
        edges = gs.edges(table, measure=measure, nans="pairwise", max_p=0.2)
        assert 5 < len(edges) < 66
        kept = {(int(e["row"]), int(e["col"])): e for e in edges.records}
        for i in range(12):
            for j in range(i + 1, 12):
                wanted = peer(*shared(table, i, j))
                assert ((i, j) in kept) == (wanted.pvalue <= 0.2)
                if (i, j) in kept:
                    assert kept[i, j]["statistic"] == pytest.approx(wanted.statistic, rel=1e-12)
                    assert kept[i, j]["p"] == pytest.approx(wanted.pvalue, rel=1e-9)


def test_dense_is_that_of_pandas(table):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table.T)
    for measure in ("spearman", "pearson", "kendall"):
        got = gs.dense(table, measure=measure, nans="pairwise", min_observations=30)
        wanted = frame.corr(method=measure, min_periods=30).to_numpy()
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-12)
        assert np.isnan(wanted).any()


def test_observations(table):
    there = ~np.isnan(table)
    wanted = there.astype(int) @ there.T.astype(int)
    np.testing.assert_array_equal(gs.observations(table), wanted)
    np.testing.assert_array_equal(gs.observations(table[:5], table[5:]), wanted[:5, 5:])
    edges = gs.edges(table, nans="pairwise", max_p=0.2)
    np.testing.assert_array_equal(gs.observations(table, pairs=edges), wanted[edges.row, edges.col])
    np.testing.assert_array_equal(
        edges.p, gs.p_value(edges.statistic, gs.observations(table, pairs=edges))
    )
    # Pairs of x and y, more than are counted at a time.
    rows, cols = np.arange(70_000) % 5, np.arange(70_000) % (len(table) - 5)
    np.testing.assert_array_equal(
        gs.observations(table[:5], table[5:], pairs=(rows, cols)), wanted[:5, 5:][rows, cols]
    )
    with pytest.raises(ValueError, match="y: got 3 columns, expected 40"):
        gs.observations(table, np.ones((2, 3)))


def test_partners_have_p_of_what_they_share(table):
    best = gs.top_k_partners(table, 3, nans="pairwise")
    rows = np.repeat(np.arange(12), 3).reshape(12, 3)
    n = gs.observations(table)[rows, best.index]
    np.testing.assert_array_equal(best.p, gs.p_value(best.statistic, n))


def test_partners_of_kendall_have_p_of_what_they_share(table):
    stats = pytest.importorskip("scipy.stats")
    table[5] = np.round(table[5])
    best = gs.top_k_partners(table, 3, measure="kendall", nans="pairwise")
    for i in range(12):
        for e in range(3):
            wanted = stats.kendalltau(*shared(table, i, best.index[i, e]))
            assert best.statistic[i, e] == pytest.approx(wanted.statistic, rel=1e-12)
            assert best.p[i, e] == pytest.approx(wanted.pvalue, rel=1e-9)


def test_edges_have_n(table, tmp_path):
    pytest.importorskip("pandas")
    edges = gs.edges(table, nans="pairwise", max_p=0.2)
    n = gs.observations(table, pairs=edges)
    frame = edges.to_pandas(observations=n, confidence=0.9)
    assert list(frame.columns) == ["row", "col", "statistic", "p", "n", "lower", "upper"]
    np.testing.assert_array_equal(frame["n"], n)
    assert "n" not in edges.to_pandas().columns
    edges.to_csv(tmp_path / "edges.csv", observations=n)
    head, first = (tmp_path / "edges.csv").read_text().splitlines()[:2]
    assert head == "row,col,statistic,p,n"
    assert int(float(first.split(",")[-1])) == n[0]
    with pytest.raises(ValueError, match="observations: got"):
        edges.to_pandas(observations=n[1:])


def test_the_family_is_the_pairs_that_have_a_statistic(table):
    table[3] = np.nan
    counts = gs.counts(table, nans="pairwise", max_p=0.5, adjust="bonferroni")
    assert counts.summary.pairs_tested == 55
    assert counts.summary.constant_rows.tolist() == [3]
    strict = gs.counts(table, nans="pairwise", max_p=0.5 / 55)
    assert counts.kept == strict.kept


def test_spearmanr_omits_pair_by_pair(table):
    stats = pytest.importorskip("scipy.stats")
    got = gs.spearmanr(table.T, nan_policy="omit")
    wanted = stats.spearmanr(table.T, nan_policy="omit")
    np.testing.assert_allclose(got.statistic, wanted.statistic, rtol=1e-12)
    off = ~np.eye(12, dtype=bool)
    np.testing.assert_allclose(got.pvalue[off], np.asarray(wanted.pvalue)[off], rtol=1e-7)


@pytest.mark.parametrize("measure", ["kendall", "bicor"])
def test_what_only_the_cpu_has(table, measure):
    what = f"CUDA does not have {measure.capitalize()} with missing values pair by pair"
    refusal = f"^backend: got cuda with nans='pairwise', but {what}; expected automatic or cpu"
    with pytest.raises(gs.Unsupported, match=refusal):
        gs.edges(table, measure=measure, nans="pairwise", backend="cuda")
    plan = gs.plan(table, measure=measure, nans="pairwise")
    assert plan.backend == "cpu"
    assert plan.choice.startswith(f"on the CPU, as {what}: every pair is decided")


def test_what_is_refused(table):
    with pytest.raises(ValueError, match="min_observations"):
        gs.edges(table, nans="pairwise", min_observations=2)
    with pytest.raises(ValueError):
        gs.edges(table, nans="pair-by-pair")
