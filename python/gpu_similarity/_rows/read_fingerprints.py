"""Fingerprints from files, read as the command gpu-similarity reads them."""

from __future__ import annotations

import os
import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from .._shared.errors import Unsupported
from .._shared.messages import integer
from .._tables.read_table import (
    Sign,
    Word,
    array_of_names,
    in_keywords,
    layout_options,
    told_by_reader,
)
from .products import Bits

Format = Literal["auto", "fps", "table"]


class Fingerprints(NamedTuple):
    """Rows of bits with their names, as `read_fingerprints` gives them.

    Attributes
    ----------
    bits : Bits
        What measures of rows of bits take.
    names : ndarray of str, or None
        Names of the rows.
    notes : tuple of str
        What was taken for what, where another reading is likely too.
    """

    bits: Bits
    names: npt.NDArray[Any] | None
    notes: tuple[str, ...]


def read_fingerprints(
    path: str | os.PathLike[str],
    *,
    input_format: Format = "auto",
    bits: int | None = None,
    header: Sign = "auto",
    row_names: Sign = "auto",
    delimiter: str = "auto",
    comment: str = "",
    columns: Word | None = None,
    names_column: Word | None = None,
    names: str | os.PathLike[str] | None = None,
    transpose: bool = False,
    cpu_threads: int = 0,
    max_bytes: int = 32_000_000_000,
) -> Fingerprints:
    """Rows of bits from a file, with names: fingerprints of molecules, or any table of 0 and 1.

    Parameters
    ----------
    path : str or path
        The file, perhaps compressed by gzip or zstd.
    input_format : {"auto", "fps", "table"}
        "fps": chemfp's text. "table": 0 and 1 of any format that `read_table` takes. "auto": FPS
        if the file begins with #FPS1, else a table.
    bits : int, optional
        Bits of a row, where the octets of FPS have more.
    header, row_names, delimiter, comment, names_column, names, transpose, cpu_threads, max_bytes
        As in `read_table`.
    columns : str or int, optional
        The columns of bits of a table, by number from 1 or by name; default: all.

    Returns
    -------
    Fingerprints

    Raises
    ------
    OSError
        For a file that cannot be opened.
    ValueError
        For what are no fingerprints; file and line are named.
    Unsupported
        Where the package was built without zlib.

    Warns
    -----
    UserWarning
        Where the first line was taken for names of columns, and may be a fingerprint.

    Examples
    --------
    >>> import gpu_similarity as gs, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "molecules.fps"
    ...     _ = path.write_text("#FPS1\\n#num_bits=16\\n0f01\\taspirin\\n0701\\tibuprofen\\n")
    ...     found = gs.read_fingerprints(path)
    >>> found.bits, list(found.names)
    (Bits: 2 x 16, ['aspirin', 'ibuprofen'])
    >>> gs.edges(found.bits, measure="tanimoto", min_abs=0.5, names=found.names)
    Edges: 1 of 1 pairs of 2 rows, tanimoto, |tanimoto| >= 0.5
      aspirin -- ibuprofen  0.800000
    """
    if not hasattr(_core, "read_fingerprints"):
        raise Unsupported("read_fingerprints: this package was built without zlib, which it needs")
    options = layout_options(
        header=header,
        row_names=row_names,
        delimiter=delimiter,
        comment=comment,
        columns=() if columns is None else columns,
        names_column=names_column,
        names=names,
        transpose=transpose,
        cpu_threads=cpu_threads,
        max_bytes=max_bytes,
    )
    options["input_format"] = input_format
    if bits is not None:
        options["bits"] = integer("bits", bits)
        if options["bits"] < 1:
            raise ValueError(f"bits: got {bits}, expected at least 1")
    words, count, row_names_read, notes = told_by_reader(
        _core.read_fingerprints, os.fsencode(path), options
    )
    notes = tuple(in_keywords(note) for note in notes)
    for note in notes:
        warnings.warn(f"{os.fspath(path)}: {note}", UserWarning, stacklevel=2)
    return Fingerprints(Bits(np.asarray(words), count), array_of_names(row_names_read), notes)
