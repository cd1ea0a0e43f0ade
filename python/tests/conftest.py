"""What the tests share: tables of several kinds, and the slow answers they are held to."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


# What may be absent on a machine of a developer: Java, pyspark, the built command. Where nothing
# may be left out, as in CI, a skipped test of these files is a failure.
REQUIRED_FILES = {"test_command_files.py", "test_distributed.py"}
NO_DATA = "is not in ../shared/data"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    is_required = os.environ.get("GPU_SIMILARITY_REQUIRE_CLUSTERS") == "1"
    if report.skipped and is_required and item.path.name in REQUIRED_FILES:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if NO_DATA not in reason and not hasattr(report, "wasxfail"):
            report.outcome = "failed"
            report.longrepr = f"skipped, but required: {reason}"
    return report


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
    pytest.skip(f"{name} {NO_DATA}")
