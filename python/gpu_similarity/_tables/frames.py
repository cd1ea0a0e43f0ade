"""Data frames and sparse matrices as plain tables: pandas, Polars, Arrow, SciPy."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._shared.errors import OutOfMemory
from .numbers import (
    NOT_NUMBERS,
    WIDE,
    check_exact,
    in_direct_type,
    is_exact,
    nearest_double,
    numbers_of,
    python_numbers,
)

Array = npt.NDArray[Any]


class NamedTable(NamedTuple):
    """A table of a file, as `read_table(..., frame=False)` gives it; calls take it as a table.

    Attributes
    ----------
    values : ndarray, shape (rows, columns), or scipy.sparse.csr_array
        Of the narrowest type that holds them; NaN where a value is missing. Sparse of a sparse
        file.
    names : ndarray of str, or None
        Names of the rows.
    columns : ndarray of str, or None
        Names of the columns.
    notes : tuple of str
        What was taken for what, where another reading is likely too.
    """

    values: Any
    names: Array | None
    columns: Array | None
    notes: tuple[str, ...]


class Labels(NamedTuple):
    """What a frame calls its rows and its columns; None where they have but numbers."""

    rows: Any = None
    columns: Any = None


def is_frame(x: Any) -> bool:
    """Whether `x` is a data frame: of pandas or Polars, or a table that Arrow's stream gives."""
    # A LazyFrame would make its schema to say what its columns are.
    if isinstance(x, NamedTable) or type(x).__name__ == "LazyFrame" or not hasattr(x, "columns"):
        return False
    # A table of a pyarrow that gives no stream is refused: NumPy would turn it over.
    return any(hasattr(x, name) for name in ("to_numpy", "__arrow_c_stream__", "__dataframe__"))


def without_names(x: Any) -> Any:
    """The values of a NamedTable; anything else as it is."""
    return x.values if isinstance(x, NamedTable) else x


