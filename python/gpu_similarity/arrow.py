"""Edges as Apache Arrow: tables, record batches and Parquet files. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

if TYPE_CHECKING:
    from ._stream import EdgeStream

__all__ = ["batches", "reader", "schema", "table", "write_parquet"]

Records = npt.NDArray[Any]


def schema(names: npt.NDArray[Any] | None = None) -> pa.Schema:
    """The columns row, col, statistic, p; with names, row and col are dictionaries of them."""
    end = pa.uint32() if names is None else pa.dictionary(pa.int32(), _dictionary(names).type)
    return pa.schema([("row", end), ("col", end), ("statistic", pa.float64()), ("p", pa.float64())])


def batch(records: Records, names: npt.NDArray[Any] | None = None) -> pa.RecordBatch:
    """One record batch of edges."""
    dictionary = None if names is None else _dictionary(names)
    return _batch(records, dictionary, schema(names))


def table(records: Records, names: npt.NDArray[Any] | None = None) -> pa.Table:
    """A table of edges."""
    return pa.Table.from_batches([batch(records, names)])


def batches(stream: EdgeStream) -> Iterable[pa.RecordBatch]:
    """The batches of a stream as record batches, one at a time."""
    names = stream.names
    dictionary = None if names is None else _dictionary(names)
    columns = schema(names)
    for edges in stream:
        yield _batch(edges.records, dictionary, columns)


def reader(stream: EdgeStream) -> pa.RecordBatchReader:
    """A reader over the batches of a stream, as pyarrow.dataset and other engines take it."""
    return pa.RecordBatchReader.from_batches(schema(stream.names), iter(batches(stream)))


def write_parquet(stream: EdgeStream, path: Any, **options: Any) -> int:
    """Writes a stream to a Parquet file, batch by batch, in memory for a few batches.

    Parameters
    ----------
    stream : EdgeStream
        What `stream` gave; it is read to its end.
    path : str, path or file
        Where to.
    **options
        Passed to pyarrow.parquet.ParquetWriter.

    Returns
    -------
    int
        The number of edges written.
    """
    from pyarrow import parquet

    written = 0
    with parquet.ParquetWriter(path, schema(stream.names), **options) as writer:
        for record_batch in batches(stream):
            writer.write_batch(record_batch)
            written += record_batch.num_rows
    return written


def _dictionary(names: npt.NDArray[Any]) -> pa.Array:
    return pa.array(names.tolist() if names.dtype == object else names)


def _batch(records: Records, dictionary: pa.Array | None, columns: pa.Schema) -> pa.RecordBatch:
    ends: list[Any] = []
    for field in ("row", "col"):
        numbers = np.ascontiguousarray(records[field])
        if dictionary is None:
            ends.append(pa.array(numbers))
        else:
            ends.append(pa.DictionaryArray.from_arrays(numbers.astype(np.int32), dictionary))
    values = [pa.array(np.ascontiguousarray(records[field])) for field in ("statistic", "p")]
    return pa.RecordBatch.from_arrays([*ends, *values], schema=columns)
