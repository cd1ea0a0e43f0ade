"""Scatter plots of the best pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._results.edges import Edges
from .._rows.rows import rank
from .._shared.options import MEASURES
from .._tables.arrays import table, variables_in_columns
from ._axes import at_least_one, short, symbol_of


def scatters(
    x: npt.ArrayLike,
    edges: Edges,
    y: npt.ArrayLike | None = None,
    *,
    pairs: int = 9,
    figure: Any = None,
    axis: Any = "rows",
    ranks: bool | None = None,
) -> Any:
    """Scatter plots of the edges of largest magnitude.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        What `edges` was computed of.
    edges : Edges
        The pairs.
    y : array_like, shape (rows of y, columns), optional
        Where `edges` are those of x against y.
    pairs : int
        How many to show.
    figure : matplotlib figure, optional
        Where to draw.
    axis : {"rows", "columns"}
        Where the variables of `x` and `y` lie, as in the call that gave `edges`.
    ranks : bool, optional
        Whether to show ranks in place of values; default: where the measure is one of ranks, which
        those are then what it measures. Observations at the same place are one larger dot.

    Returns
    -------
    matplotlib figure
        One panel a pair, the best first. Observations that miss in either row are left out.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(100, 20))
    >>> len(gs.plot.scatters(x, gs.spearman_edges(x, max_p=0.05), pairs=4).axes)
    4
    """
    in_columns = variables_in_columns(axis)
    data = table(x, in_columns=in_columns)
    others = data if y is None else table(y, "y", in_columns=in_columns)
    if ranks is None:
        ranks = MEASURES[edges.measure].is_ordinal
    best = edges.best(at_least_one("pairs", pairs))
    columns = max(1, int(np.ceil(np.sqrt(len(best)))))
    lines = max(1, int(np.ceil(len(best) / columns)))
    if figure is None:
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=(2.4 * columns, 2.4 * lines), layout="constrained")
    for place, edge in enumerate(best.records, start=1):
        axes = figure.add_subplot(lines, columns, place)
        _draw(axes, data[edge["row"]], others[edge["col"]], ranks)
        of = "rank of " if ranks else ""
        axes.set_xlabel(of + short(edges.label(edge["row"])), fontsize="small")
        axes.set_ylabel(of + short(edges.other_label(edge["col"])), fontsize="small")
        axes.set_title(_title(edges, edge), fontsize="small")
    return figure


def _title(edges: Edges, edge: Any) -> str:
    """The statistic, never rounded to 1, and p, which is said to be small rather than 0."""
    value = float(edge["statistic"])
    digits = next((n for n in range(3, 16) if abs(value) == 1 or f"{abs(value):.{n}f}" < "1"), 16)
    title = f"{symbol_of(edges.symbol)} = {value:.{digits}f}"
    if not edges.has_p or edge["p"] != edge["p"]:
        return title
    return f"{title}, p < 1e-300" if edge["p"] < 1e-300 else f"{title}, p = {edge['p']:.2g}"


def _draw(axes: Any, own: npt.NDArray[Any], other: npt.NDArray[Any], ranks: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    pair = np.stack([own, other]).astype(np.float64)
    pair = pair[:, ~np.isnan(pair).any(axis=0)]
    if ranks:
        pair = np.asarray(rank(np.ascontiguousarray(pair)), dtype=np.float64)
    places, times = np.unique(pair, axis=1, return_counts=True)
    axes.scatter(*places, s=10.0 * times, color="tab:blue", alpha=0.75, lw=0)
    axes.margins(0.12)
    axes.tick_params(labelsize="x-small")
    for side in (axes.xaxis, axes.yaxis):
        side.set_major_locator(MaxNLocator(4, integer=ranks))
