"""Edges in batches, for results larger than memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy.typing as npt

from .. import _core
from .._results.edges import Edges
from .._results.records import Names
from .._results.summary import PairSummary, running_summary
from .._shared.options import Measure
from .._tables.places import computed
from .call import PairCall, tested_observations

if TYPE_CHECKING:
    import pyarrow

Batch = TypeVar("Batch")


class BatchStream(Iterator[Batch], Generic[Batch]):
    """An iterator over batches of a run on a thread of its own."""

    def __init__(self, stream: Any, call: PairCall) -> None:
        self._stream = stream
        self._arrays = call.arrays  # behind the stream: attributes are dropped in their order
        self._places = call.places
        measure = call.options.get("measure", "spearman")
        observations = tested_observations(measure, call)
        self._running = running_summary(call.rows, call.cols, observations, call.y_rows)
        self.names = call.names
        self.summary: PairSummary | None = None

    @abstractmethod
    def _batch(self, records: npt.NDArray[Any]) -> Batch: ...

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Batch:
        records = computed(self._stream.next, self._places)
        if records is None:
            if self.summary is None:
                self.summary = self._stream.summary()
            raise StopIteration
        return self._batch(records)

    def close(self) -> None:
        """Ends the run; batches that were not read are dropped."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class EdgeStream(BatchStream[Edges]):
    """An iterator over batches of edges, as `stream` gives it.

    The pairs are computed on a thread of their own, at most a few batches ahead of the reader.
    Leave it early by `close()`, by the end of a `with` block, or by dropping it.

    Attributes
    ----------
    names, y_names : ndarray or None
        Names of the rows of x and of y.
    measure : str
        The name of the measure, as "spearman".
    summary : PairSummary or None
        What the run did, once the last batch was read.
    """

    def __init__(self, call: PairCall, measure: Measure) -> None:
        stream = computed(_core.EdgeStream, call.places, call.x, call.y, call.options)
        super().__init__(stream, call)
        self.measure = measure
        self.y_names = call.y_names
        self._is_pairwise = call.options.get("nans") == "pairwise"

    @property
    def other_names(self) -> Names:
        """Names of the second row of each pair: of y, or of the only table."""
        return self.names if self._running.y_rows is None else self.y_names

    def _batch(self, records: npt.NDArray[Any]) -> Edges:
        common = (self._running, self.measure, self.names, self.y_names, self._is_pairwise)
        return Edges(records, *common)

    def to_arrow_reader(self) -> pyarrow.RecordBatchReader:
        """A pyarrow.RecordBatchReader over the batches."""
        from .._results import arrow_tables

        return arrow_tables.reader(self)

    def to_parquet(self, path: Any, **options: Any) -> int:
        """Writes all edges to a Parquet file and gives their number; see arrow.write_parquet."""
        from .._results import arrow_tables

        return arrow_tables.write_parquet(self, path, **options)
