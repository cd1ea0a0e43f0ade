"""Edges as Apache Arrow: tables, record batches and Parquet files; of the module `arrow`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .records import EdgeRecords

Records = npt.NDArray[Any]
Names = npt.NDArray[Any] | None


class Batches(Protocol):
    """What `stream` gives, an EdgeStream: batches of edges, and the names of their rows."""

    @property
    def names(self) -> Names: ...

    @property
    def other_names(self) -> Names: ...

    def __iter__(self) -> Iterator[EdgeRecords]: ...


class _Columns:
    """The columns of edges whose rows and columns have these names, or None."""

    def __init__(self, names: Names, other_names: Names) -> None:
        self.dictionaries = [_dictionary(names), _dictionary(other_names)]
        row, col = (
            pa.int64() if d is None else pa.dictionary(pa.int32(), d.type)
            for d in self.dictionaries
        )
        numbers = [("statistic", pa.float64()), ("p", pa.float64())]
        self.schema = pa.schema([("row", row), ("col", col), *numbers])

    def batch(self, records: Records) -> pa.RecordBatch:
        columns: list[Any] = []
        for field, dictionary in zip(("row", "col"), self.dictionaries, strict=True):
            if dictionary is None:
                columns.append(pa.array(records[field].astype(np.int64)))
            else:
                indices = records[field].astype(np.int32)
                columns.append(pa.DictionaryArray.from_arrays(indices, dictionary))
        for field in ("statistic", "p"):
            columns.append(pa.array(np.ascontiguousarray(records[field])))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def schema(names: Names = None, other_names: Names = None) -> pa.Schema:
    """The columns row, col, statistic, p; with names, row and col are dictionaries of them."""
    return _Columns(names, other_names).schema


def batch(records: Records, names: Names = None, other_names: Names = None) -> pa.RecordBatch:
    """One record batch of edges."""
    return _Columns(names, other_names).batch(records)


def table(records: Records, names: Names = None, other_names: Names = None) -> pa.Table:
    """A table of edges."""
    return pa.Table.from_batches([batch(records, names, other_names)])


def batches(stream: Batches) -> Iterable[pa.RecordBatch]:
    """The batches of a stream as record batches, one at a time."""
    columns = _Columns(stream.names, stream.other_names)
    for edges in stream:
        yield columns.batch(edges.records)


def reader(stream: Batches) -> pa.RecordBatchReader:
    """A reader over the batches of a stream, as pyarrow.dataset and other engines take it."""
    return pa.RecordBatchReader.from_batches(
        schema(stream.names, stream.other_names), iter(batches(stream))
    )


def write_parquet(stream: Batches, path: Any, **options: Any) -> int:
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
    with parquet.ParquetWriter(path, schema(stream.names, stream.other_names), **options) as writer:
        for record_batch in batches(stream):
            writer.write_batch(record_batch)
            written += record_batch.num_rows
    return written


def _dictionary(names: Names) -> Any:
    if names is None:
        return None
    return pa.array(names.tolist() if names.dtype == object else names)
