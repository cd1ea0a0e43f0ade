"""Edges, partners, counts, dense matrices, streams and plans against SciPy, NumPy and pandas."""

from __future__ import annotations

import pickle
from typing import Any

import gpu_similarity as gs
import numpy as np
import pandas
import pytest
from scipy import stats

MEASURES = ["spearman", "pearson"]


def oracle(x: np.ndarray, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """Statistic and p of all pairs, from SciPy's ranks and t distribution."""
    with np.errstate(invalid="ignore", divide="ignore"):
        values = stats.rankdata(x, axis=1) if measure == "spearman" else x
        r = np.corrcoef(values)
        r[np.ptp(values, axis=1) == 0] = np.nan
        r[:, np.ptp(values, axis=1) == 0] = np.nan
        df = x.shape[1] - 2
        t = r * np.sqrt(df / ((1 + r) * (1 - r)).clip(0))
    return r, 2 * stats.t.sf(np.abs(t), df)


def edges_of(x: np.ndarray, measure: str, **options: object) -> gs.Edges:
    return getattr(gs, f"{measure}_edges")(x, **options)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("max_p", [1.0, 0.05, 1e-4])
def test_edges(table: np.ndarray, measure: str, max_p: float) -> None:
    edges = edges_of(table, measure, max_p=max_p)
    r, p = oracle(table, measure)
    upper = np.triu(np.ones_like(r, bool), 1) & ~np.isnan(r)
    i, j = np.nonzero(upper & (p <= max_p))
    np.testing.assert_array_equal(edges.row, i)
    np.testing.assert_array_equal(edges.col, j)
    np.testing.assert_allclose(edges.statistic, r[i, j], rtol=0, atol=1e-12)
    np.testing.assert_allclose(edges.p, p[i, j], rtol=1e-9, atol=1e-300)
    assert edges.summary.pairs_tested == upper.sum()
    assert edges.summary.pairs_kept == len(edges)


@pytest.mark.parametrize("measure", MEASURES)
def test_dense_counts_partners_agree_with_the_oracle(table: np.ndarray, measure: str) -> None:
    r, _ = oracle(table, measure)
    dense = gs.dense(table, measure=measure)
    np.testing.assert_allclose(dense.matrix, r, atol=1e-12)
    assert np.asarray(dense) is dense.matrix
    np.testing.assert_allclose(
        gs.dense(table, measure=measure, dtype="float32").matrix, r, atol=1e-6
    )

    counts = gs.counts(table, measure=measure, min_abs=0.3, bins=20)
    kept = np.triu(np.abs(r) >= 0.3, 1)
    assert counts.kept == kept.sum()
    np.testing.assert_array_equal(counts.degree, kept.sum(0) + kept.sum(1))
    assert counts.histogram.sum() == counts.kept
    assert len(counts.bin_edges) == 21

    best = gs.top_k_partners(table, 3, measure=measure, order="by-value")
    np.fill_diagonal(r, np.nan)
    for i, count in enumerate(best.count):
        expected = np.sort(r[i][~np.isnan(r[i])])[::-1][:3]
        assert count == len(expected)
        np.testing.assert_allclose(best.statistic[i, :count], expected, atol=1e-12)


def test_constant_and_nan_rows_are_named(rng: np.random.Generator) -> None:
    x = rng.normal(size=(6, 9))
    x[2] = 1
    x[4, 3] = np.nan
    with pytest.raises(ValueError, match=r"row 4.*column 3"):
        gs.spearman_edges(x)
    summary = gs.spearman_edges(x, nans="propagate").summary
    np.testing.assert_array_equal(summary.constant_rows, [2])
    np.testing.assert_array_equal(summary.nan_rows, [4])
    assert summary.pairs_tested == 6


def test_rows_with_an_infinite_value_are_told_from_constant_ones(rng: np.random.Generator) -> None:
    x = rng.normal(size=(6, 12))
    x[2] = 1
    x[4, 3] = np.inf
    for measure in ("pearson", "cosine", "bicor"):
        constant = [] if measure == "cosine" else [2]
        summary = gs.edges(x, measure=measure).summary
        assert summary.constant_rows.tolist() == constant
        assert summary.infinite_rows.tolist() == [4]
        against = gs.counts(x[:4], x, measure=measure).summary
        assert against.infinite_rows.tolist() == []
        assert against.y_infinite_rows.tolist() == [4]
        prepared = gs.prepare(x, measure=measure)
        assert prepared.constant_rows.tolist() == constant
        assert prepared.infinite_rows.tolist() == [4]
    ranks = gs.spearman_edges(x).summary
    assert (ranks.constant_rows.tolist(), ranks.infinite_rows.tolist()) == ([2], [])
    groups = (range(6), range(6, 12))
    assert gs.differential(x, groups).summary.infinite_rows.tolist() == [4]
    assert gs.differential(x, groups).summary.constant_rows.tolist() == [2]


@pytest.mark.parametrize("adjust", ["bonferroni", "bh"])
def test_adjustments(rng: np.random.Generator, adjust: str) -> None:
    x = rng.normal(size=(50, 15)) + 0.8 * rng.normal(size=(1, 15))
    p = oracle(x, "spearman")[1][np.triu_indices(50, 1)]
    adjusted = stats.false_discovery_control(p) if adjust == "bh" else p * len(p)
    assert len(gs.spearman_edges(x, max_p=0.05, adjust=adjust)) == (adjusted <= 0.05).sum()


@pytest.mark.parametrize("tail", ["greater", "less"])
def test_tails(rng: np.random.Generator, tail: str) -> None:
    x = rng.normal(size=(30, 12))
    edges = gs.spearman_edges(x, max_p=0.05, tail=tail)
    for e in edges.records[:20]:
        expected = stats.spearmanr(x[e["row"]], x[e["col"]], alternative=tail)
        assert e["p"] == pytest.approx(expected.pvalue, rel=1e-9)
    assert (edges.statistic > 0).all() == (tail == "greater")


def test_stream_gives_the_edges_in_batches(rng: np.random.Generator) -> None:
    x = rng.normal(size=(80, 12))
    whole = gs.spearman_edges(x, max_p=0.3)
    stream = gs.stream(x, max_p=0.3, batch_edges=37)
    batches = list(stream)
    assert all(len(b) <= 37 for b in batches)
    np.testing.assert_array_equal(np.concatenate([b.records for b in batches]), whole.records)
    assert stream.summary is not None
    assert stream.summary.pairs_kept == len(whole)
    assert list(stream) == []


def test_stream_can_be_left_early(rng: np.random.Generator) -> None:
    x = rng.normal(size=(2000, 12))
    with gs.stream(x, batch_edges=1000, axis="rows") as stream:
        first = next(stream)
        assert len(first) == 1000
    with pytest.raises(StopIteration):
        next(stream)
    assert stream.summary is None
    for edges in gs.stream(x, batch_edges=1000, axis="rows"):
        assert len(edges) == 1000
        break  # dropped without close()


def test_stream_raises_what_ended_it(rng: np.random.Generator) -> None:
    x = rng.normal(size=(10, 12))
    x[1, 1] = np.nan
    with pytest.raises(ValueError, match="row 1"):
        next(gs.stream(x))


def test_capacity(rng: np.random.Generator) -> None:
    x = rng.normal(size=(40, 12))
    with pytest.raises(gs.CapacityExceeded) as caught:
        gs.spearman_edges(x, max_edges=100)
    assert caught.value.needed == 780
    assert len(gs.spearman_edges(x, max_edges=780)) == 780


def test_plan(rng: np.random.Generator) -> None:
    x = rng.normal(size=(300, 20))
    plan = gs.plan(x, max_p=0.05)
    assert plan.pairs == 300 * 299 // 2
    assert plan.kept_estimate == len(gs.spearman_edges(x, max_p=0.05))


def test_names_of_a_data_frame(rng: np.random.Generator) -> None:
    frame = pandas.DataFrame(rng.normal(size=(5, 30)), index=list("abcde"))
    edges = gs.pearson_edges(frame)
    expected = frame.T.corr()
    for _, line in edges.to_pandas().iterrows():
        assert expected.loc[line.row, line.col] == pytest.approx(line.statistic, abs=1e-12)
    np.testing.assert_allclose(gs.dense(frame, measure="pearson").to_pandas(), expected, atol=1e-12)
    assert gs.spearman_edges(frame.reset_index(drop=True)).names is None
    assert list(gs.counts(frame).to_pandas().index) == list("abcde")
    with pytest.raises(ValueError, match="names"):
        gs.spearman_edges(frame, names=["a"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: gs.spearman_edges(x[0]), "x: got 1 dimensions"),
        (lambda x: gs.spearman_edges(x[:, :2]), "column|observation"),
        (lambda x: gs.spearman_edges(x, max_p=2), "max_p"),
        (lambda x: gs.spearman_edges(x, min_abs=-1), "min_abs"),
        (lambda x: gs.spearman_edges(x, adjust="holm"), "adjust: got 'holm', expected one of"),
        (lambda x: gs.spearman_edges(x, backend="tpu"), "backend"),
        (lambda x: gs.top_k_partners(x, 0), "k"),
        (lambda x: gs.counts(x, measure="kendal"), "measure"),
        (lambda x: gs.counts(x, bins=-1), "^bins: got -1"),
        (lambda x: gs.dense(x, dtype="int32"), "dtype"),
        (lambda x: gs.stream(x, batch_edges=0), "batch_edges"),
    ],
)
def test_what_is_refused(rng: np.random.Generator, call: object, message: str) -> None:
    x = rng.normal(size=(5, 10))
    with pytest.raises(ValueError, match=message):
        result = call(x)  # type: ignore[operator]
        next(iter(result))


