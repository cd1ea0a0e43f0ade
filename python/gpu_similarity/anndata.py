"""Correlations of the variables of an AnnData object, as its sparse `varp`. Needs SciPy."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ._edges import Edges
from ._options import Adjustment, Measure, PairRunOptions, Tail
from ._pairs import edges as all_edges

__all__ = ["correlate"]


def correlate(
    adata: Any,
    *,
    layer: str | None = None,
    measure: Measure = "spearman",
    max_p: float = 0.05,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment = "benjamini-hochberg",
    max_edges: int | None = None,
    key_added: str | None = None,
    **run: Unpack[PairRunOptions],
) -> Edges:
    """Correlates all pairs of variables (genes) and writes the kept ones to `adata.varp`.

    Parameters
    ----------
    adata : anndata.AnnData
        Its observations (cells) are the columns, its variables the rows of the computation. A
        sparse matrix is made dense, one value of its type for each cell and gene.
    layer : str, optional
        Which layer; None: `adata.X`.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`.
    max_p, min_abs, tail, adjust, max_edges, **run
        As in `spearman_edges`; by default a false discovery rate of 5 %.
    key_added : str, optional
        Name of the result; default: `measure`.

    Returns
    -------
    Edges
        The kept pairs. `adata.varp[key + "_statistic"]` and `adata.varp[key + "_p"]` are
        symmetric CSR matrices of them, `adata.uns[key]` holds the options and the cut.

    Raises
    ------
    KeyError
        For a layer that does not exist.
    ValueError, CapacityExceeded, MemoryError
        As `spearman_edges`.

    Examples
    --------
    >>> import anndata, numpy, gpu_similarity as gs
    >>> values = [[1., 2., 9.], [2., 4., 1.], [3., 6., 5.], [4., 9., 4.]]
    >>> cells = anndata.AnnData(numpy.array(values))
    >>> edges = gs.anndata.correlate(cells, max_p=0.05, adjust="none")
    >>> cells.varp["spearman_statistic"].toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    from scipy import sparse

    data = adata.X if layer is None else adata.layers[layer]
    dense = data.toarray() if sparse.issparse(data) else np.asarray(data)
    run.setdefault("names", np.asarray(adata.var_names))
    edges = all_edges(
        np.ascontiguousarray(dense.T),
        measure=measure,
        max_p=max_p,
        min_abs=min_abs,
        tail=tail,
        adjust=adjust,
        max_edges=max_edges,
        **run,
    )
    key = measure if key_added is None else key_added
    adata.varp[key + "_statistic"] = sparse.csr_matrix(edges.to_scipy("statistic"))
    if edges.has_p:
        adata.varp[key + "_p"] = sparse.csr_matrix(edges.to_scipy("p"))
    adata.uns[key] = {
        "measure": measure,
        "layer": "X" if layer is None else layer,
        "max_p": max_p,
        "min_abs": min_abs,
        "tail": tail,
        "adjust": adjust,
        "min_abs_effective": edges.summary.min_abs_effective,
        "pairs_tested": edges.summary.pairs_tested,
        "pairs_kept": edges.summary.pairs_kept,
    }
    return edges
