"""Real tables whose answers were confirmed by two independent programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gpu_similarity as gs
import numpy as np
import pytest

Load = Callable[[str], np.ndarray]


@pytest.fixture
def load(data_file: Callable[[str], Path]) -> Load:
    def read(name: str) -> np.ndarray:
        if name == "golub":
            return np.loadtxt(data_file("golub.tsv"), delimiter="\t")
        return np.loadtxt(data_file("fashion_5000x30.txt"), dtype=np.int32)

    return read


@pytest.mark.parametrize(
    ("name", "max_p", "adjust", "kept", "row_sum"),
    [
        ("golub", 0.05, "none", 879588, 2720987703967),
        ("golub", 0.001, "none", 139590, 442201467785),
        ("golub", 0.05, "bonferroni", 2468, 8862005514),
        ("golub", 0.05, "bh", 194828, None),
        ("fashion", 0.001, "none", 3182212, 26421216136289),
        ("fashion", 0.05, "bonferroni", 342810, 2821005730477),
    ],
)
def test_edges(
    load: Load, name: str, max_p: float, adjust: str, kept: int, row_sum: int | None
) -> None:
    x = load(name)
    edges = gs.spearman_edges(x, max_p=max_p, adjust=adjust, axis="rows")
    assert len(edges) == kept
    if row_sum is not None:
        assert int((edges.row.astype(np.int64) * len(x) + edges.col).sum()) == row_sum


@pytest.mark.parametrize(
    ("name", "kept", "degree"), [("golub", 139590, 477), ("fashion", 3182212, 3142)]
)
def test_counts(load: Load, name: str, kept: int, degree: int) -> None:
    counts = gs.counts(load(name), max_p=0.001, axis="rows")
    assert counts.kept == kept
    assert counts.degree.max() == degree


def test_pearson_of_golub(load: Load) -> None:
    assert gs.counts(load("golub"), measure="pearson", max_p=0.05, axis="rows").kept == 831516
