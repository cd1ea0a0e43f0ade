"""The family-wise error by permutation."""

from __future__ import annotations

from typing import Literal, Unpack

import numpy.typing as npt

from .. import _core
from .._results.maxima import MaxT
from .._shared.messages import integer
from .._shared.options import Measure, PairRunOptions, Tail, measure_of
from .._tables.places import computed
from .call import pair_call


def max_t(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    measure: Measure = "spearman",
    permutations: int = 1000,
    seed: int = 0,
    tail: Tail = "two-sided",
    shuffle: Literal["permutation", "circular"] = "permutation",
    **run: Unpack[PairRunOptions],
) -> MaxT:
    """The largest statistics of tables whose columns are shuffled, for the family-wise error.

    Westfall and Young's single step: no distribution is assumed, so that cosine has this p too,
    and rows that move together cost less than with Bonferroni's correction.

    Parameters
    ----------
    x, y : array_like
        As in `spearman_edges`, in the memory of the host. Of x against y the columns of x are
        shuffled; of one table rows are held against shuffled rows behind them.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`.
    permutations : int
        How often the columns are shuffled, 1 to 1,000,000. All pairs are looked at as often; of one
        table half as often.
    seed : int
        Which permutations these are, from 0. The same seed gives the same maxima on any machine,
        backend and number of threads.
    tail : {"two-sided", "greater", "less"}
        What is large: abs(statistic), the statistic, its negative.
    shuffle : {"permutation", "circular"}
        How columns are shuffled: into any order, for samples that do not depend on each other; or
        moved on together by some places, those that fall off the end first, for time series. m
        columns have m - 1 such shifts: `permutations` is at most that.
    **run
        axis, nans ("reject" or "propagate"), copy, progress, backend, devices, workspace_bytes,
        cpu_threads, variant: see PairRunOptions and RunOptions.

    Returns
    -------
    MaxT
        Its `cut(level)` is the `min_abs` of any call, `edges.to_pandas(adjust=...)` takes it.

    Raises
    ------
    ValueError
        For permutations out of range, or more than there are shifts, and as `spearman_edges`.
    Unsupported
        For nans="pairwise", a part, and tables in the memory of a GPU.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> import numpy as np
    >>> x = np.random.default_rng(1).normal(size=(20, 30))
    >>> x[1] = x[0] + 0.3 * x[1]
    >>> null = gs.max_t(x, permutations=200, seed=1)
    >>> edges = gs.spearman_edges(x, min_abs=null.cut(0.05))
    >>> [(int(i), int(j)) for i, j in zip(edges.row, edges.col)]
    [(0, 1)]
    >>> round(float(edges.adjusted_p(null)[0]), 6)
    0.004975
    """
    measure = measure_of(measure)
    call = pair_call(x, y, measure, run, tail=tail)
    count, number = integer("permutations", permutations), integer("seed", seed)
    if number < 0:
        raise ValueError(f"seed: got {number}, expected at least 0")
    maxima, *ran = computed(
        _core.max_t, call.places, call.x, call.y, count, number, str(shuffle), call.options
    )
    return MaxT(maxima, measure, tail, number, tuple(ran), shuffle)