def test_wrong_kinds_are_type_errors(rng: np.random.Generator) -> None:
    x = rng.normal(size=(5, 10))
    with pytest.raises(TypeError, match="max_p"):
        gs.spearman_edges(x, max_p="small")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unknown option"):
        gs.spearman_edges(x, max_P=0.05)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="not numbers: got 'a'"):
        gs.spearman_edges([["a", None]] * 3)
    with pytest.raises(TypeError, match="complex"):
        gs.spearman_edges(x + 1j)


@pytest.mark.skipif(bool(gs.devices()), reason="a GPU is here")
def test_cuda_does_not_fall_back(rng: np.random.Generator) -> None:
    with pytest.raises(gs.BackendUnavailable):
        gs.spearman_edges(rng.normal(size=(5, 10)), backend="cuda")


def test_devices_that_a_call_would_leave_alone_are_refused(rng: np.random.Generator) -> None:
    x = rng.normal(size=(5, 10))
    with pytest.raises(ValueError, match=r"devices: got 1 with .*cpu, expected none"):
        gs.spearman_edges(x, backend="cpu", devices=0)
    if not gs.devices():
        with pytest.raises(gs.BackendUnavailable, match="devices: got device 0, but"):
            gs.rank(x, devices=0)


def test_p_value_and_its_inverse() -> None:
    r = np.linspace(-1, 1, 41)
    for tail in ("two-sided", "greater", "less"):
        with np.errstate(divide="ignore"):
            t = r * np.sqrt(10 / ((1 + r) * (1 - r)))
        sf = {
            "two-sided": 2 * stats.t.sf(abs(t), 10),
            "greater": stats.t.sf(t, 10),
            "less": stats.t.cdf(t, 10),
        }[tail]
        np.testing.assert_allclose(gs.p_value(r, 12, tail=tail), sf, rtol=1e-10, atol=1e-300)
    assert gs.p_value(gs.critical_correlation(0.01, 12), 12) <= 0.01
    assert np.isnan(gs.p_value(np.nan, 12))
    with pytest.raises(ValueError, match="r"):
        gs.p_value(1.5, 12)
    many = np.linspace(-1, 1, 5001)
    for threads in (1, 2):
        np.testing.assert_array_equal(
            gs.p_value(many, 12, cpu_threads=threads), gs.p_value(many, 12)
        )
    with pytest.raises(ValueError, match="cpu_threads: got -1, expected 0 or more"):
        gs.p_value(many, 12, cpu_threads=-1)


