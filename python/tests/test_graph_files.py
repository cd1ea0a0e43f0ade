"""Files for other programs: MatrixMarket, GraphML, SIF, ncol; q and categories of frames."""

from __future__ import annotations

import bz2
import lzma
from pathlib import Path
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest
from gpu_similarity._results import edge_text as _edge_text
from gpu_similarity._results import graph_files as _graph_files

Rng = np.random.Generator


def edges_of(rng: Rng, names: Any = None, against: bool = False, **filter: Any) -> gs.Edges:
    x = rng.normal(size=(12, 15)) + rng.normal(size=(1, 15))
    x[3] *= -1
    y = x[:5] + rng.normal(size=(5, 15)) if against else None
    more = {"y_names": names[:5]} if against and names is not None else {}
    return gs.spearman_edges(x, y, **({"min_abs": 0.3} | filter), names=names, **more)


def pairs(edges: gs.Edges) -> dict[tuple[int, int], float]:
    ends = zip(edges.row.tolist(), edges.col.tolist(), strict=True)
    return dict(zip(ends, edges.statistic.tolist(), strict=True))


@pytest.mark.parametrize("against", [False, True])
def test_matrix_market(rng: Rng, tmp_path: Path, against: bool) -> None:
    io = pytest.importorskip("scipy.io")
    names = [f"g {i}" for i in range(12)]
    edges = edges_of(rng, names, against)
    path = tmp_path / "edges"
    told = edges.to_matrix_market(path)
    assert told == tmp_path / "edges.names"
    assert told.read_text().splitlines() == names + (names[:5] if against else [])
    again = io.mmread(path)
    np.testing.assert_array_equal(again.toarray(), edges.to_scipy().toarray())
    assert path.read_text().splitlines()[0].split()[-1] == ("general" if against else "symmetric")
    edges.to_matrix_market(path, value="p")
    np.testing.assert_array_equal(io.mmread(path).toarray(), edges.to_scipy("p").toarray())
    assert edges_of(rng).to_matrix_market(path) is None


def test_graphml(rng: Rng, tmp_path: Path) -> None:
    igraph = pytest.importorskip("igraph")
    networkx = pytest.importorskip("networkx")
    names = ["7157", "7157", "TP53 & <co>", "é"] + [f"g{i}" for i in range(8)]
    edges = edges_of(rng, names, min_abs=0.6)
    edges.to_graphml(tmp_path / "e.graphml")
    graph = igraph.Graph.Read_GraphML(str(tmp_path / "e.graphml"))
    assert graph.ecount() == len(edges)
    used = sorted(names[i] for i in {*edges.row.tolist(), *edges.col.tolist()})
    assert sorted(graph.vs["name"]) == used
    np.testing.assert_allclose(graph.es["statistic"], edges.statistic, rtol=1e-14)
    np.testing.assert_allclose(graph.es["weight"], np.abs(edges.statistic), rtol=1e-14)
    other = networkx.read_graphml(tmp_path / "e.graphml")
    assert other.number_of_edges() == len(edges)
    edges.to_graphml(tmp_path / "all.graphml", isolated=True)
    assert igraph.Graph.Read_GraphML(str(tmp_path / "all.graphml")).vcount() == 12


def test_ncol_and_sif_with_names(rng: Rng, tmp_path: Path) -> None:
    igraph = pytest.importorskip("igraph")
    names = [f"g{i}" for i in range(12)]
    edges = edges_of(rng, names)
    assert edges.to_ncol(tmp_path / "e.ncol") is None
    graph = igraph.Graph.Read_Ncol(str(tmp_path / "e.ncol"), directed=False)
    assert graph.ecount() == len(edges)
    ends = f"g{edges.row[0]}", f"g{edges.col[0]}"
    assert graph.es[graph.get_eid(*ends)]["weight"] == abs(edges.statistic[0])
    edges.to_ncol(tmp_path / "p.ncol", value="p")
    assert float((tmp_path / "p.ncol").read_text().split()[2]) == edges.p[0]
    assert edges.to_sif(tmp_path / "e.sif") is None
    lines = [line.split("\t") for line in (tmp_path / "e.sif").read_text().splitlines()]
    assert [(a, b) for a, _, b in lines] == [(f"g{i}", f"g{j}") for i, j in pairs(edges)]
    signs = ["negative" if s < 0 else "positive" for s in edges.statistic]
    assert [word for _, word, _ in lines] == signs and "negative" in signs
    edges.to_sif(tmp_path / "e.sif", interaction="co-expressed")
    assert "\tco-expressed\t" in (tmp_path / "e.sif").read_text()
    with pytest.raises(ValueError, match=r"^interaction: got 'a\\tb'"):
        edges.to_sif(tmp_path / "e.sif", interaction="a\tb")
    with pytest.raises(ValueError, match=r"^value: got 'q'"):
        edges.to_ncol(tmp_path / "e.ncol", value="q")


