"""Results as objects of other packages, AnnData, Arrow and Parquet, pictures."""

from __future__ import annotations

from pathlib import Path

import gpu_similarity as gs
import numpy as np
import pytest


@pytest.fixture
def named(rng: np.random.Generator) -> gs.Edges:
    x = rng.normal(size=(30, 12))
    return gs.spearman_edges(x, max_p=0.1, names=[f"g{i}" for i in range(30)])


def test_to_pandas(named: gs.Edges) -> None:
    frame = named.to_pandas()
    assert list(frame.columns) == ["row", "col", "statistic", "p"]
    assert frame["row"].tolist() == [f"g{i}" for i in named.row]
    np.testing.assert_array_equal(frame["p"], named.p)


def test_to_scipy(named: gs.Edges) -> None:
    matrix = named.to_scipy()
    assert matrix.shape == (30, 30)
    assert matrix.nnz == 2 * len(named)
    assert abs(matrix - matrix.T).max() == 0
    upper = named.to_scipy("p", symmetric=False)
    assert upper[named.row[0], named.col[0]] == named.p[0]
    assert upper.nnz == len(named)


def test_to_networkx_and_igraph(named: gs.Edges) -> None:
    pytest.importorskip("networkx")
    pytest.importorskip("igraph")
    graph = named.to_networkx()
    first = named.records[0]
    ends = f"g{first['row']}", f"g{first['col']}"
    assert graph.number_of_edges() == len(named)
    assert graph.edges[ends]["statistic"] == first["statistic"]
    assert named.to_networkx(isolated=True).number_of_nodes() == 30
    other = named.to_igraph()
    assert (other.vcount(), other.ecount()) == (30, len(named))
    assert other.vs["name"][3] == "g3"
    assert other.es[other.get_eid(*ends)]["p"] == first["p"]


def test_choosing_edges(named: gs.Edges) -> None:
    strong = named[np.abs(named.statistic) > 0.7]
    assert isinstance(strong, gs.Edges)
    assert len(strong) == (np.abs(named.statistic) > 0.7).sum()
    best = named.best(3)
    assert abs(best.statistic[0]) == np.abs(named.statistic).max()
    assert repr(named).startswith(f"Edges: {len(named)} of 435 pairs of 30 rows, spearman")


def test_partners_to_others(rng: np.random.Generator) -> None:
    best = gs.top_k_partners(rng.normal(size=(20, 12)), 3)
    frame = best.to_pandas()
    assert len(frame) == 60
    assert frame.iloc[4].partner == best.index[1, 1]
    matrix = best.to_scipy()
    assert matrix[5, best.index[5, 0]] == best.statistic[5, 0]


def test_arrow_and_parquet(rng: np.random.Generator, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    x, names = rng.normal(size=(40, 12)), [f"g{i}" for i in range(40)]
    edges = gs.spearman_edges(x, max_p=0.2, names=names)
    table = edges.to_arrow()
    assert table.column("row").to_pylist() == [f"g{i}" for i in edges.row]
    np.testing.assert_array_equal(table.column("p"), edges.p)

    path = tmp_path / "edges.parquet"
    written = gs.stream(x, max_p=0.2, names=names, batch_edges=50).to_parquet(path)
    again = parquet.read_table(path)
    assert written == len(edges) == again.num_rows
    assert again.column("col").cast(pa.string()).to_pylist() == [f"g{i}" for i in edges.col]

    reader = gs.stream(x, max_p=0.2, batch_edges=50).to_arrow_reader()
    plain = reader.read_all()
    assert plain.column("row").type == pa.int64()
    np.testing.assert_array_equal(plain.column("statistic"), edges.statistic)


@pytest.mark.parametrize("sparse", [False, True])
def test_anndata(rng: np.random.Generator, sparse: bool) -> None:
    anndata = pytest.importorskip("anndata")
    from scipy.sparse import csr_matrix

    cells = rng.poisson(1.0, size=(50, 12)).astype(np.float32)
    cells[:, 1] = cells[:, 0]
    adata = anndata.AnnData(np.zeros_like(cells), layers={"counts": cells})
    if sparse:
        adata.layers["counts"] = csr_matrix(cells)
    edges = gs.anndata.correlate(adata, layer="counts", max_p=0.05)
    written = adata.varp["spearman_statistic"]
    assert written[0, 1] == written[1, 0] == 1
    assert written.nnz == 2 * len(edges)
    assert adata.uns["spearman"]["pairs_kept"] == len(edges)
    assert edges.names is not None
    assert edges.names[1] == adata.var_names[1]
    with pytest.raises(KeyError):
        gs.anndata.correlate(adata, layer="nothing")


def correlated_with_names(rng: np.random.Generator, names: list[object]) -> gs.Edges:
    x = rng.normal(size=(len(names), 20)) + rng.normal(size=(1, 20))
    return gs.spearman_edges(x, names=np.array(names, dtype=object))


def test_repeated_names_lose_no_edge_of_networkx(rng: np.random.Generator) -> None:
    pytest.importorskip("networkx")
    names: list[object] = [f"gene{i % 21}" for i in range(40)]
    edges = correlated_with_names(rng, names)
    assert len(edges) == 780
    with pytest.raises(ValueError, match="names: rows 0 and 21 have the same name 'gene0'"):
        edges.to_networkx()
    graph = edges.to_networkx(nodes="rows")
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (40, 780)
    assert [graph.nodes[i]["label"] for i in range(40)] == names
    line = edges.records[17]
    assert graph.edges[line["row"], line["col"]]["statistic"] == line["statistic"]


def test_names_that_repeat_outside_of_the_graph_do_not_matter(rng: np.random.Generator) -> None:
    pytest.importorskip("networkx")
    edges = correlated_with_names(rng, ["a", "b", "c", "c"])
    first = edges[(edges.row == 0) & (edges.col == 1)]
    assert list(first.to_networkx().edges) == [("a", "b")]
    with pytest.raises(ValueError, match="rows 2 and 3"):
        first.to_networkx(isolated=True)
    with pytest.raises(ValueError, match="nodes: got 'numbers'"):
        edges.to_networkx(nodes="numbers")  # type: ignore[arg-type]


def test_missing_names_are_no_nodes(rng: np.random.Generator) -> None:
    pytest.importorskip("networkx")
    for missing in (None, float("nan")):
        edges = correlated_with_names(rng, ["a", missing, "c"])
        with pytest.raises(ValueError, match="names: row 1 has no name"):
            edges.to_networkx()
        assert edges.to_networkx(nodes="rows").number_of_edges() == 3


def test_repeated_names_of_two_tables(rng: np.random.Generator) -> None:
    pytest.importorskip("networkx")
    x, y = rng.normal(size=(3, 12)), rng.normal(size=(4, 12))
    edges = gs.pearson_edges(x, y, names=list("abc"), y_names=list("abcc"))
    with pytest.raises(ValueError, match="y_names: rows 2 and 3 have the same name 'c'"):
        edges.to_networkx()
    graph = edges.to_networkx(nodes="rows")
    assert graph.number_of_edges() == 12
    assert graph.nodes["y", 3] == {"bipartite": 1, "label": "c"}
    assert graph.nodes["x", 0] == {"bipartite": 0, "label": "a"}
