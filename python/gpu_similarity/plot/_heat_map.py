"""Clustered heat map with a dendrogram."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._pairs.pairs import dense
from .._results.results import Counts
from .._tables.arrays import table, variables_in_columns
from ._axes import at_least_one, axes_of, short, symbol_of

# Points: smaller type is not read, larger is not needed.
_SMALLEST, _LARGEST = 5.0, 9.0


def heat_map(
    x: npt.ArrayLike, counts: Counts, *, rows: int = 200, ax: Any = None, axis: Any = "rows"
) -> Any:
    """The correlations among the rows of highest degree, similar rows side by side.

    Parameters
    ----------
    x : array_like, shape (rows, columns)
        What `counts` was computed of.
    counts : Counts
        The degrees.
    rows : int
        How many rows to show. They are labelled where the labels are large enough to be read: up to
        about 45 in a figure of its own.
    ax : matplotlib axes, optional
        Where to draw.
    axis : {"rows", "columns"}
        Where the variables of `x` lie, as in `counts`.

    Returns
    -------
    matplotlib axes
        Ordered by average-linkage clustering of 1 - statistic, with its dendrogram, if SciPy is
        installed, else by degree. Colours span the statistics of different rows, and are
        symmetric around 0 if some are negative.

    Raises
    ------
    ValueError
        Where no row has a kept pair, or `counts` is of x against y.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(100, 20))
    >>> gs.plot.heat_map(x, gs.counts(x, max_p=0.05), rows=10).images[0].get_array().shape
    (10, 10)
    """
    data = table(x, in_columns=variables_in_columns(axis))
    if counts.y_degree is not None or len(data) != len(counts.degree):
        raise ValueError(
            f"counts: got degrees of {counts.summary.shape()}, expected those of the "
            f"{len(data):,} rows of x"
        )
    chosen = np.argsort(-counts.degree, kind="stable")[: at_least_one("rows", rows)]
    chosen = chosen[counts.degree[chosen] > 0]
    if not len(chosen):
        raise ValueError("counts: no row has a kept pair; take a weaker cut")
    axes = axes_of(ax, (7.0, 6.4))
    # A row that holds a NaN has kept pairs only where they were taken pair by pair.
    nans: Any = "pairwise" if np.isnan(data[chosen]).any() else "reject"
    matrix = dense(data[chosen], measure=counts.measure, nans=nans).matrix
    tree = _tree(matrix)
    order = np.arange(len(matrix)) if tree is None else np.asarray(tree["leaves"])
    image = axes.imshow(matrix[np.ix_(order, order)], interpolation="nearest", **_colours(matrix))
    if tree is not None:
        _draw_tree(axes, tree, len(matrix))
    axes.figure.colorbar(image, ax=axes, label=symbol_of(counts.symbol), shrink=0.7)
    axes.set_ylabel("row")
    _label(axes, [short(counts.label(row)) for row in chosen[order]])
    return axes


def _colours(matrix: npt.NDArray[Any]) -> dict[str, Any]:
    """The range of the statistics of different rows; around 0 where both signs occur."""
    apart = matrix[~np.eye(len(matrix), dtype=bool)]
    apart = apart[~np.isnan(apart)]
    low, high = (apart.min(), apart.max()) if len(apart) else (-1.0, 1.0)
    if low < 0 or low == high:
        most = max(abs(low), abs(high))
        return {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
    return {"cmap": "viridis", "vmin": low, "vmax": high}


def _tree(matrix: npt.NDArray[Any]) -> dict[str, Any] | None:
    if len(matrix) < 3:
        return None
    try:
        from scipy.cluster import hierarchy
        from scipy.spatial.distance import squareform
    except ImportError:
        return None
    distance = 1 - np.nan_to_num(matrix)
    np.fill_diagonal(distance, 0)
    linkage = hierarchy.average(squareform(np.maximum(distance, 0), checks=False))
    return dict(hierarchy.dendrogram(linkage, no_plot=True))


def _draw_tree(axes: Any, tree: dict[str, Any], rows: int) -> None:
    above = axes.inset_axes([0, 1.01, 1, 0.16])
    for across, up in zip(tree["icoord"], tree["dcoord"], strict=True):
        # SciPy draws leaf i at 5 + 10 i, the image at i.
        above.plot((np.asarray(across) - 5) / 10, up, color="black", lw=0.6)
    above.set_xlim(-0.5, rows - 0.5)
    above.set_ylim(bottom=0)
    above.axis("off")


def _label(axes: Any, labels: list[str]) -> None:
    """Labels all rows, or none: type that fits has to be large enough to be read."""
    box = axes.get_window_extent().transformed(axes.figure.dpi_scale_trans.inverted())
    # The dendrogram and the labels take their room from the axes when they are drawn.
    points = 0.85 * 72 * min(box.width, box.height) / len(labels)
    if points < _SMALLEST:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlabel(f"{len(labels):,} rows of highest degree")
        return
    size = min(points, _LARGEST)
    axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=size)
    axes.set_yticks(range(len(labels)), labels, fontsize=size)
    axes.tick_params(length=2, pad=1)
