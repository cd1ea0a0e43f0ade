"""A job cut into parts: what one task computes, what it writes, and how all of them are checked."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._arrays import Array, table
from .._checksum import Checksum
from .._edges import Edges
from .._options import MEASURES, Measure
from .._pairs import edges

_log = logging.getLogger(__name__)
# Bytes of a table that are hashed at once.
_HASHED_AT_ONCE = 1 << 24
# Options that say where and with what means a part is computed: its files do not depend on them.
_HOW = frozenset(
    ("backend", "copy", "cpu_threads", "devices", "fold", "max_edges", "progress", "variant",
     "workspace_bytes")
)  # fmt: skip


class IncompleteJob(RuntimeError):
    """Parts are missing, or what they say does not add up to the whole."""


@dataclass(frozen=True)
class Job:
    """All pairs of rows of a table, or of x against y, cut into parts.

    Parameters
    ----------
    x, y : array_like, or path of a .npy file
        Rows are variables. A path is read by every task, and has to be the same file everywhere;
        an array travels to the workers.
    parts : int
        How many; a few for each worker. They have about equally many pairs.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`.
    options : dict
        Keywords of `spearman_edges`: max_p, min_abs, tail, adjust ("none" or "bonferroni"), nans,
        backend, cpu_threads, ...
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
    expected: str | None = None

    def __post_init__(self) -> None:
        if self.parts < 1:
            raise ValueError(f"parts: got {self.parts}, expected at least 1")
        if self.measure not in MEASURES:
            names = ", ".join(map(repr, MEASURES))
            raise ValueError(f"measure: got {self.measure!r}, expected one of {names}")
        if self.options.get("adjust") in ("bh", "benjamini-hochberg"):
            raise ValueError(
                "options: the cut of 'benjamini-hochberg' depends on all pairs; find it first, and "
                "take it as min_abs: counts(x, adjust='bh', max_p=...).summary.min_abs_effective"
            )
        if "part" in self.options:
            raise ValueError("options: 'part' is the job's own")

    def tables(self, *, mapped: bool = False) -> tuple[Array, Array | None]:
        """x and y as arrays; of files, what they hold now, in memory of this process or mapped."""
        ordinal = MEASURES[self.measure].is_ordinal
        x = table(_read(self.x, "x", mapped), "x", ordinal=ordinal)
        if self.y is None:
            return x, None
        return x, table(_read(self.y, "y", mapped), "y", ordinal=ordinal)

    def sent(self) -> list[Any]:
        """x and y as they travel to tasks: paths as they are, all else as arrays."""
        ordinal = MEASURES[self.measure].is_ordinal
        return [
            data if data is None or is_path(data) else table(data, name, ordinal=ordinal)
            for name, data in (("x", self.x), ("y", self.y))
        ]

    def part(self, index: int) -> Edges:
        """The edges of one part, numbered from 0.

        Where the job has an `expected` digest, what was read from files has to have it.
        """
        tables = self.tables()
        paths = [str(data) for data in (self.x, self.y) if is_path(data)]
        if self.expected is not None and paths and self._digest_of(tables) != self.expected:
            raise IncompleteJob(
                f"part {index} of {self.parts}: {' and '.join(paths)} or the options are not those "
                "of the job's digest; a table must stay as it is until all parts are done"
            )
        return edges(*tables, measure=self.measure, part=(index, self.parts), **self.options)

    def digest(self) -> str:
        """SHA-256 of the tables and of the options that decide which edges there are."""
        return self._digest_of(self.tables(mapped=True))

    def _digest_of(self, tables: tuple[Array, Array | None]) -> str:
        # What is not known to leave the parts alone decides: an option that is added later too.
        deciding = {k: v for k, v in self.options.items() if k not in _HOW and v is not None}
        told: dict[str, Any] = {"measure": self.measure, "parts": self.parts, "options": deciding}
        found = hashlib.sha256()
        for data in tables:
            if data is not None:
                told.setdefault("tables", []).append([data.dtype.str, *data.shape])
                _hash_rows(data, found)
        found.update(json.dumps(told, sort_keys=True, default=_plain).encode())
        return found.hexdigest()

    def write_part(self, index: int, folder: Any, digest: str) -> PartRecord:
        """Computes one part and writes it to `folder`, unless it is there already.

        The edges go to part-NNNNN.parquet and the record to part-NNNNN.json, each under another
        name first, so that no reader and no second attempt sees half of one. The record comes last,
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
        edges_path, record_path = place / f"{name}.parquet", place / f"{name}.json"
        there = read_record(record_path)
        if there is not None and there.index == index:
            if (there.digest, there.parts) != (digest, self.parts):
                raise IncompleteJob(f"{place / name}: the folder holds a part of another job")
            if there.describes(edges_path):
                return there
            _log.warning("%s is missing or damaged: the part is computed again", edges_path)
        edges = replace(self, expected=digest).part(index)
        with _replaced(edges_path) as path:
            parquet.write_table(edges.to_arrow(), path)
            record = PartRecord.of(edges, index, self.parts, digest, path)
        with _replaced(record_path) as path:
            path.write_text(record.to_json())
        return record


@dataclass(frozen=True)
class PartRecord:
    """What one part has, as its task gives it back and writes it beside the edges.

    Attributes
    ----------
    index, parts : int
        Which part of how many.
    digest : str
        Of the job.
    rows, y_rows : int
        Rows of x and of y that have a statistic; y_rows is -1 for the pairs of one table.
    tested, kept : int
        Pairs.
    checksum : str
        Of the kept pairs.
    file_bytes, file_sha256 : int, str
        Of the file with the edges.
    """

    index: int
    parts: int
    digest: str
    rows: int
    y_rows: int
    tested: int
    kept: int
    checksum: str
    file_bytes: int
    file_sha256: str

    @classmethod
    def of(cls, edges: Edges, index: int, parts: int, digest: str, file: Path) -> PartRecord:
        """The record of a part's edges, which `file` holds."""
        s = edges.summary
        y_rows = -1 if s.y_rows is None else s.y_rows - len(s.y_constant_rows) - len(s.y_nan_rows)
        rows = s.rows - len(s.constant_rows) - len(s.nan_rows)
        told = (s.pairs_tested, len(edges), str(s.checksum), *_size_and_sha256(file))
        return cls(index, parts, digest, rows, y_rows, *told)

    def describes(self, file: Path) -> bool:
        """Whether `file` is there and has the bytes that the record is about."""
        try:
            same_size = file.stat().st_size == self.file_bytes
            return same_size and _size_and_sha256(file)[1] == self.file_sha256
        except OSError:
            return False

    def to_json(self) -> str:
        """The record as text, with a seal that shows whether the text was changed."""
        told = asdict(self)
        return json.dumps({**told, "seal": _seal(told)})


@dataclass(frozen=True)
class JobResult:
    """What all parts have together.

    Attributes
    ----------
    folder : str or None
        Where the Parquet files are.
    parts : int
        How many parts.
    pairs_tested, pairs_kept : int
        Pairs.
    checksum : Checksum
        That of a single run.
    """

    folder: str | None
    parts: int
    pairs_tested: int
    pairs_kept: int
    checksum: Checksum

    def to_pandas(self) -> Any:
        """All edges as one pandas.DataFrame, in the order of a single run."""
        import pandas

        assert self.folder is not None
        names = [Path(self.folder) / f"part-{i:05d}.parquet" for i in range(self.parts)]
        return pandas.concat([pandas.read_parquet(name) for name in names], ignore_index=True)


def combine(records: Iterable[PartRecord], folder: Any = None) -> JobResult:
    """Checks that the parts are the whole, and adds them up.

    Raises
    ------
    IncompleteJob
        Where a part is missing or of another job, or where the tested pairs are not the family.
    """
    parts = {record.index: record for record in records}
    if not parts:
        raise IncompleteJob("no part is there")
    first = next(iter(parts.values()))
    missing = sorted(set(range(first.parts)) - set(parts))
    if missing:
        raise IncompleteJob(f"of {first.parts} parts {len(missing)} are missing: {missing[:20]}")
    family = {(r.parts, r.digest, r.rows, r.y_rows) for r in parts.values()}
    if len(family) != 1:
        raise IncompleteJob("the parts are of different jobs")
    tested = sum(record.tested for record in parts.values())
    rows, y_rows = first.rows, first.y_rows
    pairs = rows * (rows - 1) // 2 if y_rows < 0 else rows * y_rows
    if tested != pairs:
        raise IncompleteJob(f"the parts tested {tested} pairs, the family has {pairs}")
    kept = sum(record.kept for record in parts.values())
    total: Any = sum(Checksum.parse(record.checksum) for record in parts.values())
    if total.pairs != kept:
        raise IncompleteJob(f"the parts have {kept} edges, their checksums count {total.pairs}")
    return JobResult(None if folder is None else str(folder), first.parts, tested, kept, total)


def read_record(path: Path) -> PartRecord | None:
    """The record of a part that was written; None where there is none or it is damaged."""
    try:
        told = json.loads(path.read_bytes())
        seal = told.pop("seal")
        return PartRecord(**told) if seal == _seal(told) else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        _log.warning("%s cannot be read: the part is computed again", path)
        return None


def _seal(told: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _size_and_sha256(path: Path) -> tuple[int, str]:
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), found


def _plain(value: Any) -> Any:
    """An option's value as JSON has it: numbers and arrays of NumPy as those of Python."""
    return value.tolist() if hasattr(value, "tolist") else list(value)


def is_path(data: Any) -> bool:
    """Whether a table of a job is given as the path of a file."""
    return isinstance(data, str | os.PathLike)


def _read(data: Any, argument: str, mapped: bool) -> Any:
    """An array; of a path, in memory of its own: what is hashed is what is computed from."""
    if not is_path(data):
        return data
    try:
        return np.load(data, mmap_mode="r" if mapped else None)
    except (EOFError, ValueError) as error:
        raise ValueError(f"{argument}: {data} cannot be read as .npy: {error}") from error


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
