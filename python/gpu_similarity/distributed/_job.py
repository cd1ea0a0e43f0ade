"""A job cut into parts: what one task computes, what it writes, and how all of them are checked."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._pairs.pairs import edges
from .._results.edges import Edges
from .._shared.messages import integer
from .._shared.options import MEASURES, Measure, adjustment_of, measure_of
from .._tables.arrays import covariates_of, plain_array, variables_in_columns, weights_of
from .._tables.labels import Match, check_match, in_order, matched, order_of
from .._tables.numbers import Array
from . import _cut
from ._records import IncompleteJob, PartRecord, read_record
from ._tables import Named, check_no_nan, check_readable, is_path, read

_log = logging.getLogger(__name__)
# Bytes of a table that are hashed at once.
_HASHED_AT_ONCE = 1 << 24
# Options that say where and with what means a part is computed: its files do not depend on them.
_HOW = frozenset(
    ("backend", "copy", "cpu_threads", "devices", "fold", "max_edges", "progress", "variant",
     "workspace_bytes")
)  # fmt: skip
# Options that say how the tables are to be taken: the digest has what they are taken for.
_OF_TABLES = frozenset(("axis", "match", "names", "y_names"))
# Adjustments whose cut depends on all pairs of the job.
_OF_ALL_PAIRS = ("bh", "benjamini-hochberg")


@dataclass(frozen=True)
class Job:
    """All pairs of rows of a table, or of x against y, cut into parts.

    What cannot be computed is refused when the job is made: a file that cannot be read, a NaN that
    the option nans does not take, tables that do not fit each other, an option out of range. Tables
    are read for that once.

    Parameters
    ----------
    x, y : array_like, data frame, or path
        Rows are variables, unless the option axis says "columns". A path is read by every task, and
        has to be the same file everywhere: .npy, or what `read_table` reads; its names, as those of
        a data frame, come back with the edges. An array travels to the workers.
    parts : int
        How many; a few for each worker. They have about equally many pairs.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`.
    options : dict
        Keywords of `spearman_edges`: max_p, min_abs, tail, adjust, axis, match, nans, names,
        backend, cpu_threads, ... With adjust="bh" the parts are counted first, see `with_cut`.
    reading : dict
        Keywords of `read_table` for paths of text.
    labels : sequence, optional
        What the observations of x are called where x is sent without its labels; set by what cuts a
        job into tasks.
    expected : str, optional
        The `digest()` that the job must have: a part whose files say another is refused. Set by
        what cuts a job into tasks.

    Examples
    --------
    >>> import numpy as np, gpu_similarity as gs
    >>> x = np.random.default_rng(0).normal(size=(50, 20))
    >>> job = gs.distributed.Job(x, parts=3, options={"max_p": 0.01})
    >>> edges = [job.part(i) for i in range(3)]
    >>> sum(len(e) for e in edges) == len(gs.spearman_edges(x, max_p=0.01))
    True
    """

    x: Any
    y: Any = None
    parts: int = 1
    measure: Measure = "spearman"
    options: dict[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    labels: Any = None
    expected: str | None = None

    def __post_init__(self) -> None:
        if integer("parts", self.parts) < 1:
            raise ValueError(f"parts: got {self.parts}, expected at least 1")
        object.__setattr__(self, "measure", measure_of(self.measure))
        if self.measure not in MEASURES:
            names = ", ".join(map(repr, MEASURES))
            raise ValueError(f"measure: got {self.measure!r}, expected one of {names}")
        if "part" in self.options:
            raise ValueError("options: 'part' is the job's own")
        if "adjust" in self.options:
            plain = {**self.options, "adjust": adjustment_of(self.options["adjust"])}
            object.__setattr__(self, "options", plain)
        _check_options(self.measure, self.options)
        # A task has what was checked where the job was made.
        if self.expected is None:
            self._check_tables()

    def _check_tables(self) -> None:
        shapes = {}
        match = check_match(self.options.get("match", "name"))
        observed = self.labels
        for name, data in (("x", self.x), ("y", self.y)):
            if data is None:
                continue
            check_readable(data, name, self.reading)
            found = self._read(name, mapped=True)
            if name == "x":
                observed = found.observations
                self._match_options(observed, match)
            else:
                order_of(observed, found.observations, name, match)
            if self.options.get("nans") in (None, "reject"):
                check_no_nan(found, name)
            shapes[name] = found.values.shape
        if len(shapes) == 2 and shapes["x"][1] != shapes["y"][1]:
            raise ValueError(
                f"y: got {shapes['y'][1]} observations, expected {shapes['x'][1]} as x has"
            )
        if "x" in shapes and shapes["x"][1] < 3:
            raise ValueError(f"x: got {shapes['x'][1]} observations, expected at least 3")

    def _match_options(self, observed: Any, match: Match) -> None:
        """Puts covariates and weights in the order of the observations of x, as arrays."""
        in_columns = variables_in_columns(self.options.get("axis"))
        options = dict(self.options)
        for name, columns in (("covariates", in_columns), ("weights", True)):
            if options.get(name) is not None:
                given = options[name]
                found = matched(given, name, observed, columns, match)
                options[name] = plain_array(found, name, ordinal=True)
        object.__setattr__(self, "options", options)

    @property
    def needs_cut(self) -> bool:
        """Whether the adjustment of Benjamini and Hochberg is yet to be turned into a cut."""
        return self.options.get("adjust") in _OF_ALL_PAIRS

    def tables(self, *, mapped: bool = False) -> tuple[Array, Array | None]:
        """x and y as arrays; of files, what they hold now, in memory of this process or mapped."""
        x, y = self._named(mapped)
        return x.values, None if y is None else y.values

    def sent(self) -> Job:
        """The job as it travels to tasks: paths as they are, all else as arrays with names."""
        options, data = dict(self.options), {}
        turns = variables_in_columns(options.get("axis"))
        labels = self.labels
        reads_y = self.y is not None and not is_path(self.y)
        x, y = self._named(True, reads_y) if reads_y or not is_path(self.x) else (None, None)
        for name, of, given, found in (("x", "names", self.x, x), ("y", "y_names", self.y, y)):
            data[name] = given
            if found is None or is_path(given):
                continue
            data[name] = found.values.T if turns else found.values
            if found.names is not None:
                options[of] = found.names
            if name == "x":
                labels = found.observations
        return replace(self, options=options, labels=labels, **data)

    def part(self, index: int) -> Edges:
        """The edges of one part, numbered from 0.

        Where the job has an `expected` digest, what was read from files has to have it.

        Raises
        ------
        IncompleteJob
            Where it has not.
        ValueError
            Of the adjustment of Benjamini and Hochberg, whose cut `with_cut` finds first.
        """
        if self.needs_cut:
            raise ValueError(
                "options: the cut of 'benjamini-hochberg' depends on all pairs; job.with_cut() "
                "counts them, and gives the job whose parts can be computed"
            )
        tables, options = self._checked(index)
        return edges(*tables, measure=self.measure, part=(index, self.parts), **options)

    def with_cut(self, run: Callable[..., Iterable[Any]] = map) -> Job:
        """The job with the cut of Benjamini and Hochberg, which one to three passes find.

        Each pass counts every part; the counts add up, and the cut is the same double as that of a
        single run. A job without that adjustment is given back as it is.

        Parameters
        ----------
        run : callable
            As `map`: run(function, range(parts)) gives the results, from wherever they are
            computed, as the map of a concurrent.futures.ProcessPoolExecutor does.

        Returns
        -------
        Job
            With max_p at that cut, and adjust="none".

        Examples
        --------
        >>> import numpy as np, gpu_similarity as gs
        >>> x = np.random.default_rng(0).normal(size=(50, 20)) + np.arange(20) / 9
        >>> job = gs.distributed.Job(x, parts=3, options={"max_p": 0.05, "adjust": "bh"}).with_cut()
        >>> whole = gs.spearman_edges(x, max_p=0.05, adjust="bh")
        >>> sum(len(job.part(i)) for i in range(3)) == len(whole)
        True
        """
        return self._with_cut(lambda step: run(CountPart(self, step), range(self.parts)))

    def _with_cut(self, count: _cut.Pass) -> Job:
        if not self.needs_cut:
            return self
        is_pairwise = self.options.get("nans") == "pairwise"
        cut = _cut.find_cut(count, self.options.get("max_p", 1.0), is_pairwise)
        return replace(self, options={**self.options, "max_p": cut, "adjust": "none"})

    def count(self, index: int, step: Any) -> Any:
        """What one part counts for a step of the search for the cut."""
        tables, options = self._checked(index)
        options["part"] = (index, self.parts)
        return _cut.count_part(tables, self.measure, options, step)

    def digest(self) -> str:
        """SHA-256 of the tables and of the options that decide which edges there are."""
        return self._digest_of(self._named(True))

    def _read(self, name: str, *, mapped: bool) -> Named:
        found = read(
            getattr(self, name),
            name,
            self.options.get("names" if name == "x" else "y_names"),
            in_columns=variables_in_columns(self.options.get("axis")),
            ordinal=MEASURES[self.measure].is_ordinal,
            reading=self.reading,
            mapped=mapped,
        )
        is_sent = name == "x" and self.labels is not None
        return found._replace(observations=self.labels) if is_sent else found

    def _named(self, mapped: bool, reads_y: bool = True) -> tuple[Named, Named | None]:
        """The tables, with the observations of y in the order of those of x."""
        x = self._read("x", mapped=mapped)
        if self.y is None or not reads_y:
            return x, None
        y = self._read("y", mapped=mapped)
        match = check_match(self.options.get("match", "name"))
        order = order_of(x.observations, y.observations, "y", match)
        return x, y._replace(values=in_order(y.values, order, "y"), observations=x.observations)

    def _checked(self, index: int) -> tuple[tuple[Array, Array | None], dict[str, Any]]:
        """The tables of a part, which are those of the digest, and the options of its call."""
        x, y = self._named(False)
        paths = [str(data) for data in (self.x, self.y) if is_path(data)]
        if self.expected is not None and paths and self._digest_of((x, y)) != self.expected:
            raise IncompleteJob(
                f"part {index} of {self.parts}: {' and '.join(paths)} or the options are not those "
                "of the job's digest; a table must stay as it is until all parts are done"
            )
        options = {k: v for k, v in self.options.items() if k not in ("axis", "match")}
        if options.get("covariates") is not None:
            in_columns = variables_in_columns(self.options.get("axis"))
            ordinal = MEASURES[self.measure].is_ordinal
            options["covariates"] = covariates_of(options["covariates"], in_columns, ordinal)
        options["names"] = x.names
        options["y_names"] = None if y is None else y.names
        options["axis"] = "rows"
        return (x.values, None if y is None else y.values), options

    def _digest_of(self, tables: tuple[Named, Named | None]) -> str:
        # What is not known to leave the parts alone decides: an option that is added later too.
        deciding = {
            k: v for k, v in self.options.items() if k not in _HOW | _OF_TABLES and v is not None
        }
        told: dict[str, Any] = {"measure": self.measure, "parts": self.parts, "options": deciding}
        found = hashlib.sha256()
        for data in tables:
            if data is not None:
                told.setdefault("tables", []).append([data.values.dtype.str, *data.values.shape])
                told.setdefault("names", []).append(data.names)
                _hash_rows(data.values, found)
        found.update(json.dumps(told, sort_keys=True, default=_plain).encode())
        return found.hexdigest()

    def write_part(self, index: int, folder: Any, digest: str) -> PartRecord:
        """Computes one part and writes it to `folder`, unless it is there already.

        The edges go to part-NNNNN.parquet and the record to _part-NNNNN.json, each under another
        name first, so that no reader and no second attempt sees half of one. Readers of a folder of
        Parquet leave out names that begin with an underscore. The record comes last,
        once the edges and their name are on disk, and has the size and SHA-256 of the edges' file.
        A part is there already where its record can be read and its file is what the record says;
        anything else is computed again.

        Parameters
        ----------
        index : int
            From 0 to parts - 1.
        folder : str or path
            Shared by all tasks.
        digest : str
            Of the job, as `digest()` gives it: computed once for all parts.

        Returns
        -------
        PartRecord
            What the part has.

        Raises
        ------
        IncompleteJob
            Where the folder holds this part of another job, or a table is not that of `digest`.
        """
        from pyarrow import parquet

        place = Path(folder)
        _make_folder(place)
        name = f"part-{index:05d}"
        edges_path, record_path = place / f"{name}.parquet", place / f"_{name}.json"
        there = read_record(record_path)
        if there is not None and there.index == index:
            if (there.digest, there.parts) != (digest, self.parts):
                raise IncompleteJob(f"{place / name}: the folder holds a part of another job")
            if there.describes(edges_path):
                return there
            _log.warning("%s is missing or damaged: the part is computed again", edges_path)
        found = replace(self, expected=digest).part(index)
        with _replaced(edges_path) as path:
            parquet.write_table(found.to_arrow(), path)
            record = PartRecord.of(found, index, self.parts, digest, path)
        with _replaced(record_path) as path:
            path.write_text(record.to_json())
        return record


@dataclass(frozen=True)
class CountPart:
    """Counts the part of a number, as a function that processes can send each other."""

    job: Job
    step: Any

    def __call__(self, index: int) -> Any:
        return self.job.count(index, self.step)


def _check_options(measure: Measure, options: dict[str, Any]) -> None:
    """Raises what the options would raise in every part, by a job of three rows."""
    variables_in_columns(options.get("axis"))
    backend = options.get("backend")
    if backend not in (None, "automatic", "auto", "cpu", "cuda"):
        raise ValueError(f"backend: got {backend!r}, expected 'automatic', 'cpu' or 'cuda'")
    left = {k: v for k, v in options.items() if k not in (_HOW - {"fold"}) | _OF_TABLES}
    cols = 16
    if left.get("covariates") is not None:
        in_columns = variables_in_columns(options.get("axis"))
        ordinal = measure in MEASURES and MEASURES[measure].is_ordinal
        left["covariates"] = covariates_of(left["covariates"], in_columns, ordinal)
        cols = left["covariates"].shape[1]
    elif left.get("weights") is not None:
        cols = len(weights_of(left["weights"]))
    rows = np.arange(3.0 * cols).reshape(3, cols) % 7
    edges(rows, measure=measure, backend="cpu", cpu_threads=1, **left)


def _plain(value: Any) -> Any:
    """What JSON does not know: numbers and arrays of NumPy as those of Python, all else as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _hash_rows(data: Array, found: Any) -> None:
    """Adds the rows, one behind the other, whatever lies between them in memory."""
    at_once = max(1, _HASHED_AT_ONCE // max(1, data.shape[1] * data.itemsize))
    for first in range(0, len(data), at_once):
        found.update(np.ascontiguousarray(data[first : first + at_once]))


def _make_folder(place: Path) -> None:
    """Makes the folder and those above it, each with its name on disk."""
    if place.is_dir():
        return
    _make_folder(place.parent)
    place.mkdir(exist_ok=True)
    _sync(place.parent)


def _sync(path: Path) -> None:
    """Waits until a file's bytes, or a folder's names, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _replaced(path: Path) -> Any:
    """A name to write under, which becomes `path` when all of it is on disk; then that is too."""
    other = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        yield other
        _sync(other)
        other.replace(path)
        _sync(path.parent)
    finally:
        other.unlink(missing_ok=True)