def is_sparse(x: Any) -> bool:
    """Whether `x` is a sparse matrix or array of SciPy."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))


def labels_of(x: Any) -> Labels:
    """The names of the rows and of the columns of a data frame, or a NamedTable."""
    if isinstance(x, NamedTable):
        return Labels(x.names, x.columns)
    if type(x) is np.ndarray or not is_frame(x):
        return Labels()
    if not hasattr(x, "iloc"):
        return Labels(None, list(getattr(x, "column_names", x.columns)))
    index, columns = (None if type(i).__name__ == "RangeIndex" else i for i in (x.index, x.columns))
    return Labels(index, columns)


def variables_of_frame(x: Any, argument: str, *, in_columns: bool, ordinal: bool = False) -> Array:
    """The values of a data frame, a variable a row; missing values are NaN.

    One type throughout is taken as it lies. Else each column is read by itself, and an error names
    the first that does not hold numbers, and its dtype. With `ordinal`, columns of numbers that
    doubles would round make the table one of objects, or of long doubles.
    """
    whole = _whole_frame(x)
    if whole is not None:
        return whole.T if in_columns else whole
    columns = [
        _read_column(column, where, ordinal)
        if place > 0
        else _read_first(column, where, x, argument, ordinal)
        for place, (column, where) in enumerate(_columns(x, argument))
    ]
    if not columns:
        return np.empty((0, len(x)) if in_columns else (len(x), 0))
    return np.stack(columns) if in_columns else np.column_stack(columns)


def values_of_column(x: Any, argument: str, ordinal: bool = False) -> Array | None:
    """The values of a single column of pandas, Polars or Arrow; None for anything else.

    Missing numbers are NaN; what is not numbers is left as NumPy has it.
    """
    pandas, polars, arrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(
        x, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray
    ):
        x = pandas.Series(x)
        kind, is_category = x.dtype, isinstance(x.dtype, pandas.CategoricalDtype)
        are_numbers = not isinstance(kind, np.dtype) and _are_numbers(kind)
    elif polars is not None and isinstance(x, polars.Series):
        kind, is_category = x.dtype, x.dtype in (polars.Categorical, polars.Enum)
        are_numbers = kind.is_numeric() or kind == polars.Boolean
    elif arrow is not None and isinstance(x, arrow.Array | arrow.ChunkedArray):
        kind, is_category = x.type, arrow.types.is_dictionary(x.type)
        are_numbers = _are_arrow_numbers(kind)
    else:
        return None
    where = f"{argument}: {type(x).__qualname__} of dtype {kind}"
    if is_category:
        raise TypeError(f"{where}: {NOT_NUMBERS}")
    return _read_column(x, where, ordinal) if are_numbers else np.asarray(x)


def check_columns(x: Any, argument: str) -> None:
    """Raises the error of the first column of a data frame that is not taken, if there is one."""
    for told in _columns(x, argument):
        _read_column(*told)


def variables_of_sparse(x: Any, argument: str, *, in_columns: bool) -> Array:
    """A sparse matrix as a dense table of the same type, a variable a row; what is not stored is 0.

    One table is made, in the order that the library reads, of the narrowest type that holds the
    values, or of bool: no other copy is as large. A table that the free memory does not hold is
    refused first.
    """
    matrix = checked_csr(x, argument, in_columns=in_columns)
    values = matrix.data.astype(matrix.dtype.newbyteorder("="), copy=False)
    with contextlib.suppress(ValueError):  # integers and long doubles that need their own type
        values = values if values.dtype == np.longdouble else in_direct_type(values, argument)
    needed, free = values.dtype.itemsize * matrix.shape[0] * matrix.shape[1], _free_memory()
    if free is not None and needed > free:
        raise OutOfMemory(
            f"{argument}: got a sparse matrix of {x.shape[0]:,} x {x.shape[1]:,}, which is a dense "
            f"table of {needed:,} bytes, expected at most the {free:,} that are free",
            needed,
        )
    dense = type(matrix)((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    return np.asarray(dense.toarray(order="C"))


def checked_csr(x: Any, argument: str, *, in_columns: bool) -> Any:
    """A sparse matrix of SciPy in canonical CSR, a variable a row, whose arrays fit each other.

    SciPy's conversions read what the arrays say of each other without a look, so they are checked
    before the first of them. Arrays that are in order are not copied.
    """
    if x.ndim != 2:
        raise ValueError(f"{argument}: got {x.ndim} dimensions, expected 2")
    if x.dtype.kind == "O":
        raise TypeError(f"{argument}: got a sparse matrix of objects, expected numbers")
    if x.format not in ("csr", "csc", "bsr"):
        x = x.tocoo()
        _check_places(x, argument)
        x = x.tocsr()
    _check_compressed(x, argument)
    matrix = (x.T if in_columns else x).tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _check_compressed(x: Any, argument: str) -> None:
    down, across = x.shape if x.format != "csc" else x.shape[::-1]
    high, wide = getattr(x, "blocksize", (1, 1))
    begin, index, stored = x.indptr, x.indices, len(x.data)
    if begin.ndim != 1 or len(begin) - 1 != down // high or begin[0] != 0:
        raise ValueError(
            f"{argument}: got {len(begin)} places in indptr, expected {down // high + 1}, from 0 on"
        )
    if not (begin[1:] >= begin[:-1]).all():
        raise ValueError(f"{argument}: indptr descends, expected places that ascend")
    if begin[-1] > min(len(index), stored):
        raise ValueError(
            f"{argument}: got {len(index)} indices and {stored} values, expected the {begin[-1]} "
            "that indptr ends with"
        )
    _check_indices(index[: begin[-1]], across // wide, argument)


def _check_places(x: Any, argument: str) -> None:
    if not len(x.row) == len(x.col) == len(x.data):
        raise ValueError(
            f"{argument}: got {len(x.row)} rows, {len(x.col)} columns and {len(x.data)} values, "
            "expected as many of each"
        )
    for index, size in ((x.row, x.shape[0]), (x.col, x.shape[1])):
        _check_indices(index, size, argument)


def _check_indices(index: Array, size: int, argument: str) -> None:
    if len(index) and not (index.min() >= 0 and index.max() < size):
        raise ValueError(
            f"{argument}: got indices from {index.min()} to {index.max()}, expected 0 to {size - 1}"
        )


def _free_memory() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") + _page_cache()
    except (AttributeError, OSError, ValueError):
        return None


def _page_cache() -> int:
    """What the system would give back: on Linux, MemAvailable beyond the pages that are free."""
    with open("/proc/meminfo") as file:
        told = dict(line.split(":", 1) for line in file)
    bytes_of = {key: int(told[key].split()[0]) * 1024 for key in ("MemAvailable", "MemFree")}
    return max(0, bytes_of["MemAvailable"] - bytes_of["MemFree"])


def _whole_frame(x: Any) -> Array | None:
    """The values of a frame that are one array of one type of NumPy without missing values."""
    if hasattr(x, "iloc"):
        kinds = {str(kind) if isinstance(kind, np.dtype) else None for kind in x.dtypes}
        if len(kinds) != 1 or kinds & {None, "object"}:
            return None
        found = np.asarray(x.to_numpy())
        return found if found.dtype.kind in "biuf" else None
    if hasattr(x, "schema") and hasattr(x, "null_count") and hasattr(x, "to_numpy"):
        kinds = set(map(str, x.dtypes))
        if len(kinds) != 1 or sum(x.null_count().row(0)) > 0:
            return None
        found = np.asarray(x.to_numpy())
        return found if found.dtype.kind in "biuf" else None
    return None


def _columns(x: Any, argument: str) -> Iterable[tuple[Any, str]]:
    """Each column, and how an error speaks of it."""
    named: Iterable[tuple[Any, Any]]
    if hasattr(x, "iloc"):
        # By position: names may repeat.
        named = ((name, x.iloc[:, place]) for place, name in enumerate(x.columns))
    elif hasattr(x, "get_columns"):
        named = ((column.name, column) for column in x.get_columns())
    elif hasattr(x, "__arrow_c_stream__"):
        import pyarrow

        table = pyarrow.table(x)
        named = zip(table.column_names, table.columns, strict=True)
    else:
        raise TypeError(
            f"{argument}: got {type(x).__module__}.{type(x).__qualname__}, expected a data frame "
            "of pandas or Polars, or a table of Arrow (pyarrow 14 or newer)"
        )
    for name, column in named:
        kind = getattr(column, "dtype", None) or column.type
        yield column, f"{argument}: column {name!r} of dtype {kind}"


def _read_column(column: Any, where: str, ordinal: bool = False) -> Array:
    if hasattr(column, "iloc"):
        values = _pandas_column(column, where)
    elif hasattr(column, "null_count") and hasattr(column, "to_numpy") and hasattr(column, "dtype"):
        values = _polars_column(column, where)
    else:
        values = _arrow_column(column, where)
    if values.dtype == object:
        numbers = python_numbers(values, where)
        # As objects they keep their order and their ties.
        if ordinal and any(a == a and a != nearest_double(a) for a in numbers):
            return _as_objects(numbers)
        values = numbers_of(numbers, where)
    if ordinal and values.dtype in WIDE and not is_exact(values):
        return values.astype(object)
    return values if ordinal and values.dtype == np.longdouble else in_direct_type(values, where)


def _read_first(column: Any, where: str, x: Any, argument: str, ordinal: bool) -> Array:
    """The first column, which may hold the names of the rows."""
    try:
        return _read_column(column, where, ordinal)
    except TypeError as error:
        if not hasattr(x, "set_index"):
            raise
        index = f"{argument}.set_index({x.columns[0]!r})"
        raise TypeError(f"{error}; names of rows belong in the index: {index}") from None


def _pandas_column(column: Any, where: str) -> Array:
    types = sys.modules["pandas"].api.types
    kind = column.dtype
    if isinstance(kind, np.dtype) and kind.kind == "O":
        return np.asarray(column.to_numpy(dtype=object))
    if not _are_numbers(kind):
        raise TypeError(f"{where}: {NOT_NUMBERS}")
    if isinstance(kind, np.dtype):
        return np.asarray(column.to_numpy())
    missing = column.isna().to_numpy(dtype=bool)
    if not missing.any() or "decimal" in str(kind):
        return np.asarray(column.to_numpy())
    if types.is_integer_dtype(kind):
        present = column[~missing].to_numpy()
        check_exact((int(end) for end in (present.min(), present.max())) if len(present) else (),
                     where)  # fmt: skip
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _as_objects(items: list[Any]) -> Array:
    values = np.empty(len(items), object)
    values[:] = items
    return values


def _are_numbers(kind: Any) -> bool:
    types = sys.modules["pandas"].api.types
    # pandas does not count the bool of Arrow among its numeric types.
    return bool(types.is_numeric_dtype(kind) or types.is_bool_dtype(kind))


def _are_arrow_numbers(kind: Any) -> bool:
    from pyarrow import types

    are_numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal,
                   types.is_null)  # fmt: skip
    return any(is_kind(kind) for is_kind in are_numbers)


def _polars_column(column: Any, where: str) -> Array:
    polars = sys.modules["polars"]
    kind = column.dtype
    if kind == polars.Object or kind.is_decimal():
        return _as_objects(column.to_list())
    if not (kind.is_numeric() or kind in (polars.Boolean, polars.Null)):
        raise TypeError(f"{where}: {NOT_NUMBERS}")
    if kind.is_integer() and 0 < column.null_count() < len(column):
        check_exact((int(column.min()), int(column.max())), where)
    if column.null_count() > 0:
        column = column.cast(polars.Float64)
    return np.asarray(column.to_numpy())


def _arrow_column(column: Any, where: str) -> Array:
    import pyarrow
    from pyarrow import types

    kind = column.type
    if not _are_arrow_numbers(kind):
        raise TypeError(f"{where}: {NOT_NUMBERS}")
    if types.is_decimal(kind):
        return _as_objects(column.to_pylist())
    if column.null_count > 0:
        try:
            if types.is_boolean(kind):
                column = column.cast(pyarrow.uint8())
            column = column.cast(pyarrow.float64())
        except pyarrow.ArrowInvalid as error:
            raise ValueError(f"{where}: {error}") from None
    return np.asarray(column)
