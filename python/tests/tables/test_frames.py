"""Data frames of every kind, sparse matrices, AnnData, variables in columns, labels in messages."""

from __future__ import annotations

import tracemalloc
from decimal import Decimal
from typing import Any, ClassVar

import gpu_similarity as gs
import numpy as np
import pytest
from gpu_similarity._tables.arrays import host_array

Array = np.ndarray
GENES, CELLS = list("abcdefgh"), [f"s{i}" for i in range(12)]


@pytest.fixture
def x(rng: np.random.Generator) -> Array:
    """Small integers as doubles [8, 12]: every type of the frames holds them."""
    return rng.integers(-20, 20, size=(8, 12)).astype(np.float64)


@pytest.fixture
def gaps(x: Array) -> Array:
    x[1, 2] = x[5, 0] = x[5, 7] = np.nan
    return x


def pandas_frame(values: Array, dtype: Any) -> Any:
    pandas = pytest.importorskip("pandas")
    if "pyarrow" in str(dtype):
        pytest.importorskip("pyarrow")
    return pandas.DataFrame(values, index=GENES, columns=CELLS).astype(dtype)


PANDAS = ["Float64", "Float32", "Int64", "Int16", "double[pyarrow]", "int64[pyarrow]", "object"]


def same(got: gs.Edges, want: gs.Edges) -> bool:
    return np.array_equal(got.records, want.records)


@pytest.mark.parametrize("dtype", [*PANDAS, "float64", "float32", "int64", "int8"])
@pytest.mark.parametrize("measure", ["spearman", "pearson"])
def test_pandas(x: Array, dtype: str, measure: Any) -> None:
    frame = pandas_frame(x, dtype)
    got = gs.edges(frame, measure=measure)
    assert same(got, gs.edges(x, measure=measure))
    assert got.names is not None and got.names.tolist() == GENES
    turned = gs.edges(frame.T.astype(dtype), measure=measure, axis="columns")
    assert same(turned, got)
    assert turned.names is not None and turned.names.tolist() == GENES


@pytest.mark.parametrize("dtype", [*PANDAS, "float64"])
@pytest.mark.parametrize("nans", ["pairwise", "propagate"])
def test_missing_values_of_pandas(gaps: Array, dtype: str, nans: Any) -> None:
    frame = pandas_frame(gaps, "Float64" if dtype.startswith(("I", "i")) else dtype).astype(dtype)
    assert frame.isna().to_numpy().sum() == 3
    assert same(gs.spearman_edges(frame, nans=nans), gs.spearman_edges(gaps, nans=nans))
    got = gs.pearson_edges(frame.T, axis=1, nans=nans)
    assert same(got, gs.pearson_edges(gaps, nans=nans))
    with pytest.raises(ValueError, match=r"^x: got NaN at row 'b', column 's2' .*nans='propagate'"):
        gs.spearman_edges(frame)
    with pytest.raises(ValueError, match=r"^x: got NaN at row 's2', column 'b' "):
        gs.spearman_edges(frame.T, axis="columns")


def test_objects(gaps: Array) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(gaps, index=GENES).astype(object)
    frame.iloc[1, 2], frame.iloc[5, 0], frame.iloc[5, 7] = None, pandas.NA, np.nan
    frame.iloc[0, 0], frame.iloc[0, 1] = Decimal("0.5"), np.int8(3)
    gaps[0, :2] = 0.5, 3
    want = gs.pearson_edges(gaps, nans="pairwise")
    assert same(gs.pearson_edges(frame, nans="pairwise"), want)
    assert same(gs.pearson_edges(frame.to_numpy(), nans="pairwise"), want)
    frame.iloc[3, 4] = "0.25"
    with pytest.raises(TypeError, match=r"^x: column 4 of dtype object: .* got '0.25' at place 3"):
        gs.pearson_edges(frame)
    with pytest.raises(ValueError, match=r"^x: got 9007199254740993 among values that are"):
        gs.pearson_edges(np.array([[2**53 + 1, None, 1.0]], dtype=object))
    ends = host_array(np.array([[2**53, None, -(2**53)]], dtype=object), "x")
    np.testing.assert_array_equal(ends, [[2.0**53, np.nan, -(2.0**53)]])


def test_integers_that_a_missing_value_would_round_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for dtype in ("Int64", "int64[pyarrow]"):
        for wide in (2**60 + 1, -(2**60) - 1):
            column = pandas.array([wide, None, 3], dtype=dtype)
            frame = pandas.DataFrame({"id": column, "v": [1.0, 2, 3]})
            with pytest.raises(
                ValueError, match=rf"^x: column 'id' of dtype .*nt64.*: got {wide} among"
            ):
                gs.spearman_edges(frame, axis=1, nans="propagate")


