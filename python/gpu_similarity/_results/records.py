"""What all results over all pairs share, and arrays of records of pairs."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .._shared.options import ALL_MEASURES, Measure, Tail
from .summary import PairSummary

_SHOWN = 5

Names = npt.NDArray[Any] | None


class PairResult:
    """What every result over all pairs has.

    Attributes
    ----------
    names, y_names, measure, summary
        As `Edges` has them.
    """

    __slots__ = ("_common",)

    def __init__(self, *common: Any) -> None:
        # Summary, measure, names, names of y. One attribute for all, because that takes less time
        # and every call makes a result. The summary stays in its compiled form until it is read.
        self._common = common

    @property
    def summary(self) -> PairSummary:
        """What the run did."""
        summary = self._common[0]
        if type(summary) is not PairSummary:
            summary = summary.told()
            self._common = (summary, *self._common[1:])
        return cast(PairSummary, summary)

    @property
    def measure(self) -> Measure:
        """The name of the measure, as "spearman"."""
        return cast(Measure, self._common[1])

    @property
    def names(self) -> Names:
        """Names of the rows of the table, of x against y those of x; None without names."""
        return cast(Names, self._common[2])

    @property
    def y_names(self) -> Names:
        """Of x against y: names of the rows of y."""
        return cast(Names, self._common[3])

    def __getstate__(self) -> object:
        _ = self.summary  # converts it: its compiled form cannot be pickled
        return object.__getstate__(self)

    @property
    def symbol(self) -> str:
        """The symbol of the statistic, as "rho"."""
        return ALL_MEASURES[self.measure].symbol

    @property
    def has_p(self) -> bool:
        """Whether the run has a significance test; without one every p is NaN."""
        return ALL_MEASURES[self.measure].has_p and self.summary.observations > 0

    @property
    def _tail(self) -> Tail:
        summary = self.summary
        if np.isneginf(summary.cut_at_most):
            return "greater"
        return "less" if np.isposinf(summary.cut_at_least) else "two-sided"

    @property
    def other_names(self) -> Names:
        """Names of the second row of each pair: of y, or of the only table."""
        return self.names if self.summary.y_rows is None else self.y_names

    @property
    def other_rows(self) -> int:
        """Rows that the second row of a pair is one of."""
        summary = self.summary
        return summary.rows if summary.y_rows is None else summary.y_rows

    def label(self, row: int) -> Any:
        """The name of a row, or its number where rows have no names."""
        return int(row) if self.names is None else self.names[row]

    def other_label(self, row: int) -> Any:
        """As `label`, of the second row of a pair."""
        names = self.other_names
        return int(row) if names is None else names[row]


class EdgeRecords(PairResult):
    """Results that are an array of records of pairs of rows: row, col, statistic and p.

    Attributes
    ----------
    records : ndarray of records
        The memory that the library filled.
    """

    __slots__ = ("records",)

    def __init__(self, records: npt.NDArray[Any], *common: Any) -> None:
        self.records = records
        self._common = common

    @property
    def statistic(self) -> npt.NDArray[np.float64]:
        """The statistic of each record."""
        return self.records["statistic"]

    @property
    def p(self) -> npt.NDArray[np.float64]:
        """p of the filter's tail, not adjusted; NaN where the measure has no test."""
        return self.records["p"]

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        lines = [f"  {self._line(record)}" for record in self.records[:_SHOWN]]
        if len(self) > _SHOWN:
            lines.append(f"  ... {len(self) - _SHOWN:,} more")
        return "\n".join([self._head(), *lines])

    @abstractmethod
    def _head(self) -> str:
        """The first line of the text for people."""

    @abstractmethod
    def _line(self, record: Any) -> str:
        """A record in that text."""

    @property
    def row(self) -> npt.NDArray[np.int64]:
        """The smaller row number of each pair; of x against y, the row of x. A new array."""
        return self.records["row"].astype(np.int64)

    @property
    def col(self) -> npt.NDArray[np.int64]:
        """The larger row number of each pair; of x against y, the row of y. A new array."""
        return self.records["col"].astype(np.int64)


def categorical(numbers: npt.NDArray[Any], names: npt.NDArray[Any], argument: str) -> Any:
    """A pandas.Categorical of names by number: 4 bytes an edge at most, whatever the names are."""
    import pandas

    index = pandas.Index(names)
    if not index.is_unique or index.hasnans:
        what = "name is missing" if index.hasnans else "name repeats"
        raise ValueError(f"{argument}: a {what}; categories have to be different and there")
    return pandas.Categorical.from_codes(numbers.astype(np.int32), categories=index)
