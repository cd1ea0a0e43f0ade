"""Edges as files of programs for graphs: MatrixMarket, GraphML, SIF, ncol."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .records import EdgeRecords

# Programs that read these formats hold an object for each edge.
MOST_EDGES = 1_000_000
# What a program may take for the number of a node: igraph then makes as many nodes as it says.
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?$")
_BREAKS = re.compile(r"[\t\r\n\v\f\x00-\x1f\x7f]")


class _Nodes(NamedTuple):
    """The nodes of a graph: how each end of an edge is called in the file."""

    first: list[Any]
    second: list[Any]
    names: list[str] | None  # of the nodes by number, where the file has numbers in their place


def write_matrix_market(edges: EdgeRecords, path: Any, value: str) -> Path | None:
    from scipy import io, sparse

    if value not in ("statistic", "p"):
        raise ValueError(f"value: got {value!r}, expected 'statistic' or 'p'")
    shape = (edges.summary.rows, edges.other_rows)
    is_bipartite = edges.summary.y_rows is not None
    ends = edges.row, edges.col
    # The lower triangle alone, which is what the format has of a symmetric matrix.
    place = ends if is_bipartite else ends[::-1]
    matrix = sparse.coo_array((np.asarray(edges.records[value], dtype=np.float64), place), shape)
    comment = f" {value} of {edges.measure}: {edges.summary.cut(edges.symbol)}"
    with open(path, "wb") as file:
        io.mmwrite(
            file, matrix, comment=comment, symmetry="general" if is_bipartite else "symmetric"
        )
    return _write_names(path, _all_names(edges))


def write_graphml(edges: EdgeRecords, made: Callable[[], Any], path: Any, isolated: bool) -> None:
    """Writes the graph that `made` makes of the edges, once they are known to be few enough."""
    _check_count(edges, "to_graphml")
    graph = made()
    graph.es["weight"] = np.abs(edges.statistic).tolist()
    if not isolated:
        graph.delete_vertices([v for v, degree in enumerate(graph.degree()) if degree == 0])
    graph.write_graphml(os.fspath(path))


def write_sif(edges: EdgeRecords, path: Any, interaction: str | None) -> Path | None:
    _check_count(edges, "to_sif")
    nodes = _nodes(edges, blanks=True)
    if interaction is None:
        words = np.where(edges.statistic < 0, "negative", "positive").tolist()
    else:
        if not interaction or _BREAKS.search(interaction):
            raise ValueError(f"interaction: got {interaction!r}, expected a word without tabs")
        words = [interaction] * len(edges)
    lines = zip(nodes.first, words, nodes.second, strict=True)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{a}\t{word}\t{b}\n" for a, word, b in lines)
    return _write_names(path, nodes.names)


def write_ncol(edges: EdgeRecords, path: Any, value: str) -> Path | None:
    _check_count(edges, "to_ncol")
    if value not in ("statistic", "magnitude", "p"):
        raise ValueError(f"value: got {value!r}, expected 'statistic', 'magnitude' or 'p'")
    weights = np.abs(edges.statistic) if value == "magnitude" else edges.records[value]
    nodes = _nodes(edges, blanks=False)
    lines = zip(nodes.first, nodes.second, weights.tolist(), strict=True)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{a} {b} {weight!r}\n" for a, b, weight in lines)
    return _write_names(path, nodes.names)


def _check_count(edges: EdgeRecords, method: str) -> None:
    if len(edges) > MOST_EDGES:
        raise ValueError(
            f"{method}: got {len(edges):,} edges, expected at most {MOST_EDGES:,}: programs hold "
            "an object for each; take fewer, as edges.best(100_000), or to_matrix_market, which "
            "has no limit"
        )


def _nodes(edges: EdgeRecords, *, blanks: bool) -> _Nodes:
    """Names where each is one node for every reader, else numbers from 0 and a file of names."""
    offset = edges.summary.rows if edges.summary.y_rows is not None else 0
    names = _all_names(edges)
    first, second = edges.row.tolist(), (edges.col + offset).tolist()
    if names is None or not _are_safe([names[i] for i in {*first, *second}], blanks):
        return _Nodes(first, second, names)
    return _Nodes([names[i] for i in first], [names[i] for i in second], None)


def _are_safe(names: list[str], blanks: bool) -> bool:
    has_break = _BREAKS if blanks else re.compile(r"\s|[^\x21-\x7e]|^#")
    return len(set(names)) == len(names) and not any(
        not name or _NUMBER.match(name) or has_break.search(name) for name in names
    )


def _all_names(edges: EdgeRecords) -> list[str] | None:
    """The names of all nodes: of the rows of x, behind them of those of y; None where none has."""
    if edges.names is None and edges.other_names is None:
        return None
    names = [str(edges.label(i)) for i in range(edges.summary.rows)]
    if edges.summary.y_rows is None:
        return names
    return names + [str(edges.other_label(i)) for i in range(edges.other_rows)]


def _write_names(path: Any, names: list[str] | None) -> Path | None:
    """Writes a name a line to PATH.names, so that node i has line i + 1."""
    if names is None:
        return None
    place = Path(f"{os.fspath(path)}.names")
    text = "".join(f"{_BREAKS.sub(' ', name)}\n" for name in names)
    place.write_text(text, encoding="utf-8", errors="surrogateescape", newline="\n")
    return place
