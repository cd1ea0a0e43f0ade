"""The keywords that say where and with what means a call runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from ._progress import Callback, callback

Backend = Literal["automatic", "cpu", "cuda"]
Tail = Literal["two-sided", "greater", "less"]
Adjustment = Literal["none", "bonferroni", "benjamini-hochberg", "bh"]
NanPolicy = Literal["reject", "propagate"]
Measure = Literal["spearman", "pearson"]


class RunOptions(TypedDict, total=False):
    """Keywords of every function that computes.

    Attributes
    ----------
    backend : {"automatic", "cpu", "cuda"}
        "cuda" never falls back; "automatic" takes a usable GPU, else the CPU.
    devices : int or sequence of int
        CUDA device ordinals; functions over all pairs share the work among them.
    workspace_bytes : int
        Upper bound on scratch memory, of each device or of the host.
    cpu_threads : int
        Threads of the CPU; 0 takes what OpenMP would.
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
    fold : {"automatic", "never", "always"}
        Whether rows of equal ranks are computed once; no result depends on it.
    progress : bool or callable
        True shows a bar (tqdm where it is installed, else a line); a function is called with
        (stage, done, total) and cancels the run by answering False.
    """

    fold: Literal["automatic", "never", "always"]
    progress: bool | Callback | None


def pair_options(
    run: PairRunOptions,
    measure: Measure,
    max_p: float,
    min_abs: float,
    tail: Tail,
    adjust: Adjustment,
    nans: NanPolicy,
) -> dict[str, Any]:
    """One dictionary of what differs from the defaults."""
    options: dict[str, Any] = dict(run)
    if "progress" in options:
        options["progress"] = callback(options["progress"])
    if measure != "spearman":
        options["measure"] = measure
    if max_p != 1.0:
        options["max_p"] = max_p
    if min_abs != 0.0:
        options["min_abs"] = min_abs
    if tail != "two-sided":
        options["tail"] = tail
    if adjust != "none":
        options["adjust"] = adjust
    if nans != "reject":
        options["nans"] = nans
    return options
