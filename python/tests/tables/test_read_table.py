"""Files as the command reads them, held to pandas and NumPy."""

from __future__ import annotations

import gzip
import io
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest

NEEDS_READER = hasattr(gs._core, "read_table")
pytestmark = pytest.mark.skipif(not NEEDS_READER, reason="built without zlib")


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def to_file(content: str | bytes, name: str = "table.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_what_pandas_writes(rng: np.random.Generator, write: Any, separator: str) -> None:
    pandas = pytest.importorskip("pandas")
    x = rng.normal(size=(20, 6))
    x[2, 3] = np.nan
    names = [f'gene "{i}", part{separator}a' for i in range(20)]
    frame = pandas.DataFrame(x, index=names, columns=list("uvwxyz"))
    path = write(frame.to_csv(sep=separator))
    got = gs.read_table(path)
    frame.index = frame.index.str.replace("\t", " ")  # as the command has names
    pandas.testing.assert_frame_equal(got, frame, check_exact=True)
    assert gs.spearman_edges(got, nans="propagate").names.tolist() == frame.index.tolist()
    turned = gs.read_table(path, transpose=True)
    pandas.testing.assert_frame_equal(turned, frame.T, check_exact=True)
    # One array in the library's order: nothing is copied on the way to a call.

    assert got.to_numpy().flags.c_contiguous


def test_options(write: Any) -> None:
    path = write("# notes\nid;group;s1;s2;s3\n7;a;1,5;-999;2\n9;b;0,5;x;4\n", "odd.csv")
    got = gs.read_table(
        path, comment="#", decimal=",", na_values=[-999, "x"], skip_columns="group",
        names_column="id", row_names=True, header=True, delimiter=";", frame=False,
    )  # fmt: skip
    assert isinstance(got, gs.NamedTable)
    np.testing.assert_array_equal(got.values, [[1.5, np.nan, 2], [0.5, np.nan, 4]])
    assert got.names.tolist() == ["7", "9"] and got.columns.tolist() == ["s1", "s2", "s3"]
    some = gs.read_table(
        path, comment="#", decimal=",", columns=["s1", 5], frame=False, row_names=True
    )
    np.testing.assert_array_equal(some.values, [[1.5, 2], [0.5, 4]])


def test_types_and_compression(write: Any, tmp_path: Path) -> None:
    text = b"1\t2\t3\n4\t5\t300\n"
    want = np.array([[1, 2, 3], [4, 5, 300]])
    plain = gs.read_table(write(text), frame=False)
    assert plain.values.dtype == np.int16 and plain.names is None and plain.columns is None
    np.testing.assert_array_equal(plain.values, want)
    zipped = gs.read_table(write(gzip.compress(text), "z.dat"), frame=False)
    np.testing.assert_array_equal(zipped.values, want)
    for kind in ("i4", "f4", "f8", "u1", "i8"):
        file = io.BytesIO()
        np.save(file, np.arange(12, dtype=kind).reshape(3, 4))
        array = gs.read_table(write(file.getvalue(), "a.npy"), frame=False).values
        np.testing.assert_array_equal(array, np.arange(12).reshape(3, 4))
        assert array.dtype == (np.int32 if kind == "i8" else np.dtype(kind))
    zstd = pytest.importorskip("pyarrow").Codec("zstd")
    path = write(zstd.compress(text, asbytes=True), "z.zst")
    try:
        np.testing.assert_array_equal(gs.read_table(path, frame=False).values, want)
    except ValueError as error:
        assert "zstd" in str(error)  # noqa: PT017 - a build without libzstd says so


def test_errors_speak_of_keywords(write: Any, tmp_path: Path) -> None:
    path = write("a,b,c\nx,1,2\ny,3,oops\n")
    with pytest.raises(
        gs.InvalidArgument, match=r"table.txt:3: column 3: got 'oops'.*\(skip_columns leaves"
    ):
        gs.read_table(path)
    with pytest.raises(ValueError, match=r"\(decimal=',' if the comma is the decimal mark\)"):
        gs.read_table(write("n;a;b\nx;1,5;2\n"))
    with pytest.raises(ValueError, match=r"columns: .*'zz'|columns.*zz"):
        gs.read_table(path, columns="zz")
    with pytest.raises(ValueError, match=r"table.txt:2: column 3: got '\\xfc', expected"):
        gs.read_table(write(b"x,1,2,3\ny,2,\xfc,4\n"))
    with pytest.raises(FileNotFoundError, match=r": '/.*nothing.csv'$"):
        gs.read_table(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError):
        gs.read_table(tmp_path)
    for keywords, message in (
        ({"delimiter": "::"}, r"^delimiter: got '::'"),
        ({"decimal": ";"}, r"^decimal: got ';'"),
        ({"decimal": ",", "delimiter": ","}, r"^decimal: got ',', which does not go"),
        ({"header": "yes"}, r"^header: got 'yes', expected 'auto', True or False"),
        ({"header": 1}, r"^header: got 1"),
        ({"comment": " #"}, r"^comment: got ' #'"),
        ({"names_column": 2, "row_names": False}, r"^names_column: "),
        ({"max_bytes": 3}, None),
    ):
        if message is not None:
            with pytest.raises(ValueError, match=message):
                gs.read_table(path, **keywords)
    with pytest.raises(ValueError, match=r"\(max_bytes\)$|max_bytes"):
        gs.read_table(write(gzip.compress(b"1 2\n" * 1000), "b.gz"), max_bytes=100)
    with pytest.raises(TypeError, match=r"^columns: got None"):
        gs.read_table(path, columns=[None])


def test_doubtful_names_are_told(write: Any) -> None:
    path = write("country,1990,1991,1992\nA,1.5,2.5,3\nB,2,1,4\nC,1,1,7\n")
    with pytest.warns(UserWarning, match="names of the columns: .*header=False takes it for a row"):
        got = gs.read_table(path, frame=False)
    assert got.columns.tolist() == ["1990", "1991", "1992"]
    assert len(got.notes) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gs.read_table(path, header=True, frame=False).values.shape == (3, 3)


NUMBERS = ",3,1,5\n4,6,2,1\n7,1,9,3\n"


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (",2,3,4\n5,6,7,8\n9,1,2,3\n", ["two ways", "header=True takes", "header=False takes"]),
        ("0,1,2\n7,3,9\n4,8,1\n", ["two ways", "header=True takes", "header=False takes"]),
        ("7157,5.5,3\n672,1,8.5\n1956,7,7.5\n", ["row_names=True takes", "row_names=False takes"]),
        ("-" + NUMBERS, [":1: column 1: got '-', expected a number", "row_names=True takes"]),
        ("\u22121" + NUMBERS, ["got '\u22121', expected a number"]),
        ("a,b,c,d\n<0.01" + NUMBERS, [":2: column 1: got '<0.01' in column 'a'", "row_names=True"]),
        (
            "Symbol\tEntrez_Gene_Id\tS1\nTP53\t7157\t5.1\nMYC\t4609\t1\n",
            ["skip_columns='Entrez_Gene_Id' leaves it out", "columns='2-3' reads it"],
        ),
        (
            "n,an id,probe_id,S1\nTP53,7157,1,5.1\nMYC,4609,2,1\n",
            ["skip_columns=['2', 'probe_id'] leaves it out", "columns='2-4' reads it"],
        ),
        ("x,9007199254740993,2\n", ["got '9007199254740993'"]),
    ],
)
def test_two_readings_are_refused(write: Any, text: str, messages: list[str]) -> None:
    with pytest.raises(gs.InvalidArgument) as refused:
        gs.read_table(write(text), frame=False)
    for message in messages:
        assert message in str(refused.value)


