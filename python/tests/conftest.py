"""What the tests share: tables of several kinds, and the slow answers they are held to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)


@pytest.fixture(params=["normal", "tied", "correlated", "constant rows"])
def table(request: pytest.FixtureRequest, rng: np.random.Generator) -> np.ndarray:
    """A table [60, 24] of each kind."""
    rows, cols = 60, 24
    x = rng.normal(size=(rows, cols))
    if request.param == "tied":
        return rng.integers(0, 4, size=(rows, cols)).astype(np.int32)
    if request.param == "correlated":
        return x + 3 * rng.normal(size=(1, cols))
    if request.param == "constant rows":
        x[[3, 17]] = 2.5
    return x


@pytest.fixture
def data_file() -> Callable[[str], Path]:
    """The path of a table with known answers; the test is skipped where it is absent."""
    return _data_file


def _data_file(name: str) -> Path:
    for folder in (ROOT.parent / "shared" / "data", ROOT / "shared" / "data"):
        if (folder / name).exists():
            return folder / name
    if name == "fashion_5000x30.txt":
        return ROOT / "examples" / "data" / name
    pytest.skip(f"{name} is not in ../shared/data")