def test_the_summary_is_made_once_and_goes_along(rng: np.random.Generator) -> None:
    x = rng.integers(0, 4, size=(12, 5))
    for result in (gs.spearman_edges(x), gs.counts(x), gs.dense(x)):
        again = pickle.loads(pickle.dumps(result))
        assert result.summary is result.summary
        assert repr(again.summary) == repr(result.summary)
        assert result.summary.pairs_tested == again.summary.pairs_tested > 0
    edges = gs.spearman_edges(x)
    assert edges[:3].summary.rows == edges.best(2).summary.rows == 12


def test_adjusted_p_is_that_of_all_tests() -> None:
    x = np.random.default_rng(5).normal(size=(60, 20))
    x[1::3] += x[::3]
    every = gs.spearman_edges(x, backend="cpu")
    order = np.argsort(every.p, kind="stable")
    rank = np.empty(len(every))
    rank[order] = np.arange(1, len(every) + 1)
    slope = every.p[order] * len(every) / rank[order]
    expected = np.empty(len(every))
    expected[order] = np.minimum(1, np.minimum.accumulate(slope[::-1])[::-1])
    np.testing.assert_allclose(every.adjusted_p(), expected, rtol=1e-15)

    kept = gs.spearman_edges(x, max_p=0.05, adjust="bh", backend="cpu")
    frame = kept.to_pandas(adjust="bh")
    assert list(frame.columns) == ["row", "col", "statistic", "p", "q"]
    found = {(i, j): q for i, j, q in zip(every.row, every.col, every.adjusted_p(), strict=True)}
    assert [found[edge] for edge in zip(kept.row, kept.col, strict=True)] == frame.q.tolist()
    assert len(kept) == (every.adjusted_p() <= 0.05).sum()
    np.testing.assert_array_equal(
        kept.adjusted_p("bonferroni"), np.minimum(1, kept.p * every.summary.pairs_tested)
    )
    with pytest.raises(ValueError, match="adjusted_p: got 3 of"):
        kept[:3].adjusted_p()
    with pytest.raises(ValueError, match="of a part, expected all of a whole run"):
        gs.spearman_edges(x, part=(1, 2), backend="cpu").adjusted_p()
    with pytest.raises(ValueError, match="adjust: got 'holm'"):
        kept.adjusted_p("holm")  # type: ignore[arg-type]


