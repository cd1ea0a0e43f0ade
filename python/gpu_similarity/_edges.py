"""Edges: the kept pairs, as an array and as the objects of other packages."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._summary import PairSummary, summary_from

_SHOWN = 5
_SYMBOLS = {"spearman": "rho", "pearson": "r"}


class Edges:
    """The pairs (row, col), row < col, that passed the filter.

    Attributes
    ----------
    records : ndarray of records, shape (edges,)
        Fields row, col (uint32), statistic and p (float64); the memory that the library filled.
    row, col, statistic, p : ndarray, shape (edges,)
        The fields of `records`, as views.
    names : ndarray or None
        Names of the rows.
    measure : str
        "spearman" or "pearson".
    summary : PairSummary
        What the run did.
    """

    __slots__ = ("measure", "names", "records", "summary")

    def __init__(
        self,
        records: npt.NDArray[Any],
        summary: PairSummary,
        measure: str = "spearman",
        names: npt.NDArray[Any] | None = None,
    ) -> None:
        self.records = records
        self.summary = summary
        self.measure = measure
        self.names = names

    @property
    def row(self) -> npt.NDArray[np.uint32]:
        """The smaller row number of each pair."""
        return self.records["row"]

    @property
    def col(self) -> npt.NDArray[np.uint32]:
        """The larger row number of each pair."""
        return self.records["col"]

    @property
    def statistic(self) -> npt.NDArray[np.float64]:
        """rho or r."""
        return self.records["statistic"]

    @property
    def p(self) -> npt.NDArray[np.float64]:
        """p of the filter's tail, not adjusted."""
        return self.records["p"]

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, which: Any) -> Any:
        """Records by number; a slice, a mask or numbers give Edges."""
        chosen = self.records[which]
        if isinstance(chosen, np.ndarray):
            return Edges(chosen, self.summary, self.measure, self.names)
        return chosen

    def __repr__(self) -> str:
        summary = self.summary
        head = (
            f"Edges: {len(self):,} of {summary.pairs_tested:,} pairs of {summary.rows:,} rows, "
            f"{self.measure}, {summary.cut(_SYMBOLS.get(self.measure, 'r'))}"
        )
        lines = [
            f"  {self.label(e['row'])} -- {self.label(e['col'])}  "
            f"{e['statistic']:.6f}  p = {e['p']:.3g}"
            for e in self.records[:_SHOWN]
        ]
        if len(self) > _SHOWN:
            lines.append(f"  ... {len(self) - _SHOWN:,} more")
        return "\n".join([head, *lines])

    def label(self, row: int) -> Any:
        """The name of a row, or its number where rows have no names."""
        return int(row) if self.names is None else self.names[row]

    def best(self, count: int = 10) -> Edges:
        """The `count` edges of largest magnitude, best first; ties in the order of the list."""
        magnitude = np.abs(self.statistic)
        order = np.argsort(-magnitude, kind="stable")[:count]
        return Edges(self.records[order], self.summary, self.measure, self.names)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with the columns row, col, statistic, p; names in place of numbers."""
        import pandas

        row, col = self._ends()
        return pandas.DataFrame({"row": row, "col": col, "statistic": self.statistic, "p": self.p})

    def to_arrow(self) -> Any:
        """A pyarrow.Table with the columns row, col, statistic, p; names as dictionaries."""
        from . import arrow

        return arrow.table(self.records, self.names)

    def to_scipy(self, value: str = "statistic", *, symmetric: bool = True) -> Any:
        """A scipy.sparse.csr_array [rows, rows] of `value`: "statistic" or "p".

        With `symmetric` both triangles are filled, else the upper one. The diagonal is empty.
        """
        from scipy import sparse

        n = self.summary.rows
        data = self.records[value].astype(np.float64)
        i, j = self.row.astype(np.int64), self.col.astype(np.int64)
        if symmetric:
            i, j = np.concatenate([i, j]), np.concatenate([j, i])
            data = np.concatenate([data, data])
        return sparse.coo_array((data, (i, j)), shape=(n, n)).tocsr()

    def to_networkx(self, *, isolated: bool = False) -> Any:
        """A networkx.Graph whose edges have the attributes statistic and p.

        Nodes are the names or numbers of the rows; those without an edge only with `isolated`.
        """
        import networkx

        graph = networkx.Graph()
        if isolated:
            graph.add_nodes_from(self.label(i) for i in range(self.summary.rows))
        row, col = self._ends()
        graph.add_edges_from(
            (i, j, {"statistic": s, "p": p})
            for i, j, s, p in zip(
                row.tolist(), col.tolist(), self.statistic.tolist(), self.p.tolist(), strict=True
            )
        )
        return graph

    def to_igraph(self) -> Any:
        """An igraph.Graph of all rows, with the edge attributes statistic and p, and names."""
        import igraph

        ends = np.stack([self.row, self.col], axis=1).astype(np.int64)
        graph = igraph.Graph(n=self.summary.rows, edges=ends)
        graph.es["statistic"] = self.statistic.tolist()
        graph.es["p"] = self.p.tolist()
        if self.names is not None:
            graph.vs["name"] = self.names.tolist()
        return graph

    def _ends(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        if self.names is None:
            return self.row, self.col
        return self.names[self.row], self.names[self.col]


def edges_from(answer: tuple[Any, Any], measure: str, names: npt.NDArray[Any] | None) -> Edges:
    """Edges from the compiled part's records and summary."""
    records, fields = answer
    return Edges(records, summary_from(fields), measure, names)