def test_what_the_messages_say_settles_it(write: Any) -> None:
    symbols = write("Symbol\tEntrez_Gene_Id\tS1\nTP53\t7157\t5.1\nMYC\t4609\t1\n")
    for keywords, columns in (
        ({"skip_columns": "Entrez_Gene_Id"}, ["S1"]),
        ({"columns": "2-3"}, ["Entrez_Gene_Id", "S1"]),
    ):
        got = gs.read_table(symbols, frame=False, **keywords)
        assert got.columns.tolist() == columns and got.names.tolist() == ["TP53", "MYC"]
    empty = write(",2,3,4\n5,6,7,8\n9,1,2,3\n", "empty.csv")
    assert gs.read_table(empty, frame=False, header=True).columns.tolist() == ["2", "3", "4"]
    got = gs.read_table(empty, frame=False, header=False).values
    np.testing.assert_array_equal(got, [[np.nan, 2, 3, 4], [5, 6, 7, 8], [9, 1, 2, 3]])


@pytest.mark.parametrize(
    ("text", "message", "values"),
    [
        (NUMBERS, "taken for a row of values", [[np.nan, 3, 1, 5], [4, 6, 2, 1], [7, 1, 9, 3]]),
        ("gene_id,a,b\n7,1,2\n7,3,4\n", "taken for the names of the rows", [[1, 2], [3, 4]]),
        ("gene_id,a,b\n7.0,1,2\nNA,3,4\n", "taken for the names of the rows", [[1, 2], [3, 4]]),
        ("a,b\n1,2,\n3,4,\n", "last field was left out, columns='2-3' reads", [[1, 2], [3, 4]]),
    ],
)
def test_a_usual_reading_warns(write: Any, text: str, message: str, values: Any) -> None:
    with pytest.warns(UserWarning, match=message) as told:
        got = gs.read_table(write(text), frame=False)
    np.testing.assert_array_equal(got.values, values)
    assert len(got.notes) == len(told) == 1
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    ("text", "values", "names"),
    [
        ("4,1,7\n2,8,8\n9,3,5\n", [[4, 1, 7], [2, 8, 8], [9, 3, 5]], None),
        (",0,1\n0,7,3\n1,4,8\n", [[7, 3], [4, 8]], ["0", "1"]),
        ("id,NA,s2\ng,1,2\nh,3,4\n", [[1, 2], [3, 4]], ["g", "h"]),
        ("a b\n7 1 2\n7 3 4\n", [[1, 2], [3, 4]], ["7", "7"]),
        ("#1.2\n2\t2\nName\tD\ta\tb\n1\tx\t1\t2\n1\tx\t3\t4\n", [[1, 2], [3, 4]], ["1", "1"]),
        ("g,100000000000000000000,2.5\n", [[1e20, 2.5]], ["g"]),
    ],
)
def test_one_reading_is_not_asked_about(
    write: Any, text: str, values: Any, names: list[str] | None
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = gs.read_table(write(text), frame=False)
    np.testing.assert_array_equal(got.values, values)
    assert (None if got.names is None else got.names.tolist()) == names


def test_names_that_are_no_utf8_survive(write: Any) -> None:
    got = gs.read_table(write(b"g\xe9,1,2\nh,3,4\n"), frame=False)
    assert got.names[0].encode("utf-8", "surrogateescape") == b"g\xe9"


def test_real_tables(data_file: Any) -> None:
    path = data_file("golub.tsv")
    want = np.loadtxt(path, delimiter="\t")
    np.testing.assert_array_equal(gs.read_table(path, frame=False).values, want)


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint8"])
def test_the_line_for_what_scipy_saves(rng: np.random.Generator, tmp_path: Any, dtype: str) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    made = sparse.random_array((30, 200), density=0.1, random_state=rng, format="csc") * 90
    made = made.astype(dtype)
    path = tmp_path / "a.npz"
    sparse.save_npz(path, made)
    with pytest.raises(gs.InvalidArgument, match=r"scipy\.sparse\.save_npz") as refused:
        gs.read_table(path)
    exec(str(refused.value).split('"')[1], {})
    got = gs.read_table(f"{path}.mtx")
    assert isinstance(got, gs.NamedTable) and sparse.issparse(got.values)
    np.testing.assert_array_equal(got.values.toarray(), made.toarray())
    turned = gs.read_table(f"{path}.mtx", transpose=True).values
    np.testing.assert_array_equal(turned.toarray(), made.toarray().T)
    assert turned.indices.flags.owndata is False  # the reader's own memory
    edges = gs.spearman_edges(got.values, min_abs=0.2)
    dense = gs.spearman_edges(np.asarray(got.values.toarray()), min_abs=0.2)
    np.testing.assert_array_equal(edges.records, dense.records)


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_matrix_market_of_scipy(
    rng: np.random.Generator, tmp_path: Any, symmetry: str, field: str
) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    scipy_io = pytest.importorskip("scipy.io")
    made = sparse.random_array((40, 40), density=0.1, random_state=rng).toarray() * 9
    made = made.round(3 if field == "real" else 0)
    if symmetry == "symmetric":
        made = made + made.T
    made = sparse.coo_array(made if field == "real" else made.astype(int))
    made.eliminate_zeros()
    path = tmp_path / "a.mtx"
    scipy_io.mmwrite(path, made, field=field, symmetry=symmetry)
    want = scipy_io.mmread(path).toarray()
    for packed in (False, True):
        if packed:
            (tmp_path / "a.mtx.gz").write_bytes(gzip.compress(path.read_bytes()))
        got = gs.read_table(f"{path}.gz" if packed else path).values
        np.testing.assert_array_equal(got.toarray(), want)


def test_names_of_10x(tmp_path: Any) -> None:
    pytest.importorskip("scipy.sparse")
    pandas = pytest.importorskip("pandas")
    (tmp_path / "matrix.mtx").write_text(
        "%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 1 5\n2 3 7\n"
    )
    (tmp_path / "features.tsv").write_text("E1\tTP53\nE2\tMYC\n")
    got = gs.read_table(tmp_path / "matrix.mtx")
    assert got.names.tolist() == ["E1", "E2"] and got.columns is None
    frame = gs.read_table(tmp_path / "matrix.mtx", names_column=2, frame=True)
    assert isinstance(frame, pandas.DataFrame)
    assert frame.loc["MYC"].tolist() == [0, 0, 7]
    (tmp_path / "own.txt").write_text("a\nb\nc\n")
    with pytest.raises(ValueError, match="got 3 names, expected one for each of the 2 rows"):
        gs.read_table(tmp_path / "matrix.mtx", names=tmp_path / "own.txt")


def test_calls_take_the_named_table(rng: np.random.Generator, write: Any) -> None:
    pandas = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    frame = pandas.DataFrame(rng.poisson(1, size=(9, 12)), index=[f"g{i}" for i in range(9)])
    frame.columns = [f"s{i}" for i in range(12)]
    table = gs.read_table(write(frame.to_csv()), frame=False)
    for axis in ("rows", "columns"):
        want = gs.spearman_edges(frame, min_abs=0.1, axis=axis)
        got = gs.spearman_edges(table, min_abs=0.1, axis=axis)
        np.testing.assert_array_equal(got.records, want.records)
        assert got.names is not None and list(got.names) == list(want.names)
    against = gs.spearman_edges(frame, table, min_abs=0.1)
    assert list(against.y_names) == list(frame.index)
    rows = sparse.csr_array(table.values.astype(float))
    got = gs.spearman_edges(table._replace(values=rows), min_abs=0.1)
    want = gs.spearman_edges(frame, min_abs=0.1)
    np.testing.assert_array_equal(got.records, want.records)
    assert list(got.names) == list(frame.index)
    np.testing.assert_array_equal(gs.rank(table), gs.rank(frame))
    spoilt = table._replace(values=np.where(table.values == table.values[4, 5], np.nan, 1.5))
    with pytest.raises(ValueError, match=r"row 'g\d', column 's\d+'"):
        gs.spearman_edges(spoilt)


def test_type_checkers_see_what_read_table_gives() -> None:
    import typing

    given = [overload.__annotations__["return"] for overload in typing.get_overloads(gs.read_table)]
    assert given == ["NamedTable", "pandas.DataFrame", "Any"]


def test_what_other_programs_unpack_is_told_without_the_command(write: Any) -> None:
    for content in ("a,b\n1,2\n".encode("utf-16"), b"\xfd7zXZ\x00abc"):
        with pytest.raises(ValueError, match=r"; [a-z].* FILE > OTHER makes one$") as refused:
            gs.read_table(write(content))
        assert "gpu-similarity" not in str(refused.value)


@pytest.mark.parametrize("is_10x", [False, True])
def test_the_line_that_a_message_has_for_hdf5_writes_a_table(
    tmp_path: Path, monkeypatch: Any, is_10x: bool
) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    package = pytest.importorskip("h5py" if is_10x else "anndata")
    monkeypatch.chdir(tmp_path)
    counts = sparse.random_array((4, 9), density=0.5, format="csc", random_state=1)
    names = ["a", "b, c", "d", "e"]
    file = "raw.h5" if is_10x else "cells.h5ad"
    if is_10x:
        with package.File(file, "w") as out:
            group = out.create_group("matrix")
            for key in ("data", "indices", "indptr", "shape"):
                group[key] = np.array(getattr(counts, key))
            group["features/name"] = np.array(names, "S")
    else:
        made = package.AnnData(counts.T.tocsr())
        made.var_names = names
        made.write_h5ad(file)
    with pytest.raises(ValueError, match="is an HDF5 file") as refused:
        gs.read_table(file)
    line = re.search(r'python3 -c "(.*)" then (read_table\(.*\))$', str(refused.value))
    assert line is not None
    subprocess.run([sys.executable, "-c", line[1]], check=True)
    table = eval(f"gs.{line[2][:-1]}, frame=False)")
    assert table.names.tolist() == names
    np.testing.assert_array_equal(table.values.toarray(), counts.toarray())


def test_a_folder_of_10x_genomics(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    (tmp_path / "matrix.mtx").write_text(
        "%%MatrixMarket matrix coordinate integer general\n2 3 3\n1 1 4\n2 3 5\n2 1 6\n"
    )
    (tmp_path / "genes.tsv").write_text("E1\tTP53\nE2\tMYC\n")
    (tmp_path / "barcodes.tsv").write_text("a\nb\nc\n")
    table = gs.read_table(tmp_path, names_column=2, frame=False)
    assert table.names.tolist() == ["TP53", "MYC"]
    np.testing.assert_array_equal(table.values.toarray(), [[4, 0, 0], [6, 0, 5]])


def test_names_from_a_file_for_an_array(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(2, 3))
    (tmp_path / "names.txt").write_text("one\ntwo\n")
    table = gs.read_table(tmp_path / "x.npy", names=tmp_path / "names.txt", frame=False)
    assert table.names.tolist() == ["one", "two"]