@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
def test_confidence_intervals_are_scipys(tail: Any) -> None:
    x = np.random.default_rng(6).normal(size=(9, 14))
    x[1::3] += x[::3]
    edges = gs.pearson_edges(x)
    for confidence in (0.5, 0.95, 0.999):
        lower, upper = gs.confidence_interval(edges.statistic, 14, confidence=confidence, tail=tail)
        for e, (i, j) in enumerate(zip(edges.row, edges.col, strict=True)):
            wanted = stats.pearsonr(x[i], x[j], alternative=tail).confidence_interval(confidence)
            np.testing.assert_allclose([lower[e], upper[e]], wanted, rtol=0, atol=1e-13)


def test_edges_have_confidence_intervals() -> None:
    x = np.random.default_rng(7).normal(size=(30, 25))
    x[1::3] += x[::3]
    edges = gs.spearman_edges(x, max_p=0.05)
    frame = edges.to_pandas(confidence=0.9)
    assert list(frame.columns) == ["row", "col", "statistic", "p", "lower", "upper"]
    rho = edges.statistic
    half = stats.norm.ppf(0.95) * np.sqrt((1 + rho**2 / 2) / 22)
    np.testing.assert_allclose(frame.lower, np.tanh(np.arctanh(rho) - half), rtol=0, atol=1e-13)
    np.testing.assert_allclose(frame.upper, np.tanh(np.arctanh(rho) + half), rtol=0, atol=1e-13)
    both = edges.to_pandas(adjust="bonferroni", confidence=0.9)
    assert list(both.columns)[-3:] == ["q", "lower", "upper"]
    lower, upper = gs.pearson_edges(x, max_p=0.1, tail="less").confidence_interval()
    assert len(lower) > 0 and (lower < upper).all() and (lower < 0).all()
    assert gs.confidence_interval(1.0, 10) == (1.0, 1.0)
    with pytest.raises(ValueError, match="confidence: got 95"):
        edges.confidence_interval(95)
    with pytest.raises(gs.Unsupported, match="Cosine has no confidence interval"):
        gs.edges(x, measure="cosine", min_abs=0.5).confidence_interval()


