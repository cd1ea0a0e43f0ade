"""The network of the strongest edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._results.edges import Edges
from .._shared.needed import needed
from ._axes import at_least_one, axes_of, short, symbol_of

_COLOURS = {True: "tab:red", False: "tab:blue"}
# Points: the type of labels, about the width of a letter and the height of a line, half a node.
_TYPE, _WIDTH, _HEIGHT, _DOT = 7, 4.2, 7.0, 2.5
# Where a label may begin or end, from its node.
_SIDES = ((3.5, 2.5), (-3.5, 2.5), (3.5, -9.0), (-3.5, -9.0))


def network(edges: Edges, *, strongest: int = 100, labels: int = 25, ax: Any = None) -> Any:
    """The network of the edges of largest magnitude. Needs igraph.

    Parameters
    ----------
    edges : Edges
        The pairs.
    strongest : int
        How many of them to draw: more than some hundreds are a ball of wool.
    labels : int
        How many nodes to label at most, those of most drawn edges first, where a label covers no
        node and no other label.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
        Connected parts one beside the other, the largest first. Red edges are positive, blue ones
        negative, and the wider the stronger; a node is the larger, the more of the drawn edges it
        has. Of x against y, rows of
        y are squares.

    Raises
    ------
    ValueError
        Without edges.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(100, 20))
    >>> axes = gs.plot.network(gs.spearman_edges(x, max_p=0.05), strongest=30)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['positive', 'negative']
    """
    if not len(edges):
        raise ValueError("edges: got none, expected at least one; take a weaker cut")
    best = edges.best(at_least_one("strongest", strongest))
    against = edges.summary.y_rows is not None
    own, other = best.row, best.col
    nodes, ends = np.unique(
        np.concatenate([own, other + (edges.summary.rows if against else 0)]), return_inverse=True
    )
    pairs = ends.reshape(2, -1).T
    places = _places(len(nodes), pairs)
    axes = axes_of(ax, (7.0, 6.4))
    _draw_edges(axes, places, pairs, best.statistic)
    degree = np.bincount(pairs.ravel(), minlength=len(nodes))
    of_y = nodes >= edges.summary.rows if against else np.zeros(len(nodes), np.bool_)
    for which, marker in ((~of_y, "o"), (of_y, "s")):
        size = 14 + 12 * np.sqrt(degree[which])
        axes.scatter(*places[which].T, s=size, marker=marker, color="0.25", ec="white", zorder=2)
    least = float(np.abs(best.statistic).min())
    axes.set_title(
        f"the strongest {len(best):,} of {len(edges):,} edges, "
        f"|{symbol_of(edges.symbol)}| ≥ {least:.4g}",
        fontsize="medium",
    )
    axes.set_aspect("equal")
    axes.axis("off")
    rows = edges.summary.rows
    names = [
        short(edges.other_label(row - rows) if y else edges.label(row))
        for row, y in zip(nodes.tolist(), of_y, strict=True)
    ]
    _label(axes, places, names, np.argsort(-degree, kind="stable"), labels)
    return axes


def _draw_edges(
    axes: Any, places: npt.NDArray[Any], pairs: npt.NDArray[Any], statistic: npt.NDArray[Any]
) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    magnitude = np.abs(statistic)
    spread = magnitude.max() - magnitude.min()
    width = 0.6 + (1.4 * (magnitude - magnitude.min()) / spread if spread > 0 else 0.4)
    colours = [_COLOURS[bool(value > 0)] for value in statistic]
    axes.add_collection(
        LineCollection(list(places[pairs]), colors=colours, linewidths=width, alpha=0.6, zorder=1)
    )
    below: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, 0)}
    drawn = sorted({bool(value > 0) for value in statistic}, reverse=True)
    signs = [Line2D([], [], color=_COLOURS[sign]) for sign in drawn]
    words = ["positive" if sign else "negative" for sign in drawn]
    axes.legend(signs, words, frameon=False, fontsize="small", ncols=2, **below)


def _label(
    axes: Any, places: npt.NDArray[Any], names: list[str], order: npt.NDArray[Any], most: int
) -> None:
    """Labels nodes in that order, each where its label covers no node and no other label."""
    from matplotlib.patheffects import withStroke

    axes.autoscale_view()
    axes.apply_aspect()
    at = axes.transData.transform(places) * (72 / axes.figure.dpi)
    taken: list[tuple[float, float, float, float]] = []
    for node in order:
        if len(taken) == most:
            return
        wide = _WIDTH * len(names[node])
        for (x, y), alignment in zip(_SIDES, ("left", "right", "left", "right"), strict=True):
            left = at[node, 0] + (x if alignment == "left" else x - wide)
            box = (left, at[node, 1] + y, left + wide, at[node, 1] + y + _HEIGHT)
            if _is_free(box, taken, np.delete(at, node, axis=0)):
                break
        else:
            continue
        taken.append(box)
        axes.annotate(
            names[node],
            places[node],
            (x, y),
            textcoords="offset points",
            fontsize=_TYPE,
            ha=alignment,
            zorder=3,
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )


def _is_free(
    box: tuple[float, float, float, float],
    taken: list[tuple[float, float, float, float]],
    nodes: npt.NDArray[Any],
) -> bool:
    left, below, right, above = box
    if any(left < t[2] and t[0] < right and below < t[3] and t[1] < above for t in taken):
        return False
    x, y = nodes.T
    inside = (x > left - _DOT) & (x < right + _DOT) & (y > below - _DOT) & (y < above + _DOT)
    return not inside.any()


def _places(nodes: int, pairs: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Where each node lies: connected parts in lines, as text is set."""
    graph = needed("igraph", "graphs").Graph(nodes, pairs.tolist())
    parts = sorted(graph.connected_components(), key=len, reverse=True)
    boxes = []
    for part in parts:
        piece = graph.induced_subgraph(part)
        layout = np.asarray(piece.layout_kamada_kawai(seed=piece.layout_circle()).coords)
        layout -= layout.min(axis=0)
        boxes.append(layout * (np.sqrt(len(part)) / max(1e-9, layout.max())))
    width = 1.1 * np.sqrt(sum(np.prod(box.max(axis=0) + 1.2) for box in boxes))
    width = max(width, boxes[0][:, 0].max() + 1.2)
    places = np.empty((nodes, 2))
    across = down = height = 0.0
    for part, box in zip(parts, boxes, strict=True):
        wide, high = box.max(axis=0) + 1.2
        if across > 0 and across + wide > width:
            across, down, height = 0.0, down + height, 0.0
        places[part] = box + np.array([across, down])
        across, height = across + wide, max(height, high)
    return places * (1, -1)
