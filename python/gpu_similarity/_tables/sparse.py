"""Sparse matrices on the way in: compressed sparse rows, which the library reads as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .frames import checked_csr
from .numbers import Array, in_table_type


class SparseRows:
    """A sparse table in compressed sparse rows, a variable a row; what is not stored is 0.

    Attributes
    ----------
    row_begin : ndarray of int32 or int64, shape (rows + 1,)
        Where the stored values of each row begin.
    column : ndarray of the same type, shape (stored,)
        Their columns, ascending within a row.
    values : ndarray, shape (stored,)
        The values.
    shape : tuple of int
        Rows and columns.
    """

    __slots__ = ("column", "row_begin", "shape", "values")

    def __init__(self, row_begin: Array, column: Array, values: Array, shape: Any) -> None:
        self.row_begin = row_begin
        self.column = column
        self.values = values
        self.shape = (int(shape[0]), int(shape[1]))

    def __len__(self) -> int:
        return self.shape[0]


def sparse_rows(
    x: Any, argument: str, *, copy: bool | None, ordinal: bool, in_columns: bool
) -> SparseRows:
    """A sparse matrix of SciPy as SparseRows.

    Its arrays are read in place where they are CSR with the variables in rows, or CSC with the
    variables in columns, with sorted indices. Another format is converted once; the table is never
    dense as a whole.
    """
    matrix = checked_csr(x, argument, in_columns=in_columns)
    taken = "csc" if in_columns else "csr"
    if copy is False and not (x.format == taken and x.has_canonical_format):
        said = f"{x.format} with indices that are not sorted" if x.format == taken else x.format
        raise ValueError(
            f"{argument}: got a sparse matrix in {said}, which is not read in place, and "
            f"copy=False forbids a copy; {taken} with sorted indices is"
        )
    values = in_table_type(matrix.data, argument, copy, ordinal)
    row_begin, column = matrix.indptr, matrix.indices
    if row_begin.dtype != column.dtype or column.dtype not in (np.int32, np.int64):
        row_begin, column = row_begin.astype(np.int64), column.astype(np.int64)
    return SparseRows(row_begin, column, values, matrix.shape)