@pytest.mark.parametrize(
    "names",
    [
        [str(7157 + i) for i in range(12)],  # as identifiers of Entrez, and as numbers of nodes
        ["a"] * 12,
        ["", *"bcdefghijkl"],
        [f"tab\t{i}" for i in range(12)],
        None,
    ],
)
@pytest.mark.parametrize("write", ["to_sif", "to_ncol"])
def test_names_that_readers_would_mistake_are_numbers(
    rng: Rng, tmp_path: Path, names: Any, write: str
) -> None:
    edges = edges_of(rng, names)
    told = getattr(edges, write)(tmp_path / "e")
    lines = [line.split() for line in (tmp_path / "e").read_text().splitlines()]
    found = [(int(line[0]), int(line[-1] if write == "to_sif" else line[1])) for line in lines]
    assert found == list(pairs(edges))
    if names is None:
        assert told is None
    else:
        assert told.read_text().splitlines() == [name.replace("\t", " ") for name in names]


def test_two_tables_never_share_a_node(rng: Rng, tmp_path: Path) -> None:
    edges = edges_of(rng, [f"g{i}" for i in range(12)], against=True)
    told = edges.to_ncol(tmp_path / "e")
    assert told is not None and len(told.read_text().splitlines()) == 17
    ends = [tuple(map(int, line.split()[:2])) for line in (tmp_path / "e").read_text().splitlines()]
    assert ends == [(i, j + 12) for i, j in pairs(edges)]


def test_too_many_edges(rng: Rng, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_graph_files, "MOST_EDGES", 3)
    edges = edges_of(rng)
    for write in (edges.to_graphml, edges.to_sif, edges.to_ncol):
        with pytest.raises(ValueError, match=r"^to_\w+: got \d+ edges, expected at most 3: .*mark"):
            write(tmp_path / "e")
        assert not (tmp_path / "e").exists()
    edges.to_matrix_market(tmp_path / "e")


def test_q_and_categories(rng: Rng) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    names = [f"g{i}" for i in range(12)]
    edges = edges_of(rng, names, max_p=0.2, min_abs=0)
    plain = edges.to_pandas(adjust="bh")
    frame = edges.to_pandas(adjust="bh", categories=True)
    assert isinstance(frame["row"].dtype, pandas.CategoricalDtype)
    pandas.testing.assert_frame_equal(frame.astype({"row": object, "col": object}), plain)
    assert frame["row"].cat.categories.tolist() == names
    assert edges.to_arrow(adjust="bh").column("q").to_pylist() == plain["q"].tolist()
    assert edges.to_arrow().column_names == ["row", "col", "statistic", "p"]
    for bad in (["a", *names[:10], "a"], [None, *names[1:]]):
        other = edges_of(rng, np.array(bad, dtype=object), min_abs=0)
        with pytest.raises(ValueError, match=r"^names: a name (repeats|is missing)"):
            other.to_pandas(categories=True)


def test_arrow_has_the_bounds_of_the_frame(rng: Rng) -> None:
    pytest.importorskip("pyarrow")
    edges = edges_of(rng, max_p=0.2, min_abs=0)
    table = edges.to_arrow(adjust="bonferroni", confidence=0.9)
    assert table.column_names == ["row", "col", "statistic", "p", "q", "lower", "upper"]
    lower, upper = edges.confidence_interval(0.9)
    assert table.column("lower").to_pylist() == lower.tolist()
    assert table.column("upper").to_pylist() == upper.tolist()
    with pytest.raises(ValueError, match="confidence: got 2"):
        edges.to_arrow(confidence=2)
    with pytest.raises(gs.Unsupported):
        gs.edges(rng.normal(size=(5, 6)), measure="cosine").to_arrow(confidence=0.9)