def test_integers_that_a_gap_of_polars_would_round_are_refused() -> None:
    polars = pytest.importorskip("polars")
    for wide in (2**60 + 1, -(2**60) - 1):
        frame = polars.DataFrame({"id": [wide, None, 3], "v": [1, 2, 4]})
        with pytest.raises(ValueError, match=rf"^x: column 'id' of dtype Int64: got {wide} among"):
            gs.spearman_edges(frame, axis=1, nans="propagate")


def test_frames_without_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(index=range(3))
    assert host_array(frame, "x").shape == (3, 0)
    assert host_array(frame, "x", in_columns=True).shape == (0, 3)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("string", ["1", "2", "3"]),
        ("category", [1, 2, 3]),
        ("datetime64[ns]", ["2020", "2021", "2022"]),
        ("timedelta64[ns]", [1, 2, 3]),
        ("string[pyarrow]", ["1", "2", "3"]),
    ],
)
def test_columns_that_are_no_numbers_are_named(dtype: str, values: list[Any]) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": [1.0, 2, 3], "odd": pandas.Series(values).astype(dtype)})
    with pytest.raises(TypeError, match=r"^x: column 'odd' of dtype .*not numbers"):
        gs.spearman_edges(frame)
    with pytest.raises(TypeError, match=r"^y: column 'odd' of dtype .*not numbers"):
        gs.spearman_edges([[1, 2, 3]], frame, axis="columns")


@pytest.mark.parametrize("dtype", ["Float64", "Float32", "Int64", "Int8"])
def test_polars(gaps: Array, dtype: str) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {GENES[i]: [None if np.isnan(v) else v for v in row] for i, row in enumerate(gaps)},
        strict=False,
    ).cast(getattr(polars, dtype))
    got = gs.spearman_edges(frame, axis="columns", nans="pairwise")
    assert same(got, gs.spearman_edges(gaps, nans="pairwise"))
    assert got.names is not None and got.names.tolist() == GENES
    assert same(
        gs.spearman_edges(frame, nans="propagate"), gs.spearman_edges(gaps.T, nans="propagate")
    )
    with pytest.raises(ValueError, match=r"^x: got NaN at row 2, column 'b' "):
        gs.spearman_edges(frame, axis="columns")
    whole = frame.drop("b", "f")
    assert same(gs.pearson_edges(whole, axis=1), gs.pearson_edges(np.delete(gaps, [1, 5], axis=0)))
    with pytest.raises(
        TypeError, match=r"^x: column 'id' of dtype String: its values are not numb"
    ):
        gs.spearman_edges(frame.with_columns(id=polars.lit("a")))


def test_polars_columns_of_other_types(x: Array) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {"i": [1, 2, 3, 5], "f": [0.5, 1, 4, 2], "b": [True, False, None, True]}
    )
    want = np.array([[1, 2, 3, 5], [0.5, 1, 4, 2], [1, 0, np.nan, 1]])
    got = gs.pearson_edges(frame, axis="columns", nans="pairwise")
    assert same(got, gs.pearson_edges(want, nans="pairwise"))


def test_arrow_tables(gaps: Array) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    columns = [pyarrow.array(row, from_pandas=True) for row in gaps]
    table = pyarrow.table(dict(zip(GENES, columns, strict=True)))
    got = gs.spearman_edges(table, axis="columns", nans="pairwise")
    assert same(got, gs.spearman_edges(gaps, nans="pairwise"))
    assert got.names is not None and got.names.tolist() == GENES
    with pytest.raises(
        TypeError, match=r"^x: column 'id' of dtype string: its values are not numb"
    ):
        gs.spearman_edges(table.append_column("id", [["u"] * 12]))


def test_a_table_of_an_older_arrow_is_refused() -> None:
    class Table:  # of pyarrow 13: NumPy has its columns as rows
        columns: ClassVar = [[1.0, 2.0, 3.0], [3.0, 2.0, 4.0], [1.0, 5.0, 4.0]]

        def __array__(self, *_: Any, **__: Any) -> Array:
            return np.array(self.columns)

        def __dataframe__(self) -> None: ...

    with pytest.raises(TypeError, match=r"^x: got .*Table, expected .*\(pyarrow 14 or newer\)$"):
        gs.spearman_edges(Table())


