"""Messages in the words of this package. The one place that knows what the library calls things.

The library names its own members in messages ("execution.target: cuda was asked for"). Every error
of the compiled part passes `in_python` on its way out, so users read of the keywords they wrote
("backend: cuda was asked for").
"""

from __future__ import annotations

import contextlib
import difflib
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# Members of the library's options whose keyword here has another name.
_KEYWORDS = {
    "column_weights": "weights",
    "histogram_bins": "bins",
    "side": "tail",
    "target": "backend",
}
# Enumerations of the library, by the keyword that takes their values.
_ENUMERATIONS = {
    "adjustment": "adjust",
    "edge_order": "order",
    "nan_policy": "nans",
    "neighbor_order": "order",
    "rank_order": "order",
    "row_folding": "fold",
    "tie_method": "ties",
    "top_k_select": "select",
}
_MEMBER = re.compile(
    r"\b(?:(?:[a-z]\w*_)?options|execution|(?:pair|differential)_filter|(?:[a-z]\w*_)?sink)((?:\.[a-z_]+)+)"
)
_ENUMERATOR = re.compile(r"\b(?:gpu::)?([a-z_]+)::([a-z_]+)\b")
_TYPE = re.compile(r"\ba value of gpu::([a-z_]+)")
_PHRASES = (
    (re.compile(r"^data(?=: )"), "x"),
    (re.compile(r"^filtered_size: (\w+) is ([^,]*),"), r"\1: got \2,"),
    (re.compile(r"^([a-z]+)_all_pairs(?=: )"), r"\1"),
    (
        re.compile(r"\bwas prepared for ([a-z]+), the call is of ([a-z]+)"),
        r"was prepared for measure='\1', the call is of measure='\2'",
    ),
    (re.compile(r"\bprepare_([a-z]+)_rows\b"), r"prepare(..., measure='\1')"),
    (re.compile(r"\b([a-z]+)_all_pairs\b"), r"measure='\1'"),
    (re.compile(r"\brank_rows\b"), "rank"),
    (re.compile(r"\bbenjamini_hochberg\b"), "benjamini-hochberg"),
    (re.compile(r"\bmax_t_null::keep\b"), "MaxT.cut"),
)
# What callers of other packages write, and the keywords they mean.
_MEANT = {
    "cpu_threads": (
        "threads", "n_jobs", "njobs", "num_threads", "n_threads", "nthreads", "nproc", "workers",
    ),
    "max_p": (
        "alpha", "p", "pval", "p_value", "pvalue", "p_max", "p_cutoff", "p_threshold",
        "max_pvalue", "max_p_value",
    ),
    "min_abs": ("threshold", "cutoff", "min_corr", "min_r", "min_rho", "r_min", "min_statistic"),
    "workspace_bytes": ("memory_limit", "max_memory", "memory", "mem", "memory_bytes"),
    "nans": ("nan_policy", "nan", "na", "missing"),
    "adjust": (
        "correction", "adjustment", "p_adjust", "multitest", "fdr", "q", "qvalue", "q_value",
    ),
    "tail": ("alternative", "sides"),
    "measure": ("method", "metric", "statistic"),
    "backend": ("target", "gpu", "use_gpu"),
    "devices": ("device", "device_id", "gpus"),
    "covariates": ("covar", "covariate", "given", "controls", "z"),
    "weights": ("column_weights", "sample_weight", "aweights", "w"),
    "effective_observations": ("n_eff", "neff", "effective_n", "nobs"),
    "names": ("labels", "row_names", "index"),
    "axis": ("rowvar", "orient", "transpose", "variables"),
    "boundary": ("mode", "edges"),
    "bins": ("histogram_bins",),
    "ties": ("method",),
    "order": ("sort", "sort_by", "order_by"),
    "delimiter": ("sep", "separator"),
    "na_values": ("na", "nan", "missing", "null_values"),
    "columns": ("usecols", "cols"),
    "names_column": ("index_col", "index_column"),
    "max_bytes": ("max_input", "limit"),
}  # fmt: skip


def in_python(message: str) -> str:
    """A message of the library with the names that this package has for what it speaks of."""
    for pattern, words in _PHRASES:
        message = pattern.sub(words, message)
    message = _MEMBER.sub(_keyword, message)
    message = _TYPE.sub(lambda m: f"a name of {_ENUMERATIONS.get(m[1], m[1])}", message)
    return _ENUMERATOR.sub(lambda m: f"{_ENUMERATIONS.get(m[1], m[1])}={m[2]!r}", message)


def _keyword(found: re.Match[str]) -> str:
    members = found[1].split(".")[1:]
    name = "part" if members[0] == "part" else members[-1]
    return _KEYWORDS.get(name, name)


@contextlib.contextmanager
def arguments_named(*, hints: bool = True, **names: str) -> Iterator[None]:
    """Lets errors about the arguments x and y speak of those of the function that was called.

    Without `hints` the advice to take another keyword is left out: the function has none.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if error.args and isinstance(error.args[0], str):
            message = re.sub(r"^\w+(?=: )", lambda m: names.get(m[0], m[0]), error.args[0])
            if not hints:
                message = re.sub(r"; \w+='\w+' .*", "", message)
            error.args = (message, *error.args[1:])
        raise


def unknown_keyword(name: str, known: list[str]) -> str:
    """What a TypeError says of a keyword that nobody read."""
    message = f"unknown option: got an unexpected keyword argument {name!r}"
    if "fold" in known:  # of a function over all pairs, some keywords of which end in Python
        known = [*known, "axis", "copy", "names", "y_names"]
    meaning = [key for key, others in _MEANT.items() if name.lower() in others]
    meant = next((key for key in meaning if key in known), None)
    if meant is None:
        close = difflib.get_close_matches(name.lower(), known, 1, 0.7)
        meant = close[0] if close else None
    return message if meant is None else f"{message}; did you mean {meant}=?"


def two(argument: str, given: Any, expected: str) -> tuple[Any, Any]:
    """The two things that `given` holds."""
    is_sequence = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    things = list(given) if is_sequence else []
    if len(things) == 2:
        return things[0], things[1]
    got = f"a sequence of {len(things)}" if is_sequence else repr(given)
    error = ValueError if is_sequence else TypeError
    raise error(f"{argument}: got {got}, expected {expected}")


def integer(argument: str, value: Any) -> int:
    """`value` as an integer of 64 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{argument}: got {value!r}, expected an integer") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{argument}: got {number}, expected an integer of 64 bits")
    return number


def real(argument: str, value: Any) -> float:
    """`value` as a number; a string is none."""
    if not isinstance(value, str | bytes):
        with contextlib.suppress(TypeError, ValueError):
            return float(value)
    raise TypeError(f"{argument}: got {value!r}, expected a number")
