"""Edges: the kept pairs, as an array and as the objects of other packages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .._shared.messages import integer
from .._shared.needed import needed
from .._shared.options import Adjustment, adjustment_of
from .._tables.arrays import observation_counts
from . import edge_text as _edge_text
from . import graph_files as _graph_files
from . import modules as _modules
from .maxima import MaxT
from .records import EdgeRecords, categorical
from .test_of_correlation import adjusted_p_values, confidence_interval

if TYPE_CHECKING:
    import igraph
    import networkx
    import pandas
    import polars
    import pyarrow
    from scipy import sparse

EDGE_DTYPE = np.dtype([("row", "<u4"), ("col", "<u4"), ("statistic", "<f8"), ("p", "<f8")])


class Edges(EdgeRecords):
    """The pairs that passed the filter: (row, col), row < col, or a row of x and one of y.

    Attributes
    ----------
    records : ndarray of records, shape (edges,)
        Fields row, col (uint32, whose differences wrap), statistic and p (float64); the memory that
        the library filled, 24 bytes an edge.
    row, col : ndarray of int64, shape (edges,)
        Copies of these fields, for arithmetic: a new array each time, so take it before a loop.
    statistic, p : ndarray of float64, shape (edges,)
        Views of these fields.
    names : ndarray or None
        Names of the rows of the table, of x against y those of x.
    y_names : ndarray or None
        Of x against y: names of the rows of y, that `col` is about.
    measure : str
        The name of the measure, as "spearman".
    summary : PairSummary
        What the run did.
    """

    __slots__ = ()

    def _with(self, records: npt.NDArray[Any]) -> Edges:
        return Edges(records, *self._common)

    @property
    def _is_pairwise(self) -> bool:
        """Whether an edge may have observations of its own: a fifth thing in common, if given."""
        return len(self._common) > 4 and bool(self._common[4])

    def __getitem__(self, which: Any) -> Any:
        """Records by number; a slice, a mask or numbers give Edges."""
        chosen = self.records[which]
        if isinstance(chosen, np.ndarray):
            return self._with(chosen)
        return chosen

    def _head(self) -> str:
        summary = self.summary
        return (
            f"Edges: {len(self):,} of {summary.pairs_tested:,} pairs of {summary.shape()}, "
            f"{self.measure}, {summary.cut(self.symbol)}"
        )

    def _line(self, record: Any) -> str:
        p = f"  p = {record['p']:.3g}" if self.has_p else ""
        return (
            f"{self.label(record['row'])} -- {self.other_label(record['col'])}  "
            f"{record['statistic']:.6f}{p}"
        )

    def best(self, count: int = 10) -> Edges:
        """The `count` edges of largest magnitude, best first; ties in the order of the list."""
        magnitude = np.abs(self.statistic)
        count = integer("count", count)
        if count < 0:
            raise ValueError(f"count: got {count}, expected at least 0")
        order = np.argsort(-magnitude, kind="stable")[:count]
        return self._with(self.records[order])

    def adjusted_p(
        self, adjust: Adjustment | MaxT = "benjamini-hochberg"
    ) -> npt.NDArray[np.float64]:
        """q of each edge, in the family of all tested pairs: the least max_p that would keep it.

        Of "benjamini-hochberg" exact where the cut on p alone decided, because what was left out
        has larger p; beside `min_abs` an upper bound. Of what `max_t` gave for the same tables and
        measure: by permutation, of any edges.

        Raises
        ------
        ValueError
            Where these are not all edges of the run, or the run was a part: q depends on all.
        """
        if isinstance(adjust, MaxT):
            if adjust.measure != self.measure:
                raise ValueError(
                    f"adjust: got maxima of {adjust.measure}, expected those of {self.measure}"
                )
            return np.asarray(adjust.adjusted_p(self.statistic))
        summary = self.summary
        is_part = summary.part_begin != 0 or summary.part_end != summary.rows
        if len(self) != summary.pairs_kept or is_part:
            raise ValueError(
                f"adjusted_p: got {len(self):,} of {summary.pairs_kept:,} edges"
                f"{' of a part' if is_part else ''}, expected all of a whole run"
            )
        return adjusted_p_values(self.p, summary.pairs_tested, adjust=adjust)

    def confidence_interval(
        self, confidence: float = 0.95, *, observations: npt.ArrayLike | None = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The lower and upper bounds of the two-sided interval of each statistic.

        As `gpu_similarity.confidence_interval` says, for the columns of the table, or for
        `observations` of each edge.

        Raises
        ------
        ValueError
            Where edges are of nans="pairwise", each with observations of its own, and these are
            not given: observations=gs.observations(x, pairs=edges).
        Unsupported
            Where the measure has no interval, as cosine.
        """
        if observations is None and self._is_pairwise:
            raise ValueError(
                'observations: got None for edges of nans="pairwise", expected those of each edge, '
                "as gs.observations(x, pairs=edges)"
            )
        counts = self.summary.observations if observations is None else observations
        return confidence_interval(
            self.statistic, counts, measure=self.measure, confidence=confidence
        )

    def to_pandas(
        self,
        *,
        adjust: Adjustment | MaxT = "none",
        categories: bool = False,
        confidence: float | None = None,
        observations: npt.ArrayLike | None = None,
    ) -> pandas.DataFrame:
        """A pandas.DataFrame with the columns row, col, statistic, p; names in place of numbers.

        Parameters
        ----------
        adjust : {"none", "bonferroni", "benjamini-hochberg", "bh"} or MaxT
            Adds the column q, as `adjusted_p` gives it.
        categories : bool
            True makes row and col categorical where rows have names: 4 bytes each for an edge, in
            place of 8, and groups and comparisons by number.
        confidence : float, optional
            Adds the columns lower and upper, as `confidence_interval` gives them.
        observations : array_like of int or float, optional
            Of each edge: adds the column n, and is what `confidence` goes by; needed for that of
            edges of nans="pairwise". observations=gs.observations(x, pairs=edges).

        Raises
        ------
        ValueError
            As `adjusted_p` and `confidence_interval`; for another number of observations; with
            `categories` for names that repeat or are missing.
        """
        import pandas

        row, col = self._ends(categories)
        columns = {"row": row, "col": col, "statistic": self.statistic, "p": self.p}
        columns.update(self._more_columns(adjust, confidence, observations))
        return pandas.DataFrame(columns)

    def to_arrow(
        self,
        *,
        adjust: Adjustment | MaxT = "none",
        confidence: float | None = None,
        observations: npt.ArrayLike | None = None,
    ) -> pyarrow.Table:
        """A pyarrow.Table with the columns row, col, statistic, p; names as dictionaries.

        Parameters
        ----------
        adjust, confidence, observations
            Add the columns n, q, lower and upper, as of `to_pandas`.

        Raises
        ------
        ValueError
            As `adjusted_p` and `confidence_interval`.
        """
        import pyarrow

        from . import arrow_tables

        more = self._more_columns(adjust, confidence, observations)
        table = arrow_tables.table(self.records, self.names, self.other_names)
        for name, values in more.items():
            table = table.append_column(name, pyarrow.array(values))
        return table

    def to_polars(
        self,
        *,
        adjust: Adjustment | MaxT = "none",
        confidence: float | None = None,
        observations: npt.ArrayLike | None = None,
    ) -> polars.DataFrame:
        """A polars.DataFrame with the columns of `to_arrow`; needs pyarrow."""
        import polars

        table = self.to_arrow(adjust=adjust, confidence=confidence, observations=observations)
        return polars.DataFrame(table)

    def to_csv(
        self,
        path: Any,
        *,
        adjust: Adjustment | MaxT = "none",
        confidence: float | None = None,
        observations: npt.ArrayLike | None = None,
        separator: str | None = None,
    ) -> None:
        """Writes text with a header line: row, col, statistic, p; names in place of numbers.

        Needs no other package. Numbers have the fewest digits that give the same double, and NaN is
        an empty field. Names that hold the separator, a quote or the end of a line stand in quotes,
        as RFC 4180 has it.

        Parameters
        ----------
        path : str or path
            Where to. What it ends in says the separator (".tsv", ".tab": a tab, else a comma) and
            the compression (".gz", ".bz2", ".xz", behind the other ending or alone).
        adjust, confidence, observations
            Add the columns n, q, lower and upper, as of `to_pandas`.
        separator : str, optional
            One character between fields, whatever the path ends in.

        Raises
        ------
        ValueError
            As `adjusted_p` and `confidence_interval`; for another separator, and for a path that
            ends as a file that is no text, as ".parquet" does. No file is made then.
        """
        found = _edge_text.separator_of(path, separator)
        more = self._more_columns(adjust, confidence, observations)
        _edge_text.write_csv(self, path, more, found)

    def _more_columns(
        self,
        adjust: Adjustment | MaxT,
        confidence: float | None,
        observations: npt.ArrayLike | None,
    ) -> dict[str, npt.NDArray[Any]]:
        """The columns n, q, lower and upper, where they are asked for."""
        columns: dict[str, npt.NDArray[Any]] = {}
        if observations is not None:
            counts = observation_counts(observations, "observations")
            if counts.ndim > 0 and counts.shape != (len(self),):
                raise ValueError(
                    f"observations: got {counts.shape}, expected one of each of {len(self)} edges"
                )
            is_whole = bool(np.all(counts == np.floor(counts)))
            columns["n"] = np.broadcast_to(counts, len(self)).astype("i8" if is_whole else "f8")
        if isinstance(adjust, MaxT) or adjustment_of(adjust) != "none":
            columns["q"] = self.adjusted_p(adjust)
        if confidence is not None:
            columns["lower"], columns["upper"] = self.confidence_interval(
                confidence, observations=observations
            )
        return columns

    def to_scipy(
        self, value: Literal["statistic", "p"] = "statistic", *, symmetric: bool = True
    ) -> sparse.csr_array:
        """A scipy.sparse.csr_array [rows, rows] of `value`: "statistic" or "p".

        With `symmetric` both triangles are filled, else the upper one. The diagonal is empty. Of x
        against y: [rows of x, rows of y].
        """
        from scipy import sparse

        data = self.records[value].astype(np.float64)
        i, j = self.row, self.col
        if symmetric and not self._is_bipartite:
            i, j = np.concatenate([i, j]), np.concatenate([j, i])
            data = np.concatenate([data, data])
        shape = (self.summary.rows, self.other_rows)
        return sparse.coo_array((data, (i, j)), shape=shape).tocsr()

    def to_networkx(
        self, *, isolated: bool = False, nodes: Literal["names", "rows"] = "names"
    ) -> networkx.Graph[Any]:
        """A networkx.Graph whose edges have the attributes statistic and p.

        Nodes are the names of the rows, or their numbers where rows have no names or with
        nodes="rows"; then each has its name as the attribute label. Rows without an edge are nodes
        only with `isolated`. Of x against y, nodes are ("x", name) and ("y", name), with the
        attribute bipartite 0 and 1.

        Raises
        ------
        ValueError
            Where two rows of the graph have one name, which would be one node, or a name is
            missing; nodes="rows" takes them.
        """
        package = needed("networkx", "graphs")

        if nodes not in ("names", "rows"):
            raise ValueError(f"nodes: got {nodes!r}, expected 'names' or 'rows'")
        graph: networkx.Graph[Any] = package.Graph()
        if self._is_bipartite:
            rows = self._add_nodes(graph, "names", "x", self.row, isolated, nodes)
            cols = self._add_nodes(graph, "y_names", "y", self.col, isolated, nodes)
        else:
            ends = np.concatenate([self.row, self.col])
            rows = cols = self._add_nodes(graph, "names", None, ends, isolated, nodes)
        columns = (self.row, self.col, self.statistic, self.p)
        values = zip(*(column.tolist() for column in columns), strict=True)
        graph.add_edges_from((rows[i], cols[j], {"statistic": s, "p": p}) for i, j, s, p in values)
        return graph

    def _add_nodes(
        self,
        graph: Any,
        argument: str,
        side: str | None,
        used: npt.NDArray[Any],
        isolated: bool,
        nodes: str,
    ) -> dict[int, Any]:
        """Adds the rows of one side, and gives the node of each."""
        of_y = side == "y"
        names = self.other_names if of_y else self.names
        count = self.other_rows if of_y else self.summary.rows
        rows: list[int] = list(range(count)) if isolated else np.unique(used).tolist()
        labels = rows if names is None else names[np.asarray(rows, dtype=np.int64)].tolist()
        if nodes == "names" and names is not None:
            _check_unique(argument, rows, labels)
        own = labels if nodes == "names" else rows
        found = dict(
            zip(rows, own if side is None else [(side, name) for name in own], strict=True)
        )
        graph.add_nodes_from(found.values(), **({} if side is None else {"bipartite": int(of_y)}))
        if nodes == "rows" and names is not None:
            for row, label in zip(rows, labels, strict=True):
                graph.nodes[found[row]]["label"] = label
        return found

    def to_igraph(self) -> igraph.Graph:
        """An igraph.Graph of all rows, with the edge attributes statistic and p, and names.

        Of x against y, the rows of y follow those of x, and the vertex attribute type is True for
        them, as igraph's bipartite graphs have it.
        """
        package = needed("igraph", "graphs")

        rows, others = self.summary.rows, self.other_rows if self._is_bipartite else 0
        ends = np.stack([self.row, self.col], axis=1)
        if self._is_bipartite:
            ends[:, 1] += rows
        graph: igraph.Graph = package.Graph(n=rows + others, edges=ends)
        graph.es["statistic"] = self.statistic.tolist()
        graph.es["p"] = self.p.tolist()
        if self._is_bipartite:
            graph.vs["type"] = [False] * rows + [True] * others
        if self.names is not None or self.other_names is not None:
            names = [self.label(i) for i in range(rows)]
            graph.vs["name"] = names + [self.other_label(i) for i in range(others)]
        return graph

    def modules(
        self,
        method: Literal["components", "leiden"] = "components",
        *,
        min_abs: float = 0.0,
        resolution: float = 1.0,
        seed: int = 0,
    ) -> npt.NDArray[np.int64]:
        """The module of each row, from 1 on: the largest is 1; of two that are
        equally large the one with the earlier row comes first.

        A row without an edge is a module of its own. Of x against y, the rows of y follow those of
        x.

        Parameters
        ----------
        method : {"components", "leiden"}
            Rows that edges connect, directly or through others; or Leiden's communities by
            modularity, weighted by the magnitudes of the statistics. Leiden needs igraph.
        min_abs : float
            Leaves out edges of a smaller magnitude. The components are the clusters of single
            linkage at this cut.
        resolution : float
            Of "leiden": a higher one gives more and smaller modules.
        seed : int
            Of "leiden": of the random numbers that it draws.

        Examples
        --------
        >>> import gpu_similarity as gs, numpy as np
        >>> x = np.array([[1.0, 2, 3, 5], [2, 4, 6, 11], [4, 1, 3, 1], [9, 2, 7, 2], [1, 1, 2, 1]])
        >>> gs.pearson_edges(x, min_abs=0.9).modules()
        array([1, 1, 2, 2, 3])
        """
        if method not in ("components", "leiden"):
            raise ValueError(f"method: got {method!r}, expected 'components' or 'leiden'")
        kept = self[np.abs(self.statistic) >= min_abs] if min_abs > 0 else self
        if method == "leiden":
            graph = kept.to_igraph()
            found = _modules.communities(graph, kept.statistic, resolution, seed)
            return _modules.numbered(found)
        rows = self.summary.rows
        others = self.other_rows if self._is_bipartite else 0
        cols = kept.col + rows if self._is_bipartite else kept.col
        return _modules.numbered(_modules.components(kept.row, cols, rows + others))

    def to_matrix_market(
        self, path: Any, *, value: Literal["statistic", "p"] = "statistic"
    ) -> Path | None:
        """Writes a MatrixMarket file, as R's readMM and scipy.io.mmread read it. Needs SciPy.

        Of one table a symmetric matrix [rows, rows] without its diagonal, of x against y a general
        one [rows of x, rows of y]. Rows and columns count from 1 in the file.

        Parameters
        ----------
        path : str or path
            Where to; any number of edges.
        value : {"statistic", "p"}
            The entries.

        Returns
        -------
        Path or None
            Of a second file, PATH.names, where rows have names: one a line, of x and then of y.
        """
        return _graph_files.write_matrix_market(self, path, value)

    def to_graphml(self, path: Any, *, isolated: bool = False) -> None:
        """Writes GraphML, as Cytoscape, Gephi, igraph and networkx read it. Needs igraph.

        Edges have statistic, p and weight (the magnitude of the statistic), nodes have their name;
        names may repeat. Numbers have 15 digits. Rows without an edge are nodes only with
        `isolated`.

        Raises
        ------
        ValueError
            For more than a million edges.
        """
        _graph_files.write_graphml(self, self.to_igraph, path, isolated)

    def to_sif(self, path: Any, *, interaction: str | None = None) -> Path | None:
        """Writes Cytoscape's simple interaction format: a line "name, interaction, name" an edge.

        Parameters
        ----------
        path : str or path
            Where to.
        interaction : str, optional
            The word between the names; default: "positive" or "negative", the sign.

        Returns
        -------
        Path or None
            Nodes are the numbers of rows from 0 (of x against y those of y follow those of x) where
            rows have no names, or names that look like numbers, repeat, are empty or hold tabs.
            Then PATH.names has a name a line, and its path is the answer.

        Raises
        ------
        ValueError
            For more than a million edges.
        """
        return _graph_files.write_sif(self, path, interaction)

    def to_ncol(
        self, path: Any, *, value: Literal["magnitude", "statistic", "p"] = "magnitude"
    ) -> Path | None:
        """Writes ncol, "name name weight" a line, as igraph and others read it.

        Parameters
        ----------
        path : str or path
            Where to.
        value : {"magnitude", "statistic", "p"}
            The weight: by default abs(statistic), because many algorithms take no negative one.

        Returns
        -------
        Path or None
            As of `to_sif`; names with blanks or beyond ASCII are replaced by numbers too.

        Raises
        ------
        ValueError
            For more than a million edges.
        """
        return _graph_files.write_ncol(self, path, value)

    @property
    def _is_bipartite(self) -> bool:
        return self.summary.y_rows is not None

    def _ends(self, categories: bool) -> tuple[Any, Any]:
        names = (self.names, self.other_names)
        of_y = "y_names" if self._is_bipartite else "names"
        return tuple(
            numbers
            if own is None
            else categorical(numbers, own, argument)
            if categories
            else own[numbers]
            for numbers, own, argument in zip(
                (self.row, self.col), names, ("names", of_y), strict=True
            )
        )  # type: ignore[return-value]


def _check_unique(argument: str, rows: list[int], labels: list[Any]) -> None:
    """Refuses names that would make one node of several rows."""
    first: dict[Any, int] = {}
    for row, label in zip(rows, labels, strict=True):
        if label is None or label != label:
            raise ValueError(
                f"{argument}: row {row} has no name ({label!r}); nodes='rows' takes row numbers"
            )
        other = first.setdefault(label, row)
        if other != row:
            raise ValueError(
                f"{argument}: rows {other} and {row} have the same name {label!r}, which would be "
                "one node; nodes='rows' takes row numbers, with the names as the attribute label"
            )