def test_arrow_decimals() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    values = [[Decimal("0.5"), Decimal("2.25"), Decimal(-1)], [Decimal(3), None, Decimal("0.25")]]
    table = pyarrow.table({"a": values[0], "b": values[1]})
    np.testing.assert_array_equal(
        host_array(table, "x", in_columns=True), [[0.5, 2.25, -1], [3, np.nan, 0.25]]
    )


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dia"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_sparse(rng: np.random.Generator, layout: str, dtype: str) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    dense = (rng.poisson(0.4, size=(20, 30)) * (1 if dtype == "bool" else rng.normal() + 3)).astype(
        dtype
    )
    matrix = sparse.csr_matrix(dense).asformat(layout)
    # A zero is a value: the dense table is the oracle.
    assert same(gs.spearman_edges(matrix), gs.spearman_edges(dense))
    assert same(gs.pearson_edges(sparse.csr_array(dense).T, axis=1), gs.pearson_edges(dense))
    assert same(gs.pearson_edges(matrix, matrix[:4] if layout in ("csr", "lil") else dense[:4]),
                gs.pearson_edges(dense, dense[:4]))  # fmt: skip
    assert same(gs.edges(dense.T, matrix.T), gs.edges(dense.T, dense.T))
    if layout == "csr" and dtype != "bool":
        assert same(gs.spearman_edges(matrix, copy=False), gs.spearman_edges(dense))
        assert same(gs.pearson_edges(matrix.T, axis=1, copy=False), gs.pearson_edges(dense))
    elif layout != "csr":
        with pytest.raises(ValueError, match=rf"^x: got a sparse matrix in {layout}, which is not"):
            gs.spearman_edges(matrix, copy=False)


def test_sparse_with_entries_twice() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    twice = sparse.coo_matrix(([1.0, 2, 5], ([0, 0, 1], [3, 3, 2])), shape=(2, 5))
    assert same(gs.pearson_edges(twice), gs.pearson_edges(twice.toarray()))
    # Each entry fits 32 bits, their sum does not; the caller's matrix keeps its entries.
    wide = sparse.csr_matrix(([2 * 10**9] * 2 + [7], [1, 1, 0], [0, 3]), shape=(1, 2))
    np.testing.assert_array_equal(host_array(wide, "x"), [[7, 4 * 10**9]])
    assert wide.nnz == 3


def same_statistics(a: gs.Edges, b: gs.Edges) -> bool:
    """As same(), without p, which not every measure has."""
    return all(np.array_equal(a.records[k], b.records[k]) for k in ("row", "col", "statistic"))


@pytest.mark.parametrize("measure", ["spearman", "pearson", "cosine", "bicor"])
def test_every_sink_reads_sparse(rng: np.random.Generator, measure: Any) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    dense = rng.poisson(0.5, size=(60, 40)).astype(np.uint16)
    matrix = sparse.csr_array(dense)
    wide = matrix.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for x in (matrix, wide):
        np.testing.assert_array_equal(
            gs.dense(x, measure=measure).matrix, gs.dense(dense, measure=measure).matrix
        )
        top = gs.top_k_partners(x, k=3, measure=measure)
        want = gs.top_k_partners(dense, k=3, measure=measure)
        np.testing.assert_array_equal(top.statistic, want.statistic)
        prepared = gs.prepare(x, measure=measure)
        assert same_statistics(gs.edges(dense[:5], prepared, measure=measure),
                               gs.edges(dense[:5], dense, measure=measure))  # fmt: skip
    unsorted = sparse.csr_array(
        (matrix.data[::-1].copy(), matrix.indices[::-1].copy(), matrix.nnz - matrix.indptr[::-1]),
        shape=matrix.shape,
    )
    assert not unsorted.has_sorted_indices
    assert same_statistics(gs.edges(unsorted, measure=measure),
                           gs.edges(unsorted.toarray(), measure=measure))  # fmt: skip
    assert not unsorted.has_sorted_indices
    holed = matrix.astype(np.float64)
    holed.data[7] = np.nan
    row, column = (int(place[7]) for place in holed.nonzero())
    with pytest.raises(ValueError, match=rf"^x: got NaN at row {row}, column {column}"):
        gs.edges(holed, measure=measure)


