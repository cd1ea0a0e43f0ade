"""Edges in batches, for results larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from .. import _core
from .._results.edges import Edges
from .._results.records import Names
from .._results.summary import PairSummary, running_summary
from .._shared.options import Measure
from .._tables.places import computed
from .call import PairCall, tested_observations

if TYPE_CHECKING:
    import pyarrow


class EdgeStream(Iterator[Edges]):
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
        self._stream = computed(_core.EdgeStream, call.places, call.x, call.y, call.options)
        self._arrays = call.arrays  # behind the stream: attributes are dropped in their order
        self._places = call.places
        observations = tested_observations(measure, call)
        self._running = running_summary(call.rows, call.cols, observations, call.y_rows)
        self.names = call.names
        self.summary: PairSummary | None = None
        self.measure = measure
        self.y_names = call.y_names
        self._is_pairwise = call.options.get("nans") == "pairwise"

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Edges:
        records = computed(self._stream.next, self._places)
        if records is None:
            if self.summary is None:
                self.summary = self._stream.summary()
            raise StopIteration
        common = (self._running, self.measure, self.names, self.y_names, self._is_pairwise)
        return Edges(records, *common)

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

    @property
    def other_names(self) -> Names:
        """Names of the second row of each pair: of y, or of the only table."""
        return self.names if self._running.y_rows is None else self.y_names

    def to_arrow_reader(self) -> pyarrow.RecordBatchReader:
        """A pyarrow.RecordBatchReader over the batches."""
        from .._results import arrow_tables

        return arrow_tables.reader(self)

    def to_parquet(self, path: Any, **options: Any) -> int:
        """Writes all edges to a Parquet file and gives their number; see arrow.write_parquet."""
        from .._results import arrow_tables

        return arrow_tables.write_parquet(self, path, **options)