def test_csv_is_the_frame(rng: Rng, tmp_path: Path, monkeypatch: Any) -> None:
    pandas = pytest.importorskip("pandas")
    # Several chunks, the last of which is not full.
    monkeypatch.setattr(_edge_text, "_LINES", 7)
    names = ["a,b", 'say "so"', "two\nlines", *(f"g{i}" for i in range(9))]
    edges = edges_of(rng, names, max_p=0.5, min_abs=0)
    assert len(edges) > 14
    for name, options in {
        "plain.csv": {},
        "all.csv": {"adjust": "bh", "confidence": 0.95},
        "packed.csv.gz": {"confidence": 0.5},
    }.items():
        edges.to_csv(tmp_path / name, **options)
        got = pandas.read_csv(tmp_path / name, float_precision="round_trip")
        pandas.testing.assert_frame_equal(got, edges.to_pandas(**options), check_exact=True)
    tabs = tmp_path / "tabs.tsv"
    unnamed = edges_of(rng, against=True, min_abs=0)
    unnamed.to_csv(tabs, separator="\t")
    got = pandas.read_csv(tabs, sep="\t", float_precision="round_trip")
    assert got["row"].tolist() == unnamed.row.tolist()
    assert got["col"].tolist() == unnamed.col.tolist()
    for name, opened in {"t.tsv": open, "t.tab.bz2": bz2.open, "T.TSV.XZ": lzma.open}.items():
        unnamed.to_csv(tmp_path / name)
        with opened(tmp_path / name, "rt") as file:
            assert file.read() == tabs.read_text()
    for name in ("a.parquet", "a.npy", "a.xlsx", "a.csv.zst", "a.mtx", "a.graphml", "a.parquet.gz"):
        with pytest.raises(ValueError, match=r"^path: got a name that ends in"):
            unnamed.to_csv(tmp_path / name)
        assert not (tmp_path / name).exists()
    # A measure without p has empty fields.
    cosine = gs.edges(rng.normal(size=(4, 6)), measure="cosine")
    cosine.to_csv(tmp_path / "cosine.csv")
    assert (tmp_path / "cosine.csv").read_text().splitlines()[1].endswith(",")
    for wrong in ("", ";;", '"', "\n"):
        with pytest.raises(ValueError, match="separator: got"):
            edges.to_csv(tmp_path / "none.csv", separator=wrong)
    with pytest.raises(gs.Unsupported):
        cosine.to_csv(tmp_path / "none.csv", confidence=0.9)
    assert not (tmp_path / "none.csv").exists()


@pytest.mark.parametrize("measure", ["spearman", "pearson"])
@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
def test_exact_q_of_partners(rng: Rng, measure: Any, tail: Any) -> None:
    stats = pytest.importorskip("scipy.stats")
    x = rng.integers(0, 6, size=(40, 12)) + rng.integers(0, 3, size=(1, 12))
    x[7] = 3  # no statistic, so no test
    every = (gs.spearman_edges if measure == "spearman" else gs.pearson_edges)(x, tail=tail)
    exact = dict(zip(pairs(every), stats.false_discovery_control(every.p), strict=True))
    for max_p, k in ((0.3, 2), (1.0, 39)):
        best = gs.top_k_partners(
            x, k, measure=measure, tail=tail, max_p=max_p, min_abs=0.3, adjust="bh", q=True
        )
        assert best.q is not None
        assert best.q.shape == best.index.shape
        assert (np.isnan(best.q) == (best.index == 2**32 - 1)).all()
        assert best.adjusted_p() is best.q
        row, rank = np.nonzero(~np.isnan(best.q))
        ends = [tuple(sorted((i, int(j)))) for i, j in zip(row, best.index[row, rank], strict=True)]
        assert len(ends) > 10 or max_p < 1
        np.testing.assert_allclose(best.q[row, rank], [exact[pair] for pair in ends], rtol=1e-9)
        assert (best.q[row, rank] <= max_p * (1 + 1e-12)).all()
    some = gs.top_k_partners(x, 3, measure=measure, tail=tail, adjust="bonferroni", q=True)
    np.testing.assert_allclose(some.q, np.minimum(1, some.p * len(every)), rtol=1e-12)


def test_q_of_partners_literals(rng: Rng) -> None:
    # scipy.stats.false_discovery_control([0, 0.2, 0.2]): rho is 1, 0.8 and 0.8 of four columns.
    x = [[1, 2, 3, 4], [2, 4, 6, 8], [1, 2, 4, 3]]
    best = gs.top_k_partners(x, 2, adjust="bh", q=True, p_method="t")
    np.testing.assert_allclose(best.q, [[0, 0.2], [0, 0.2], [0.2, 0.2]], rtol=1e-12)
    # Of the 24 orders of 4 values 2 have |rho| = 1, and 8 have 0.8 or more.
    counted = gs.top_k_partners(x, 2, adjust="bh", q=True)
    third = 1 / 3
    np.testing.assert_allclose(counted.q, [[0.25, third], [0.25, third], [third, third]])
    assert gs.top_k_partners(x, 2).q is None
    with pytest.raises(ValueError, match=r"^adjust: got none with q, expected the adjustment"):
        gs.top_k_partners(x, 2, q=True)
    with pytest.raises(gs.Unsupported, match=r"^adjust: "):
        gs.top_k_partners(x, 2, adjust="bh", q=True, part=(0, 2))
    y = rng.normal(size=(2000, 10))
    with pytest.raises(MemoryError, match=r"^q: needs \d+ bytes, for the p of all 1999000 pairs"):
        gs.top_k_partners(y, 2, adjust="bh", q=True, workspace_bytes=1 << 22, backend="cpu")


