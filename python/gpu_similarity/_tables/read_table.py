"""Tables from files, read as the command gpu-similarity reads them."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from .. import _core
from .._shared.errors import InvalidArgument, Unsupported
from .._shared.messages import integer, unknown_keyword
from .frames import NamedTable

if TYPE_CHECKING:
    import pandas

Sign = Literal["auto"] | bool
Word = str | int | float

_DELIMITERS = {
    "auto": "auto",
    "comma": "comma",
    ",": "comma",
    "tab": "tab",
    "\t": "tab",
    "semicolon": "semicolon",
    ";": "semicolon",
    "bar": "bar",
    "|": "bar",
    "blanks": "blanks",
    " ": "blanks",
}
# What makes a folder one of 10x Genomics.
_MATRICES = (b"matrix.mtx", b"matrix.mtx.gz", b"matrix.mtx.zst")
_SIGNS: dict[Any, str] = {"auto": "auto", True: "yes", False: "no"}
_CHOICE = re.compile(r"--(header|row-names) (yes|no)\b")
_CHOSEN = re.compile(r"--(columns|skip-columns) ([\w.,-]+) (?=leaves |reads )")
_WORD = re.compile(r"--(decimal|comment|input-format) '?(fps|table|.)'?")
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
_NAMED = re.compile(r"then gpu-similarity \.\.\. (\S+) --names (\S+)")
_PIPED = re.compile(r"[:;] (\S[^:;]*) FILE \| gpu-similarity \.\.\. -")


class ReadingOptions(TypedDict, total=False):
    """Keywords of `read_table`, for type checkers; it says what they are."""

    header: Sign
    row_names: Sign
    delimiter: str
    decimal: Literal[".", ","]
    comment: str
    na_values: Sequence[Word] | Word
    columns: Sequence[Word] | Word
    skip_columns: Sequence[Word] | Word
    names_column: Word | None
    names: str | os.PathLike[str] | None
    transpose: bool
    cpu_threads: int
    max_bytes: int


@overload
def read_table(
    path: str | os.PathLike[str], *, frame: Literal[False], **reading: Unpack[ReadingOptions]
) -> NamedTable: ...


@overload
def read_table(
    path: str | os.PathLike[str], *, frame: Literal[True], **reading: Unpack[ReadingOptions]
) -> pandas.DataFrame: ...


@overload
def read_table(
    path: str | os.PathLike[str], *, frame: bool | None = None, **reading: Unpack[ReadingOptions]
) -> Any: ...


def read_table(
    path: str | os.PathLike[str],
    *,
    header: Sign = "auto",
    row_names: Sign = "auto",
    delimiter: str = "auto",
    decimal: Literal[".", ","] = ".",
    comment: str = "",
    na_values: Sequence[Word] | Word = (),
    columns: Sequence[Word] | Word = (),
    skip_columns: Sequence[Word] | Word = (),
    names_column: Word | None = None,
    names: str | os.PathLike[str] | None = None,
    transpose: bool = False,
    frame: bool | None = None,
    cpu_threads: int = 0,
    max_bytes: int = 32_000_000_000,
    **unknown: Any,
) -> Any:
    """A table of numbers from a file, with names, as the command gpu-similarity reads it.

    Text (separators, quotes, names and missing values found out by the same rules, on all threads),
    GCT, .npy and MatrixMarket (.mtx), each of them also
    compressed by gzip or zstd; told by the first bytes, not by the name of the file. The page of the
    command has the rules. A sparse file stays sparse: every call takes its values as they are.

    Parameters
    ----------
    path : str or path
        The file, or a folder of 10x Genomics: matrix.mtx with features.tsv or genes.tsv and
        barcodes.tsv, compressed or not.
    header, row_names : {"auto", True, False}
        Whether the first line names the columns, and the first column the rows.
    delimiter : str
        "auto", "comma", "tab", "semicolon", "bar", "blanks", or the character.
    decimal : {".", ","}
        What stands before the fraction of a number.
    comment : str
        Lines that begin so are left out; empty: none are.
    na_values : str or number, or a sequence of them
        Missing values beside NaN, NA, N/A, null, a point and an empty field; a number stands for
        every way to write it.
    columns, skip_columns : str or int, or a sequence of them
        The columns of values that are read, or not: numbers from 1, in which the names count,
        ranges such as "3-8" or "4-", or names of the header.
    names_column : str or int, optional
        Which column names the rows; default: the first.
    names : str or path, optional
        A file with names of the rows, one a line, where the file does not name them; default:
        features.tsv or genes.tsv next to matrix.mtx, as 10x Genomics writes them.
    transpose : bool
        Takes the columns of the file as the rows of the table.
    frame : bool, optional
        True gives a pandas.DataFrame, False a NamedTable; None the frame where pandas is installed
        and the file is not sparse. The frame of a sparse file has sparse columns, each an array of
        its own.
    cpu_threads : int
        0 is OMP_NUM_THREADS or the processors there are.
    max_bytes : int
        What compressed input may unpack to.

    Returns
    -------
    pandas.DataFrame or NamedTable
        The frame's values are one array of one type, which the library reads in place.

    Raises
    ------
    OSError
        For a file that cannot be opened.
    ValueError
        For what is not such a table, and for what can be read in two ways, with both readings and the
        keywords that settle each; file, line and column are named.
    Unsupported
        Where the package was built without zlib.
    ImportError
        Where a file is sparse and SciPy is not installed.

    Warns
    -----
    UserWarning
        Where two readings are possible and one is the usual one: numbers that were taken for names,
        values that may be names, a last field that was left out; with the keyword that decides it.

    Examples
    --------
    >>> import gpu_similarity as gs, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "expression.csv"
    ...     _ = path.write_text("gene;s1;s2;s3\\nTP53;1,5;2;NA\\nMYC;4;5;6\\n")
    ...     table = gs.read_table(path, decimal=",", frame=False)
    >>> table.values, table.names, table.columns
    (array([[1.5, 2. , nan],
           [4. , 5. , 6. ]]), array(['TP53', 'MYC'], dtype=object), array(['s1', 's2', 's3'], dtype=object))
    """  # noqa: E501
    for keyword in unknown:
        raise TypeError(unknown_keyword(keyword, [*ReadingOptions.__annotations__, "frame"]))
    if not hasattr(_core, "read_table"):
        raise Unsupported("read_table: this package was built without zlib, which it needs")
    options = layout_options(
        header=header,
        row_names=row_names,
        delimiter=delimiter,
        decimal=decimal,
        comment=comment,
        na_values=na_values,
        columns=columns,
        skip_columns=skip_columns,
        names_column=names_column,
        names=names,
        transpose=transpose,
        cpu_threads=cpu_threads,
        max_bytes=max_bytes,
    )
    options["keeps_sparse"] = True
    table = _read(os.fsencode(path), options)
    for note in table.notes:
        warnings.warn(f"{os.fspath(path)}: {note}", UserWarning, stacklevel=2)
    if frame is None:
        frame = isinstance(table.values, np.ndarray) and _has_pandas()
    return _frame(table) if frame else table


def layout_options(
    *,
    header: Sign,
    row_names: Sign,
    delimiter: str,
    comment: str,
    columns: Sequence[Word] | Word,
    names_column: Word | None,
    names: str | os.PathLike[str] | None,
    transpose: bool,
    cpu_threads: int,
    max_bytes: int,
    decimal: str = ".",
    na_values: Sequence[Word] | Word = (),
    skip_columns: Sequence[Word] | Word = (),
) -> dict[str, Any]:
    """The options of the reader on how a file is laid out."""
    if names_column is not None and row_names is False:
        raise ValueError("names_column: got a column of names beside row_names=False")
    return {
        "header": _sign("header", header),
        "row_names": _sign("row_names", row_names),
        "delimiter": _delimiter(delimiter, decimal),
        "decimal": decimal,
        "comment": _comment(comment),
        "na_values": _words("na_values", na_values),
        "columns": _words("columns", columns),
        "skip_columns": _words("skip_columns", skip_columns),
        "names_column": "" if names_column is None else str(names_column),
        "names": "" if names is None else os.fspath(names),
        "transposes": bool(transpose),
        "cpu_threads": integer("cpu_threads", cpu_threads),
        "max_bytes": integer("max_bytes", max_bytes),
    }


def told_by_reader(read: Callable[..., Any], path: bytes, options: dict[str, Any]) -> Any:
    """What a reader of the core tells of a file, with its messages in keywords."""
    is_10x = any(os.path.exists(os.path.join(path, name)) for name in _MATRICES)
    if not is_10x and (os.path.isfile(path) or not os.path.exists(path) or os.path.isdir(path)):
        open(os.fsdecode(path), "rb").close()  # the exceptions of Python for what cannot be opened
    try:
        # "-" would be the standard input.
        return read(b"./-" if path == b"-" else path, options)
    except InvalidArgument as error:
        raise InvalidArgument(in_keywords(str(error))) from None


def _read(path: bytes, options: dict[str, Any]) -> NamedTable:
    told = told_by_reader(_core.read_table, path, options)
    values, names, columns, _, _, _, notes, _ = told
    if isinstance(values, tuple):
        values = _sparse(*values)
    return NamedTable(
        values, array_of_names(names), array_of_names(columns), tuple(map(in_keywords, notes))
    )


def array_of_names(names: list[str] | None) -> npt.NDArray[Any] | None:
    """Names as an array of objects."""
    if names is None:
        return None
    out = np.empty(len(names), object)
    out[:] = names
    return out


def _sparse(values: Any, column: Any, row_begin: Any, rows: int, cols: int) -> Any:
    from scipy import sparse

    made = sparse.csr_array((values, column, row_begin), shape=(rows, cols), copy=False)
    made.has_canonical_format = True  # the reader saw to it
    return made


def _frame(table: NamedTable) -> Any:
    import pandas

    if not isinstance(table.values, np.ndarray):
        accessor: Any = pandas.DataFrame.sparse
        frame = accessor.from_spmatrix(table.values)
        if table.names is not None:
            frame.index = pandas.Index(table.names)
        if table.columns is not None:
            frame.columns = pandas.Index(table.columns)
        return frame
    return pandas.DataFrame(table.values, index=table.names, columns=table.columns, copy=False)


def _has_pandas() -> bool:
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


def _sign(argument: str, value: Any) -> str:
    if isinstance(value, bool | np.bool_ | str) and value in _SIGNS:
        return _SIGNS[value]
    raise ValueError(f"{argument}: got {value!r}, expected 'auto', True or False")


def _delimiter(value: Any, decimal: Any) -> str:
    if value not in _DELIMITERS:
        raise ValueError(
            f"delimiter: got {value!r}, expected 'auto', 'comma', 'tab', 'semicolon', 'bar' or "
            "'blanks', or the character itself"
        )
    if decimal not in (".", ","):
        raise ValueError(f"decimal: got {decimal!r}, expected '.' or ','")
    if decimal == "," and _DELIMITERS[value] == "comma":
        raise ValueError("decimal: got ',', which does not go with delimiter='comma'")
    return _DELIMITERS[value]


def _comment(value: Any) -> str:
    if not isinstance(value, str) or value[:1] in (" ", "\t", "\r", "\n", '"'):
        raise ValueError(
            f"comment: got {value!r}, expected a text that begins with neither a blank nor a quote"
        )
    return value


def _words(argument: str, value: Any) -> list[str]:
    words = [value] if isinstance(value, str | int | float) else list(value)
    for word in words:
        if isinstance(word, bool) or not isinstance(word, str | int | float | np.number):
            raise TypeError(f"{argument}: got {word!r}, expected a string or a number")
    return [str(word) for word in words]


def in_keywords(message: str) -> str:
    """A message of the reader with the keywords of `read_table` for the command's options."""
    message = _CHOICE.sub(
        lambda m: f"{m[1].replace('-', '_')}={m[2] == 'yes'}", message.replace("--max-input", "")
    ).replace("(max_bytes, )", "(max_bytes)")
    message = _NAMED.sub(r"then read_table('\1', names='\2')", message)
    message = _PIPED.sub(r"; \1 FILE > OTHER makes one", message)
    message = _CHOSEN.sub(_chosen_columns, message)
    message = _WORD.sub(lambda m: f"{m[1].replace('-', '_')}={m[2]!r}", message)
    return _OPTION.sub(lambda m: m[1].replace("-", "_"), message)


def _chosen_columns(option: re.Match[str]) -> str:
    words = option[2].split(",")
    return f"{option[1].replace('-', '_')}={words if len(words) > 1 else words[0]!r} "
