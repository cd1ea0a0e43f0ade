"""Fingerprints as the command reads them, held to NumPy's bits."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest

NEEDS_READER = hasattr(gs._core, "read_fingerprints")
pytestmark = pytest.mark.skipif(not NEEDS_READER, reason="built without zlib")

ROWS, BITS = 23, 166


@pytest.fixture
def rows(rng: np.random.Generator) -> np.ndarray:
    return rng.random((ROWS, BITS)) < 0.3


def hex_of(row: np.ndarray) -> str:
    return np.packbits(row, bitorder="little").tobytes().hex()


def fps_of(rows: np.ndarray) -> str:
    lines = [f"{hex_of(row)}\tmol {i}\tmore" for i, row in enumerate(rows)]
    return "\n".join(["#FPS1", f"#num_bits={BITS}", "#software=test", *lines]) + "\n"


def check(found: Any, rows: np.ndarray, names: list[str] | None) -> None:
    assert found.bits.shape == rows.shape
    assert (found.bits.unpack() == rows).all()
    assert (found.names is None) == (names is None)
    if names is not None:
        assert found.names.tolist() == names


def test_text(rows: np.ndarray, tmp_path: Path) -> None:
    names = [f"mol {i}" for i in range(ROWS)]
    path = tmp_path / "a.fps"
    path.write_text(fps_of(rows))
    check(gs.read_fingerprints(path), rows, names)
    packed = tmp_path / "b.fps.gz"
    packed.write_bytes(gzip.compress(fps_of(rows).encode()))
    check(gs.read_fingerprints(packed), rows, names)
    path = tmp_path / "bare.fps"
    path.write_text("".join(f"{hex_of(row)}\tmol {i}\n" for i, row in enumerate(rows)))
    check(gs.read_fingerprints(path, bits=BITS, input_format="fps"), rows, names)
    with pytest.raises(gs.InvalidArgument, match="in one field"):
        gs.read_fingerprints(path)


def test_arrays(rows: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    for kind in (bool, np.uint8, np.int32, np.float64):
        np.save(path, rows.astype(kind))
        check(gs.read_fingerprints(path), rows, None)
        check(gs.read_fingerprints(path, transpose=True), rows.T, None)
    np.save(path, np.packbits(rows, axis=1))
    with pytest.raises(gs.InvalidArgument, match=r"np\.unpackbits\(a, axis=1\)"):
        gs.read_fingerprints(path)


def test_sparse(rows: np.ndarray, tmp_path: Path) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    path = tmp_path / "a.mtx"
    pytest.importorskip("scipy.io").mmwrite(path, sparse.csr_array(rows.astype(np.int8)))
    check(gs.read_fingerprints(path), rows, None)


def test_what_is_read_goes_into_calls(rows: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "a.fps"
    path.write_text(fps_of(rows))
    found = gs.read_fingerprints(path)
    edges = gs.edges(found.bits, measure="tanimoto", min_abs=0.2, names=found.names)
    wanted = gs.edges(rows, measure="tanimoto", min_abs=0.2)
    assert len(edges) == len(wanted) > 0
    assert (edges.row == wanted.row).all() and (edges.statistic == wanted.statistic).all()
    assert edges.names.tolist() == found.names.tolist()


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("#FPS1\n#num_bits=16\nffff\ta\nff\tb\n", {}, "a.fps:4: column 1: got 2 hex"),
        ("#FPS1\n#num_bits=16\nffff\ta\n", {"bits": 8}, "got 16 bits, expected 8"),
        ("0 1 2\n", {}, "got 2 in row 1, column 3 of values"),
        ("#FPS1\n0011\ta\n", {"transpose": True}, "with which transpose does not go"),
        ("00112233 a\n", {}, "in one field. input_format='fps' reads hexadecimal digits"),
        ("id x y\na 0 1\nb 1 1\n", {"columns": "no"}, "columns: got 'no'"),
        ("", {}, "a.fps"),
    ],
)
def test_what_is_wrong(tmp_path: Path, text: str, options: Any, message: str) -> None:
    path = tmp_path / "a.fps"
    path.write_text(text)
    with pytest.raises(gs.InvalidArgument) as caught:
        gs.read_fingerprints(path, **options)
    assert message in str(caught.value)
    assert "--" not in str(caught.value)


def test_arguments(tmp_path: Path) -> None:
    path = tmp_path / "a.fps"
    with pytest.raises(FileNotFoundError):
        gs.read_fingerprints(path)
    path.write_text("#FPS1\nff\ta\n")
    for options in ({"bits": 0}, {"input_format": "other"}, {"header": 3}):
        with pytest.raises(ValueError):
            gs.read_fingerprints(path, **options)