def test_q_of_partners_as_a_column(rng: Rng) -> None:
    pytest.importorskip("pandas")
    x = rng.normal(size=(30, 12)) + rng.normal(size=(1, 12))
    best = gs.top_k_partners(x, 3, x[:9], max_p=0.9, adjust="bh", q=True)
    assert best.q is not None
    frame = best.to_pandas()
    assert list(frame.columns) == ["row", "rank", "partner", "statistic", "p", "q"]
    assert frame.q.tolist() == best.q[~np.isnan(best.q)].tolist()
    assert best.to_pandas(adjust="benjamini-hochberg").equals(frame)
    assert not best.to_pandas(adjust="bonferroni").q.equals(frame.q)
    assert (best.adjusted_p("bh")[:, 0] == best.q[:, 0]).all()


def test_q_of_partners(rng: Rng) -> None:
    stats = pytest.importorskip("scipy.stats")
    x = rng.normal(size=(30, 12)) + rng.normal(size=(1, 12))
    every = gs.spearman_edges(x)
    exact = dict(zip(pairs(every), stats.false_discovery_control(every.p), strict=True))
    # All partners: q of every pair, each of which stands in two rows.
    best = gs.top_k_partners(x, 29)
    frame = best.to_pandas(adjust="bh")
    ends = [tuple(sorted(pair)) for pair in zip(frame.row, frame.partner, strict=True)]
    np.testing.assert_allclose(frame.q, [exact[pair] for pair in ends], rtol=1e-12)
    # Some: never below it.
    some = gs.top_k_partners(x, 3).to_pandas(adjust="bh")
    ends = [tuple(sorted(pair)) for pair in zip(some.row, some.partner, strict=True)]
    assert (some.q >= np.array([exact[pair] for pair in ends]) * (1 - 1e-12)).all()
    bonferroni = gs.top_k_partners(x, 3).adjusted_p("bonferroni")
    np.testing.assert_allclose(bonferroni, np.minimum(1, gs.top_k_partners(x, 3).p * 435))
    few = gs.top_k_partners(x, 29, max_p=0.01)
    assert np.isnan(few.adjusted_p()[few.index == 2**32 - 1]).all()
    against = gs.top_k_partners(x, 4, x[:5] + 0.1).to_arrow(adjust="bonferroni")
    assert against.column_names == ["row", "rank", "partner", "statistic", "p", "q"]


@pytest.mark.parametrize("against", [False, True])
@pytest.mark.parametrize("min_abs", [0.0, 0.45, 0.7, 1.0])
def test_modules_are_what_a_search_reaches(rng: Rng, against: bool, min_abs: float) -> None:
    edges = edges_of(rng, None, against)
    count = 12 + (5 if against else 0)
    near: dict[int, set[int]] = {i: set() for i in range(count)}
    for (i, j), statistic in pairs(edges).items():
        j += 12 if against else 0
        if abs(statistic) >= min_abs:
            near[i].add(j)
            near[j].add(i)
    found = edges.modules(min_abs=min_abs)
    assert found.shape == (count,)
    sizes = np.bincount(found)[1:]
    assert (np.diff(sizes) <= 0).all()
    assert (sizes > 0).all()
    for i in range(count):
        reached, open_rows = {i}, [i]
        while open_rows:
            new = near[open_rows.pop()] - reached
            reached |= new
            open_rows += new
        assert set(np.flatnonzero(found == found[i]).tolist()) == reached
    firsts = [int(np.flatnonzero(found == m)[0]) for m in range(1, len(sizes) + 1)]
    assert all(
        a < b
        for a, b, same in zip(firsts[:-1], firsts[1:], np.diff(sizes) == 0, strict=True)
        if same
    )


def test_modules_of_a_long_chain_and_of_no_edge() -> None:
    components = gs._results.modules.components
    order = np.random.default_rng(3).permutation(5000)
    assert (components(order[:-1], order[1:], 5001)[:5000] == 0).all()
    none = np.zeros(0, np.int64)
    assert components(none, none, 3).tolist() == [0, 1, 2]


def test_leiden_draws_by_its_seed_alone(rng: Rng) -> None:
    pytest.importorskip("igraph")
    import random

    edges = edges_of(rng)
    random.seed(5)
    expected = random.random()
    random.seed(5)
    found = edges.modules("leiden", seed=1)
    assert random.random() == expected
    np.testing.assert_array_equal(edges.modules("leiden", seed=1), found)
    weights = np.abs(edges.statistic).tolist()
    graph = edges.to_igraph()
    assert graph.modularity((found - 1).tolist(), weights=weights) > 0.01
    assert len(set(edges.modules("leiden", resolution=50.0).tolist())) > len(set(found.tolist()))
    with pytest.raises(ValueError, match=r"method: got .louvain., expected .components."):
        edges.modules("louvain")  # type: ignore[arg-type]
