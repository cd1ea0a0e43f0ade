"""Edges in batches, for results larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._edges import Edges
from ._summary import PairSummary, summary_from

_UNKNOWN = np.empty(0, np.int64)


class EdgeStream(Iterator[Edges]):
    """An iterator over batches of edges, as `stream` gives it.

    The pairs are computed on a thread of their own, at most a few batches ahead of the reader.
    Leave it early by `close()`, by the end of a `with` block, or by dropping it.

    Attributes
    ----------
    names : ndarray or None
        Names of the rows.
    measure : str
        "spearman" or "pearson".
    summary : PairSummary or None
        What the run did, once the last batch was read.
    """

    def __init__(
        self,
        data: npt.NDArray[Any],
        options: dict[str, Any],
        measure: str,
        names: npt.NDArray[Any] | None,
    ) -> None:
        self._stream = _core.EdgeStream(data, options)
        rows, cols = data.shape
        self._running = PairSummary(
            rows,
            cols,
            _UNKNOWN,
            _UNKNOWN,
            0,
            rows * (rows - 1) // 2,
            0,
            1.0,
            0.0,
            0.0,
            0.0,
            "",
            "",
            "",
            0,
            0,
        )
        self.measure = measure
        self.names = names
        self.summary: PairSummary | None = None

    def __iter__(self) -> EdgeStream:
        return self

    def __next__(self) -> Edges:
        content = self._stream.next()
        if content is None:
            if self.summary is None:
                fields = self._stream.summary()
                self.summary = None if fields is None else summary_from(fields)
            raise StopIteration
        return Edges(content, self._running, self.measure, self.names)

    def close(self) -> None:
        """Ends the run; batches that were not read are dropped."""
        self._stream.close()

    def __enter__(self) -> EdgeStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def to_arrow_reader(self) -> Any:
        """A pyarrow.RecordBatchReader over the batches."""
        from . import arrow

        return arrow.reader(self)

    def to_parquet(self, path: Any, **options: Any) -> int:
        """Writes all edges to a Parquet file and gives their number; see arrow.write_parquet."""
        from . import arrow

        return arrow.write_parquet(self, path, **options)