def test_a_sparse_matrix_becomes_one_dense_table_or_is_refused() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random(2000, 1500, density=0.01, format="csr", dtype=np.float32, random_state=0)
    dense = 2000 * 1500 * 4
    tracemalloc.start()
    table = host_array(matrix.T, "x", in_columns=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.flags.c_contiguous and table.nbytes == dense
    assert peak < 1.2 * dense
    wide = sparse.csr_array((10**6, 10**9), dtype=np.float64)
    with pytest.raises(MemoryError, match=r"^x: got a sparse matrix of 1,000,000 x 1,000,000,000"):
        gs.rank(wide)


def test_variables_in_columns(x: Array) -> None:
    want = gs.spearman_edges(x, max_p=0.5)
    for axis in (1, "columns", np.int64(1)):
        assert same(gs.spearman_edges(x.T, max_p=0.5, axis=axis), want)
    for axis in (0, "rows"):
        assert same(gs.spearman_edges(x, max_p=0.5, axis=axis), want)
    for other in (2, "index", "variables", -1):
        with pytest.raises(ValueError, match=r"^axis: got .*expected 0 or 'rows'"):
            gs.spearman_edges(x, axis=other)
    y = x[:3] + 1
    calls = {
        "partners": lambda a, b, **k: gs.top_k_partners(a, 2, b, **k).index,
        "counts": lambda a, b, **k: gs.counts(a, b, **k).y_degree,
        "dense": lambda a, b, **k: gs.dense(a, b, **k).matrix,
        "plan": lambda a, b, **k: gs.plan(a, b, backend="cpu", **k).pairs,
        "stream": lambda a, b, **k: sum(len(e) for e in gs.stream(a, b, **k)),
        "observations": lambda a, b, **k: gs.observations(a, b, **k),
        "prepare": lambda a, b, **k: len(gs.spearman_edges(a, gs.prepare(b, **k), **k)),
    }  # fmt: skip
    for name, call in calls.items():
        np.testing.assert_array_equal(call(x.T, y.T, axis=1), call(x, y), err_msg=name)
    named = gs.spearman_edges(x.T, axis=1, names=GENES)
    assert named.to_pandas()["row"][0] == "a"
    with pytest.raises(ValueError, match=r"^names: got shape \(8,\), expected \(12,\), one a var"):
        gs.spearman_edges(x.T, names=GENES)


def test_no_needless_copies(x: Array) -> None:
    turned = np.asfortranarray(x.T)
    assert host_array(turned, "x", copy=False, in_columns=True).ctypes.data == turned.ctypes.data
    assert same(gs.spearman_edges(turned, axis=1, copy=False), gs.spearman_edges(x))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(dict(zip(GENES, x, strict=True)))
    view = frame.to_numpy()
    read = host_array(frame, "x", in_columns=True)
    assert np.shares_memory(read, view) == np.shares_memory(frame.to_numpy(), view)
    big = np.asfortranarray(np.arange(10**6).reshape(1000, 1000))
    tracemalloc.start()
    table = host_array(big, "x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.dtype == np.int32 and peak < 1.3 * table.nbytes


def test_labels_of_y_and_of_streams(gaps: Array) -> None:
    frame = pandas_frame(gaps, "float64")
    whole = np.arange(12.0)[None]
    with pytest.raises(ValueError, match=r"^y: got NaN at row 'b', column 's2' "):
        gs.spearman_edges(whole, frame)
    with pytest.raises(ValueError, match=r"^y: got NaN at row 'b', column 's2' "):
        gs.prepare(frame)
    with pytest.raises(ValueError, match=r"^x: got NaN at row 'b', column 's2' "):
        list(gs.stream(frame))
    with pytest.raises(ValueError, match=r"^x: got NaN at row 'g2', column 2 "):
        gs.counts(gaps, names=[f"g{i + 1}" for i in range(8)])
    for call in (gs.dense, gs.plan, lambda f: gs.top_k_partners(f, 1)):
        with pytest.raises(ValueError, match="row 'b', column 's2'"):
            call(frame)


def test_faces_take_frames(gaps: Array) -> None:
    stats = pytest.importorskip("scipy.stats")
    frame = pandas_frame(gaps, "Float64").T
    got = gs.spearmanr(frame, nan_policy="omit")
    want = stats.spearmanr(gaps[[0, 1]].T, nan_policy="omit")
    assert got.statistic[0, 1] == pytest.approx(want.statistic)
    whole = pandas_frame(np.nan_to_num(gaps), "double[pyarrow]")
    np.testing.assert_allclose(gs.corrcoef(whole), np.corrcoef(np.nan_to_num(gaps)))


@pytest.mark.parametrize("kind", ["C", "F", "csr", "backed", "backed csr"])
def test_anndata_layouts(rng: np.random.Generator, kind: str, tmp_path: Any) -> None:
    anndata = pytest.importorskip("anndata")
    from scipy import sparse

    cells = rng.poisson(1.0, size=(50, 12)).astype(np.float32)
    names = [f"g{i}" for i in range(12)]
    data: Any = np.asfortranarray(cells) if kind == "F" else cells
    adata = anndata.AnnData(sparse.csr_matrix(cells) if "csr" in kind else data)
    adata.var_names = names
    if kind.startswith("backed"):
        adata.write_h5ad(tmp_path / "a.h5ad")
        adata = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r+")
    edges = gs.anndata.correlate(adata, max_p=0.5, adjust="none")
    assert same(edges, gs.spearman_edges(cells.T, max_p=0.5))
    assert edges.names is not None and edges.names.tolist() == names
    if kind in ("C", "F"):
        assert same(gs.anndata.correlate(adata, max_p=0.5, adjust="none", copy=False), edges)
    with pytest.raises(TypeError, match=r"^axis: "):
        gs.anndata.correlate(adata, axis=1)
