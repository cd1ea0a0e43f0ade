"""A job cut into parts: what one task computes, what it writes, and how all of them are checked."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._arrays import Array, table
from .._checksum import Checksum
from .._edges import Edges
from .._options import MEASURES, Measure
from .._pairs import edges


class IncompleteJob(RuntimeError):
    """Parts are missing, or what they say does not add up to the whole."""


@dataclass(frozen=True)
class Job:
    """All pairs of rows of a table, or of x against y, cut into parts.

    Parameters
    ----------
    x, y : array_like, or path of a .npy file
        Rows are variables. A path is opened by every task, and has to be the same file everywhere;
        an array travels to the workers.
    parts : int
        How many; a few for each worker. They have about equally many pairs.
    measure : str
        The measure of two rows, a key of `gpu_similarity.MEASURES`.
    options : dict
        Keywords of `spearman_edges`: max_p, min_abs, tail, adjust ("none" or "bonferroni"), nans,
        backend, cpu_threads, ...

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

    def tables(self) -> tuple[Array, Array | None]:
        """x and y as arrays; of files, as maps of them."""
        ordinal = MEASURES[self.measure].is_ordinal
        x = table(_opened(self.x), "x", ordinal=ordinal)
        return x, None if self.y is None else table(_opened(self.y), "y", ordinal=ordinal)

    def part(self, index: int) -> Edges:
        """The edges of one part, numbered from 0."""
        return edges(
            *self.tables(), measure=self.measure, part=(index, self.parts), **self.options
        )

    def digest(self) -> str:
        """SHA-256 of the tables and of the options that decide which edges there are."""
        deciding = {k: self.options.get(k) for k in ("max_p", "min_abs", "tail", "adjust", "nans")}
        told: dict[str, Any] = {"measure": self.measure, "parts": self.parts, "options": deciding}
        found = hashlib.sha256()
        for data in self.tables():
            if data is not None:
                told.setdefault("tables", []).append([data.dtype.str, *data.shape])
                for row in data:
                    found.update(row)
        found.update(json.dumps(told, sort_keys=True).encode())
        return found.hexdigest()

    def write_part(self, index: int, folder: Any, digest: str) -> PartRecord:
        """Computes one part and writes it to `folder`, unless it is there already.

        The edges go to part-NNNNN.parquet and the record to part-NNNNN.json, each under another
        name first, so that no reader and no second attempt sees half of one; the record comes last.

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
            Where the folder holds this part of another job.
        """
        from pyarrow import parquet

        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        name = f"part-{index:05d}"
        there = read_record(place / f"{name}.json")
        if there is not None and (place / f"{name}.parquet").exists():
            if (there.digest, there.parts) != (digest, self.parts):
                raise IncompleteJob(f"{place / name}: the folder holds a part of another job")
            return there
        edges = self.part(index)
        record = PartRecord.of(edges, index, self.parts, digest)
        with _replaced(place / f"{name}.parquet") as path:
            parquet.write_table(edges.to_arrow(), path)
        with _replaced(place / f"{name}.json") as path:
            path.write_text(json.dumps(asdict(record)))
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
    """

    index: int
    parts: int
    digest: str
    rows: int
    y_rows: int
    tested: int
    kept: int
    checksum: str

    @classmethod
    def of(cls, edges: Edges, index: int, parts: int, digest: str) -> PartRecord:
        """The record of a part's edges."""
        s = edges.summary
        y_rows = -1 if s.y_rows is None else s.y_rows - len(s.y_constant_rows) - len(s.y_nan_rows)
        rows = s.rows - len(s.constant_rows) - len(s.nan_rows)
        return cls(index, parts, digest, rows, y_rows, s.pairs_tested, len(edges), str(s.checksum))


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
    """The record of a part that was written, or None."""
    try:
        return PartRecord(**json.loads(path.read_text()))
    except (FileNotFoundError, json.JSONDecodeError, TypeError):
        return None


def _opened(data: Any) -> Any:
    return np.load(data, mmap_mode="r") if isinstance(data, str | os.PathLike) else data


@contextlib.contextmanager
def _replaced(path: Path) -> Any:
    """A name to write under, which becomes `path` when all of it is on disk."""
    other = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        yield other
        with open(other, "rb") as file:
            os.fsync(file.fileno())
        other.replace(path)
    finally:
        other.unlink(missing_ok=True)