def test_confidence_intervals_with_missing_values_take_the_observations_of_each_edge() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(20, 30))
    x[rng.random(x.shape) < 0.1] = np.nan
    edges = gs.pearson_edges(x, nans="pairwise", max_p=0.3)
    with pytest.raises(ValueError, match="observations: got None"):
        edges.to_pandas(confidence=0.95)
    with pytest.raises(ValueError, match="observations: got None"):
        edges[:2].confidence_interval()
    with pytest.raises(ValueError, match="observations: got None"):
        next(gs.stream(x, measure="pearson", nans="pairwise")).confidence_interval()
    n = gs.observations(x, pairs=edges)
    assert len(np.unique(n)) > 3
    frame = edges.to_pandas(confidence=0.95, observations=n)
    half = stats.norm.ppf(0.975) / np.sqrt(n - 3.0)
    wanted = np.tanh(np.arctanh(edges.statistic) + half)
    np.testing.assert_allclose(frame.upper, wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
def test_partners_have_p(tail: Any) -> None:
    x = np.random.default_rng(6).normal(size=(30, 12))
    best = gs.top_k_partners(x, 4, tail=tail, max_p=0.3, backend="cpu")
    there = np.arange(4) < best.count[:, None]
    np.testing.assert_array_equal(best.p[there], gs.p_value(best.statistic[there], 12, tail=tail))
    assert np.isnan(best.p[~there]).all()
    assert (best.p[there] <= 0.3).all()
    assert best.to_pandas().p.tolist() == best.p[there].tolist()
    assert np.isnan(gs.top_k_partners(x, 1, measure="cosine", backend="cpu").p).all()


@pytest.mark.parametrize(("tail", "sign"), [("two-sided", 1), ("greater", 1), ("less", -1)])
def test_partners_by_value_begin_with_the_most_extreme_of_the_tail(tail: Any, sign: int) -> None:
    x = np.random.default_rng(7).normal(size=(20, 12))
    r = sign * np.corrcoef(x)
    np.fill_diagonal(r, -np.inf)
    best = gs.top_k_partners(x, 2, measure="pearson", order="by-value", tail=tail, backend="cpu")
    np.testing.assert_array_equal(best.index, np.argsort(-r, axis=1)[:, :2])


def test_dense_is_indexed_by_number_and_by_name() -> None:
    x = np.random.default_rng(3).normal(size=(5, 20))
    d = gs.dense(x, measure="pearson", names=list("abcde"))
    r = np.corrcoef(x)
    assert d["b", "e"] == d[1, 4] == d.matrix[1, 4]
    assert d["b", "e"] == pytest.approx(r[1, 4], abs=1e-12)
    assert np.array_equal(d["c"], d.matrix[2])
    assert np.array_equal(d[1:3, "a"], d.matrix[1:3, 0])
    two = gs.dense(x[:3], x[3:], measure="pearson", names=list("abc"), y_names=["d", "e"])
    assert two["a", "e"] == pytest.approx(r[0, 4], abs=1e-12)
    with pytest.raises(KeyError, match="'e': 0 rows"):
        two["e"]
    with pytest.raises(KeyError, match="'a': 2 rows"):
        gs.dense(x, names=["a", "a", "b", "c", "d"])["a"]


def test_polars_has_the_columns_of_pandas() -> None:
    polars = pytest.importorskip("polars")
    x = np.random.default_rng(4).normal(size=(12, 15))
    edges = gs.edges(x, max_p=0.5, names=[f"g{i}" for i in range(12)])
    plain = edges.to_pandas(adjust="bh", confidence=0.9)
    frame = edges.to_polars(adjust="bh", confidence=0.9)
    assert isinstance(frame, polars.DataFrame) and list(frame.columns) == list(plain.columns)
    assert frame["row"].cast(polars.String).to_list() == plain["row"].tolist()
    assert frame["q"].to_list() == plain["q"].tolist()
    partners = gs.top_k_partners(x, k=3)
    assert partners.to_polars().equals(polars.from_pandas(partners.to_pandas()))


def test_measures_are_named_in_any_capitals() -> None:
    x = np.random.default_rng(5).normal(size=(6, 20))
    d = gs.dense(x, measure="Pearson")  # type: ignore[arg-type]
    assert d.measure == "pearson"
    assert np.array_equal(d.matrix, gs.dense(x, measure="pearson").matrix)
    with pytest.raises(gs.InvalidArgument, match=r"measure: got 'Pearsons', expected one of"):
        gs.dense(x, measure="Pearsons")  # type: ignore[arg-type]
