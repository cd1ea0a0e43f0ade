"""The rows of x against those of y, parts of a job, checksums, folded rows."""

from __future__ import annotations

from typing import Any

import gpu_similarity as gs
import numpy as np
import pandas
import pytest
from scipy import stats

MEASURES = ["spearman", "pearson"]


@pytest.fixture
def tables(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two tables [31, 14] and [23, 14] of other element types; row 4 of y is constant."""
    common = rng.normal(size=(1, 14))
    x, y = rng.normal(size=(31, 14)) + common, rng.integers(0, 5, size=(23, 14)) + common.round()
    y[4] = 2
    return x, y.astype(np.int16)


def oracle(x: np.ndarray, y: np.ndarray, measure: str) -> tuple[np.ndarray, np.ndarray]:
    test = stats.spearmanr if measure == "spearman" else stats.pearsonr
    r, p = np.full((len(x), len(y)), np.nan), np.full((len(x), len(y)), np.nan)
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            if np.ptp(a) and np.ptp(b):
                r[i, j], p[i, j] = test(a, b)
    return r, p


@pytest.mark.parametrize("measure", MEASURES)
def test_x_against_y(tables: tuple[np.ndarray, np.ndarray], measure: str) -> None:
    x, y = tables
    r, p = oracle(x, y, measure)
    valid = ~np.isnan(r)
    edges = getattr(gs, f"{measure}_edges")(x, y, max_p=0.05)
    i, j = np.nonzero(valid & (p <= 0.05))
    np.testing.assert_array_equal(edges.row, i)
    np.testing.assert_array_equal(edges.col, j)
    np.testing.assert_allclose(edges.statistic, r[i, j], atol=1e-12)
    np.testing.assert_allclose(edges.p, p[i, j], rtol=1e-9)
    assert edges.summary.pairs_tested == valid.sum()
    assert edges.summary.y_rows == 23
    np.testing.assert_array_equal(edges.summary.y_constant_rows, [4])

    np.testing.assert_allclose(gs.dense(x, y, measure=measure).matrix, r, atol=1e-12)
    counts = gs.counts(x, y, measure=measure, max_p=0.05, bins=10)
    kept = valid & (p <= 0.05)
    assert (counts.kept, counts.histogram.sum()) == (kept.sum(), kept.sum())
    np.testing.assert_array_equal(counts.degree, kept.sum(1))
    np.testing.assert_array_equal(counts.y_degree, kept.sum(0))

    best = gs.top_k_partners(x, 3, y, measure=measure, order="by-value")
    expected = -np.sort(-np.where(valid, r, -2), axis=1)[:, :3]
    np.testing.assert_allclose(best.statistic, expected, atol=1e-12)
    np.testing.assert_allclose(
        np.take_along_axis(r, best.index.astype(np.int64), 1), expected, atol=1e-12
    )

    stream = gs.stream(x, y, measure=measure, max_p=0.05, batch_edges=7)
    np.testing.assert_array_equal(np.concatenate([b.records for b in stream]), edges.records)


def test_corrections_count_the_pairs_of_both(tables: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = tables
    p = oracle(x, y, "spearman")[1]
    p = p[~np.isnan(p)]
    for adjust, adjusted in (
        ("bonferroni", p * p.size),
        ("bh", stats.false_discovery_control(p)),
    ):
        got = gs.spearman_edges(x, y, max_p=0.2, adjust=adjust)
        assert len(got) == (adjusted <= 0.2).sum()


def test_plan_of_x_against_y(tables: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = tables
    plan = gs.plan(x, y, max_p=0.05)
    assert plan.pairs == 31 * 23
    assert plan.kept_estimate == pytest.approx(len(gs.spearman_edges(x, y, max_p=0.05)))


def test_names_of_both(tables: tuple[np.ndarray, np.ndarray]) -> None:
    x = pandas.DataFrame(tables[0], index=[f"x{i}" for i in range(31)])
    y = pandas.DataFrame(tables[1], index=[f"y{i}" for i in range(23)])
    edges = gs.spearman_edges(x, y, max_p=0.01)
    e = edges.records[0]
    assert repr(edges).splitlines()[1].startswith(f"  x{e['row']} -- y{e['col']}  ")
    assert "of 31 x 23 rows" in repr(edges)
    line = edges.to_pandas().iloc[0]
    assert (line.row, line.col) == (f"x{e['row']}", f"y{e['col']}")
    assert list(gs.dense(x, y).to_pandas().columns) == list(y.index)
    assert gs.top_k_partners(x, 1, y).to_pandas().partner.str.startswith("y").all()
    assert set(edges.to_arrow().column("col").to_pylist()) <= set(y.index)
    with pytest.raises(ValueError, match="y_names"):
        gs.spearman_edges(x, y, y_names=["a"])
    with pytest.raises(ValueError, match="y_names"):
        gs.spearman_edges(x, y_names=["a"])


def test_bipartite_to_others(tables: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = tables
    edges = gs.spearman_edges(x, y, max_p=0.05)
    e = edges.records[3]
    matrix = edges.to_scipy()
    assert matrix.shape == (31, 23)
    assert matrix.nnz == len(edges)
    assert matrix[e["row"], e["col"]] == e["statistic"]
    graph = edges.to_networkx(isolated=True)
    assert graph.number_of_nodes() == 31 + 23
    assert graph.edges[("x", int(e["row"])), ("y", int(e["col"]))]["p"] == e["p"]
    assert graph.nodes["y", 0]["bipartite"] == 1
    other = edges.to_igraph()
    assert other.is_bipartite()
    assert other.es[other.get_eid(int(e["row"]), 31 + int(e["col"]))]["statistic"] == e["statistic"]
    assert gs.plot.scatters(x, edges, y, pairs=2) is not None


def test_what_does_not_fit_is_refused(tables: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = tables
    with pytest.raises(ValueError, match="column"):
        gs.spearman_edges(x, y[:, :-1])
    with pytest.raises(ValueError, match="y: got 1 dimensions"):
        gs.dense(x, y[0])
    with pytest.raises(ValueError, match="part"):
        gs.counts(x, part=(3, 3))
    with pytest.raises(TypeError, match="part"):
        gs.counts(x, part=3)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError):
        gs.counts(x, max_p=0.1, adjust="bh", part=(0, 3))


@pytest.mark.parametrize("against", [False, True])
@pytest.mark.parametrize("of", [2, 7])
def test_parts_are_the_whole(tables: tuple[np.ndarray, np.ndarray], of: int, against: bool) -> None:
    x, y = tables if against else (tables[0], None)
    options: dict[str, Any] = {"max_p": 0.4, "adjust": "bonferroni"}
    whole = gs.spearman_edges(x, y, **options)
    parts = [gs.spearman_edges(x, y, part=(i, of), **options) for i in range(of)]
    np.testing.assert_array_equal(np.concatenate([p.records for p in parts]), whole.records)
    assert sum(p.summary.pairs_tested for p in parts) == whole.summary.pairs_tested
    begins = [p.summary.part_begin for p in parts]
    assert begins[1:] == [p.summary.part_end for p in parts][:-1]
    assert sum(p.summary.checksum for p in parts) == whole.summary.checksum
    assert whole.summary.checksum.pairs == len(whole)

    counts = [gs.counts(x, y, part=(i, of), bins=8, **options) for i in range(of)]
    total = gs.counts(x, y, bins=8, **options)
    for field in ("degree", "histogram", "kept"):
        np.testing.assert_array_equal(sum(getattr(c, field) for c in counts), getattr(total, field))
    best = [gs.top_k_partners(x, 2, y, part=(i, of), **options) for i in range(of)]
    frames = [b.to_pandas() for b in best]
    expected = gs.top_k_partners(x, 2, y, **options).to_pandas()
    pandas.testing.assert_frame_equal(pandas.concat(frames, ignore_index=True), expected)
    dense = [gs.dense(x, y, part=(i, of)).matrix for i in range(of)]
    np.testing.assert_array_equal(np.concatenate(dense), gs.dense(x, y).matrix)


def test_checksums_are_written_and_read(rng: np.random.Generator) -> None:
    checksum = gs.spearman_edges(rng.normal(size=(9, 12))).summary.checksum
    assert checksum.pairs == 36
    assert gs.Checksum.parse(str(checksum)) == checksum
    other = gs.Checksum(1, 2**64 - 1, 0)
    assert other + gs.Checksum(1, 2, 3) == gs.Checksum(2, 1, 3)
    with pytest.raises(TypeError):
        checksum + 1


@pytest.mark.parametrize("measure", MEASURES)
def test_prepared_rows_answer_as_the_table(
    tables: tuple[np.ndarray, np.ndarray], measure: str
) -> None:
    x, y = tables
    names = [f"y{i}" for i in range(len(y))]
    prepared = gs.prepare(y, measure=measure, names=names)
    assert (len(prepared), prepared.cols) == y.shape
    np.testing.assert_array_equal(prepared.constant_rows, [4])
    edges = getattr(gs, f"{measure}_edges")
    for queries in (x, x[:1]):
        got, expected = edges(queries, prepared, max_p=0.1), edges(queries, y, max_p=0.1)
        assert got.records.tobytes() == expected.records.tobytes()
        assert got.summary.y_rows == 23
        assert got.y_names is not None
        best = gs.top_k_partners(queries, 2, prepared, measure=measure)
        np.testing.assert_array_equal(
            best.index, gs.top_k_partners(queries, 2, y, measure=measure).index
        )
    np.testing.assert_array_equal(
        gs.dense(x, prepared, measure=measure).matrix, gs.dense(x, y, measure=measure).matrix
    )
    batches = [b.records for b in gs.stream(x, prepared, measure=measure, batch_edges=50)]
    np.testing.assert_array_equal(np.concatenate(batches), edges(x, y).records)
    other = "pearson" if measure == "spearman" else "spearman"
    with pytest.raises(ValueError, match="prepared"):
        gs.counts(x, prepared, measure=other)
    with pytest.raises(NotImplementedError):
        gs.plan(x, prepared, measure=measure)


@pytest.fixture
def repeated(rng: np.random.Generator) -> np.ndarray:
    """A table [80, 6] of few distinct rank vectors, with a constant row."""
    x = rng.integers(0, 3, size=(80, 6))
    x[7] = 1
    return x


def test_folded_rows_have_the_edges_of_single_rows(repeated: np.ndarray) -> None:
    folded = gs.spearman_edges(repeated, max_p=0.3, p_method="t", fold="always")
    plain = gs.spearman_edges(repeated, max_p=0.3, p_method="t", fold="never")
    np.testing.assert_array_equal(folded.records, plain.records)
    ranks = stats.rankdata(repeated[np.ptp(repeated, axis=1) > 0], axis=1)
    assert folded.summary.patterns == len(np.unique(ranks, axis=0))
    assert plain.summary.patterns == 0
    assert 0 < len(folded.adjusted_p(adjust="bonferroni")) == len(plain)
