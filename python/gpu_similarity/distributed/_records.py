"""What the parts of a job tell of themselves, and how they are added up."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._results.checksum import Checksum
from .._results.edges import Edges

if TYPE_CHECKING:
    import pandas

_log = logging.getLogger(__name__)


class IncompleteJob(RuntimeError):
    """Parts are missing, or what they say does not add up to the whole."""


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
        rows = s.rows - sum(map(len, (s.constant_rows, s.nan_rows, s.infinite_rows)))
        y_without = sum(map(len, (s.y_constant_rows, s.y_nan_rows, s.y_infinite_rows)))
        y_rows = -1 if s.y_rows is None else s.y_rows - y_without
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

    def to_pandas(self) -> pandas.DataFrame:
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
