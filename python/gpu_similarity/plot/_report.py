"""Pictures of what a run of the command found, from its report."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from .._pairs.pairs import counts, edges
from .._results.edges import Edges
from .._results.results import Counts
from .._shared.options import MEASURES, Measure
from .._tables.numbers import Array
from .._tables.read_table import read_table
from ._degrees import degrees
from ._heat_map import heat_map
from ._histogram import histogram
from ._network import network
from ._scatters import scatters

KINDS = ("overview", "histogram", "degrees", "heat-map", "network", "scatters")
# Options of reading that the command and read_table share, and what makes a keyword of a word.
_READING: dict[str, Any] = {
    "header": lambda word: {"yes": True, "no": False}.get(word, "auto"),
    "row-names": lambda word: {"yes": True, "no": False}.get(word, "auto"),
    "delimiter": str,
    "decimal": str,
    "comment": str,
    "na-values": lambda word: word.split(","),
    "columns": lambda word: word.split(","),
    "skip-columns": lambda word: word.split(","),
    "names-column": str,
    "names": str,
}
# The strongest edges are drawn; a run may have kept more than memory holds.
_EDGES = 1_000_000
_BINS = 1000


class _Run(NamedTuple):
    """What the report says, and the tables that it is about."""

    report: dict[str, Any]
    x: Array
    y: Array | None
    keywords: dict[str, Any]


def from_report(path: str | os.PathLike[str], *, kind: str = "overview") -> Any:
    """A figure of what a run of the command found, from what `--report` wrote.

    The pairs are computed again from the input, whose bytes have to be those of the run: it costs
    what the run did. A relative name of the input is one from the current folder, else from that of
    the report.

    Parameters
    ----------
    path : str or path
        The report of a complete run of spearman, pearson, cosine, bicor, kendall or correlate.
    kind : {"overview", "histogram", "degrees", "heat-map", "network", "scatters"}
        Which picture; the overview has the four in the middle.

    Returns
    -------
    matplotlib figure

    Raises
    ------
    OSError
        Where the report or the input cannot be opened.
    ValueError
        Where it is no such report, the input is another, or the picture is not one of x against y.
    """
    from matplotlib import pyplot

    if kind not in KINDS:
        raise ValueError(f"kind: got {kind!r}, expected one of {', '.join(map(repr, KINDS))}")
    run = _read(Path(path))
    if kind == "heat-map" and run.y is not None:
        raise ValueError("kind: got 'heat-map', but the report is of x against y, expected another")
    found = counts(run.x, run.y, bins=_BINS, **run.keywords)
    if found.kept != run.report["pairs_kept"] and not _keeps_partners(run.report):
        raise ValueError(
            f"{path}: the report has {run.report['pairs_kept']:,} kept pairs, its input gives "
            f"{found.kept:,}"
        )
    if kind == "scatters":
        return scatters(run.x, _strongest(run, found), run.y)
    if kind == "overview":
        figure, axes = pyplot.subplots(2, 2, figsize=(11, 9), layout="constrained")
        kinds = KINDS[1:5] if run.y is None else (*KINDS[1:3], "network")
        for place in axes.flat[len(kinds) :]:
            place.axis("off")
        drawn = list(zip(kinds, axes.flat, strict=False))
    else:
        figure, axes = pyplot.subplots(figsize=(7, 6.4), layout="compressed")
        drawn = [(kind, axes)]
    for each, place in drawn:
        _draw(each, place, run, found, 30 if kind == "overview" else 45)
    return figure


def _draw(kind: str, axes: Any, run: _Run, found: Counts, rows: int) -> None:
    if kind == "histogram":
        every = {k: v for k, v in run.keywords.items() if k not in ("max_p", "min_abs", "tail")}
        cut = run.report["min_abs_effective"]
        histogram(
            counts(run.x, run.y, bins=200, **every),
            ax=axes,
            cut=cut if cut else None,
            tail=run.keywords["tail"],
        )
    elif kind == "degrees":
        degrees(found, ax=axes)
    elif found.kept == 0:
        axes.text(0.5, 0.5, "no pair was kept", ha="center", va="center")
        axes.axis("off")
    elif kind == "heat-map":
        heat_map(run.x, found, rows=rows, ax=axes)
    else:
        strongest = _strongest(run, found)
        network(strongest, ax=axes)
        title = axes.get_title().replace(f"of {len(strongest):,} edges", f"of {found.kept:,} edges")
        axes.set_title(title, fontsize="medium")


def _strongest(run: _Run, found: Counts) -> Edges:
    """The kept edges, or of very many those above a cut that leaves about a million."""
    keywords = dict(run.keywords)
    if found.kept > _EDGES:
        magnitude = np.abs(found.bin_edges)
        least = np.minimum(magnitude[1:], magnitude[:-1])
        order = np.argsort(-least, kind="stable")
        kept = np.cumsum(found.histogram[order])
        # At least the first bins, however many pairs have the same statistic.
        last = max(1, int(np.searchsorted(kept, _EDGES)) - 1)
        keywords["min_abs"] = max(float(least[order[last]]), keywords["min_abs"])
    return edges(run.x, run.y, **keywords)


def _read(path: Path) -> _Run:
    try:
        report = json.loads(path.read_bytes())
        command, status = report["command"], report["status"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: no report of the command: {error!r}") from error
    measure = _measure(path, command)
    if status != "complete" or report.get("partial"):
        raise ValueError(f"{path}: the run is not a complete one (status {status!r})")
    options = _options(command)
    for option in ("covariates", "weights"):
        if option in options:
            raise ValueError(
                f"{path}: got a run with --{option}, whose bytes the report does not have; draw "
                f"gs.counts(..., {option}=...) and its like"
            )
    reading = {k.replace("-", "_"): of(options[k]) for k, of in _READING.items() if k in options}
    reading["transpose"] = "transpose" in options
    x = _table(path, report["input"], reading)
    y = None if report["against"] is None else _table(path, report["against"], reading)
    keywords: dict[str, Any] = {
        "measure": measure,
        "tail": options.get("tail", "two-sided"),
        "min_abs": float(options.get("min-abs", 0)),
        "nans": options.get("nan", "reject"),
        "names": x.names,
    }
    if report.get("permutations"):  # the cut is one on the statistic alone
        cut = report["min_abs_effective"]
        keywords["min_abs"] = np.inf if cut is None else cut
    if MEASURES[measure].has_p:
        keywords["max_p"] = report["max_p_effective"]
    if "min-observations" in options:
        keywords["min_observations"] = int(options["min-observations"])
    if y is not None:
        keywords["y_names"] = y.names
    return _Run(report, x.values, None if y is None else y.values, keywords)


def _measure(path: Path, command: list[str]) -> Measure:
    options = _options(command)
    name = command[1] if len(command) > 1 else ""
    name = options.get("measure", "spearman") if name == "correlate" else name
    if name not in MEASURES:
        raise ValueError(
            f"{path}: got a report of {name!r}, expected one of {', '.join(map(repr, MEASURES))}"
        )
    return cast(Measure, name)


def _options(command: list[str]) -> dict[str, str]:
    """Long options by name, as the command took them; a switch has what stands behind it."""
    found = {}
    for word, behind in zip(command, [*command[1:], ""], strict=True):
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            found[name] = value if equals else behind
    return found


def _keeps_partners(report: dict[str, Any]) -> bool:
    return _options(report["command"]).get("keep") in ("top-k", "dense")


def _table(report: Path, told: dict[str, Any], reading: dict[str, Any]) -> Any:
    places = [Path(told["name"]), report.parent / told["name"]]
    place = next((place for place in places if place.is_file()), None)
    if place is None:
        raise FileNotFoundError(f"{report}: its input {told['name']} is not there")
    crc = 0
    with open(place, "rb") as file:
        while block := file.read(1 << 22):
            crc = zlib.crc32(block, crc)
    if f"{crc:08x}" != told["crc32"]:
        raise ValueError(f"{place}: got CRC {crc:08x}, expected {told['crc32']} as in {report}")
    table = read_table(place, frame=False, **reading)
    if isinstance(table.values, np.ndarray):
        return table
    return table._replace(values=table.values.toarray())
