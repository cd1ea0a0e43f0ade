"""The keywords that say where and with what means a call runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypedDict, cast

import numpy.typing as npt

from .. import _core
from .progress import Callback

Backend = Literal["automatic", "cpu", "cuda"]
Tail = Literal["two-sided", "greater", "less"]
Adjustment = Literal["none", "bonferroni", "bonf", "benjamini-hochberg", "bh", "BH", "fdr"]
Axis = Literal[0, 1, "rows", "columns"]
NanPolicy = Literal["reject", "propagate"]
PairNanPolicy = Literal["reject", "propagate", "pairwise"]
# For type checkers; a test holds this list to MEASURES and BIT_MEASURES.
Measure = Literal[
    "spearman", "pearson", "cosine", "bicor", "kendall", "tanimoto", "dice", "tversky"
]


class MeasureInfo(NamedTuple):
    """What is known of a measure without computing anything."""

    name: str
    title: str
    symbol: str
    has_p: bool
    is_ordinal: bool


# Every measure of rows of numbers, and of rows of bits, by its name.
MEASURES = {told[0]: MeasureInfo(*told) for told in _core.measures(of_bits=False)}
BIT_MEASURES = {told[0]: MeasureInfo(*told) for told in _core.measures(of_bits=True)}
ALL_MEASURES = {**MEASURES, **BIT_MEASURES}


def measure_of(name: Any) -> Measure:
    """The measure of that name in any capitals; what is not one is given back, to be refused."""
    plain = name.lower() if isinstance(name, str) else name
    return cast(Measure, plain if plain in ALL_MEASURES else name)


# What adjustments are called elsewhere (R, statsmodels, the command), in small letters.
_ADJUSTMENTS: dict[str, Adjustment] = {
    "none": "none",
    "bonferroni": "bonferroni",
    "bonf": "bonferroni",
    "benjamini-hochberg": "benjamini-hochberg",
    "bh": "bh",
    "fdr": "bh",
    "fdr-bh": "bh",
}


def adjustment_of(name: Any) -> Adjustment:
    """The adjustment that `name` means; what means none is given back, for the library to refuse.

    Capitals and underscores make no difference, and None is "none".
    """
    if name is None:
        return "none"
    plain = name.lower().replace("_", "-") if isinstance(name, str) else ""
    return _ADJUSTMENTS.get(plain, cast(Adjustment, name))


class RunOptions(TypedDict, total=False):
    """Keywords of every function that computes.

    Attributes
    ----------
    backend : {"automatic", "cpu", "cuda"}
        "cuda" never falls back; "automatic" chooses the one that should end all pairs first, and
        for other operations a usable GPU.
    devices : int or sequence of int
        CUDA device ordinals; functions over all pairs share the work among them. Refused with
        backend="cpu", and where CUDA cannot be used.
    workspace_bytes : int
        Upper bound on scratch memory, of each device or of the host.
    cpu_threads : int
        Threads of the CPU; 0 is OMP_NUM_THREADS or the processors there are.
    variant : str
        Name of the implementation; "automatic" chooses.
    """

    backend: Backend
    devices: int | Sequence[int]
    workspace_bytes: int
    cpu_threads: int
    variant: str


class PairRunOptions(RunOptions, total=False):
    """Further keywords of the functions over all pairs.

    Attributes
    ----------
    axis : {0, "rows", 1, "columns"}
        Where the variables of the tables are. 0 or "rows", the default: each row is a variable.
        1 or "columns": each column is a variable and each row an observation, as in most data
        frames; names then are those of the columns, and "row" and "col" of results count
        variables all the same. Also of y.
    match : {"name", "position"}
        Which observations of x, y, covariates and weights are the same. "name", the default: those
        with the same label, where both sides have labels (a data frame, a pandas Series, a table of
        `read_table`), in whatever order; ValueError where a side has other labels. "position": in
        the order that they have, as always without labels.
    nans : {"reject", "propagate", "pairwise"}
        "reject" raises ValueError for a NaN, with its row and column; "propagate" leaves rows that
        hold one without a statistic; "pairwise" takes of each pair of rows the columns in which
        neither holds a NaN, and p by their number.
    min_observations : int
        Needs nans="pairwise": pairs that share fewer columns have no statistic. At least 3.
    covariates : array_like, shape (covariates, columns) or (columns,)
        "spearman" and "pearson": the partial correlation given these rows: that of what is left of
        two rows (of "spearman" of their ranks) by least squares on a constant and the covariates
        (their ranks). p has columns - 2 - covariates degrees of freedom. With axis="columns" the
        covariates are columns too. Not with nans="pairwise", nor arrays in the memory of a GPU.
    weights : array_like, shape (columns,)
        "pearson" and "cosine": how much each observation counts, numbers from 0 of which the ratios
        matter. Without `effective_observations` there is no p: it is NaN, and `max_p` is refused.
    effective_observations : float
        Sample size that p and confidence intervals are computed for, at least 3, before covariates
        are taken off; of measures whose p is Student's t. Of time series it is smaller than the
        number of columns: see `gpu_similarity.effective_observations`.
    p_method : {"automatic", "t", "exact"}
        Of "spearman". "automatic": "exact" up to 9 columns, else Student's t that is never below
        what permutations allow, 2 / columns!; with `effective_observations` it is "t". "t":
        Student's t alone, as SciPy has it: 0 for abs(rho) = 1. "exact": p of a pair is that of the
        permutations of a row where neither row has ties and there are at most 1290 columns, as R's
        ``cor.test(exact=TRUE)``, else that of Student's t; ``summary.pairs_by_t`` counts the
        latter. Each pair is decided by its own p. Not with covariates nor nans="pairwise", where
        "automatic" is t, and rows are not folded.
    alpha, beta : float
        Of "tversky": what a bit of the row of x alone counts, and one of the row of y alone, where
        a bit of both counts 1; fractions from 0 to 1000 with a common denominator of at most 1000,
        as 0.7 and 1 / 3. Without y they are equal. 1 and 1, the default, is "tanimoto".
    names, y_names : array_like
        Names of the variables of x and of y, for the result; default: the index of a data frame,
        with axis="columns" its columns.
    copy : bool
        None copies where the type or layout of a table asks for it, False raises ValueError
        instead, True also takes arrays from the memory of a GPU.
    part : tuple of int
        (index, of): the part number `index`, from 0, of a job that is cut into `of` parts. The
        parts together are the whole call, decided by the same cut. Not with the adjustment of
        Benjamini and Hochberg.
    fold : {"automatic", "never", "always"}
        Whether rows of equal ranks are computed once; no result depends on it.
    progress : bool or callable
        True shows a bar (tqdm where it is installed, else a line); a function is called with
        (stage, done, total) and cancels the run by answering False.
    """

    axis: Axis
    match: Literal["name", "position"]
    nans: PairNanPolicy
    min_observations: int
    covariates: npt.ArrayLike | None
    weights: npt.ArrayLike | None
    effective_observations: float | None
    p_method: Literal["automatic", "t", "exact"]
    alpha: float
    beta: float
    names: npt.ArrayLike | None
    y_names: npt.ArrayLike | None
    copy: bool | None
    part: tuple[int, int] | None
    fold: Literal["automatic", "never", "always"]
    progress: bool | Callback | None
