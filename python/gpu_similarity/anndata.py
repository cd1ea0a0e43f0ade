"""Correlations of the variables of an AnnData object, as its sparse `varp`. Needs SciPy."""

from __future__ import annotations

from typing import Any, Literal, Unpack

import numpy as np

from ._pairs.pairs import edges as all_edges
from ._results.edges import Edges
from ._shared.options import MEASURES, Adjustment, Measure, PairRunOptions, Tail, measure_of
from ._tables.arrays import covariates_of
from ._tables.labels import check_match, matched

__all__ = ["correlate"]

# Bytes of a matrix in a file that are read at once.
_READ_AT_ONCE = 1 << 26


def correlate(
    adata: Any,
    *,
    layer: str | None = None,
    measure: Measure = "spearman",
    max_p: float | None = None,
    min_abs: float = 0.0,
    tail: Tail = "two-sided",
    adjust: Adjustment | Literal["automatic"] = "automatic",
    max_edges: int | None = None,
    key_added: str | None = None,
    **run: Unpack[PairRunOptions],
) -> Edges:
    """Correlates all pairs of variables (genes) and writes the kept ones to `adata.varp`.

    Parameters
    ----------
    adata : anndata.AnnData
        Its variables (genes) are correlated over its observations (cells). A layer in C order or
        in Fortran order and a CSC matrix are read as they lie, a CSR matrix is sorted by genes
        once, and what lies in a file (backed mode) is read: sparse as sparse, dense in blocks of
        cells.
    layer : str, optional
        Which layer; None: `adata.X`.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`.
    max_p, min_abs, tail, adjust, max_edges, **run
        As in `spearman_edges`. The defaults of `max_p` and `adjust` are a false discovery rate of
        5 % (0.05 and "benjamini-hochberg"); where there is no p, as of cosine and with `weights`
        alone, no cut on it. Covariates and weights with labels, as the columns of `adata.obs`, are
        matched with `adata.obs_names`.
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
    >>> edges = gs.anndata.correlate(cells, max_p=0.1, adjust="none")
    >>> cells.varp["spearman_statistic"].toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    measure = measure_of(measure)
    from scipy import sparse

    if "axis" in run:
        raise TypeError("axis: the variables of AnnData are its columns; got another argument")
    has_p = measure not in MEASURES or MEASURES[measure].has_p
    if run.get("weights") is not None and run.get("effective_observations") is None:
        has_p = False
    if max_p is None:
        max_p = 0.05 if has_p else 1.0
    if adjust == "automatic":
        adjust = "benjamini-hochberg" if has_p else "none"
    data = adata.X if layer is None else adata.layers[layer]
    match = check_match(run.pop("match", "name"))
    run.setdefault("names", np.asarray(adata.var_names))
    if hasattr(data, "to_memory") and hasattr(data, "format"):
        data = data.to_memory()  # a sparse matrix in a file
    # What is in memory is read as it lies where its order allows.
    in_memory = isinstance(data, np.ndarray) or sparse.issparse(data)
    run["axis"] = "columns" if in_memory else "rows"
    if run.get("covariates") is not None:
        own = matched(run["covariates"], "covariates", adata.obs_names, True, match, "adata")
        ordinal = measure in MEASURES and MEASURES[measure].is_ordinal
        rows = covariates_of(own, True, ordinal)
        run["covariates"] = rows.T if in_memory else rows
    if run.get("weights") is not None:
        run["weights"] = matched(run["weights"], "weights", adata.obs_names, True, match, "adata")
    edges = all_edges(
        data if in_memory else _genes_by_cells(data),
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


def _genes_by_cells(data: Any) -> np.ndarray[Any, Any]:
    """A dense matrix in a file, read in blocks of cells into the order of genes."""
    cells, genes = data.shape
    out = np.empty((genes, cells), data.dtype)
    at_once = max(1, _READ_AT_ONCE // max(1, genes * out.itemsize))
    for begin in range(0, cells, at_once):
        block = data[begin : begin + at_once]
        out[:, begin : begin + at_once] = np.asarray(block).T
    return out
