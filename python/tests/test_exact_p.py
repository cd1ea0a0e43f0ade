"""Spearman's p by permutations."""

from __future__ import annotations

import itertools
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest

Rng = np.random.Generator


def permutation_p(x: Any, y: Any) -> float:
    """Two-sided, of rows without ties."""
    a, b = x.argsort().argsort(), y.argsort().argsort()
    own = ((a - b) ** 2).sum()
    places = np.arange(len(x))
    sums = np.array([((places - o) ** 2).sum() for o in itertools.permutations(places)])
    return min(1.0, 2 * min((sums <= own).mean(), (sums >= own).mean()))


def test_p_is_that_of_all_permutations(rng: Rng) -> None:
    x = rng.normal(size=(6, 7))
    x[5] = np.round(x[5])
    got = gs.spearman_edges(x, p_method="exact")
    assert got.summary.pairs_by_t == 5
    by_t = gs.spearman_edges(x)
    assert by_t.summary.pairs_by_t == 0
    for e in range(len(got)):
        i, j = int(got.row[e]), int(got.col[e])
        wanted = by_t.p[e] if j == 5 else permutation_p(x[i], x[j])
        assert got.p[e] == pytest.approx(wanted, rel=1e-12)


def test_partners_have_it(rng: Rng) -> None:
    x = rng.normal(size=(12, 8))
    x[::4] = np.round(x[::4])
    edges = gs.spearman_edges(x, p_method="exact")
    p = {(int(i), int(j)): own for i, j, own in zip(edges.row, edges.col, edges.p, strict=True)}
    partners = gs.top_k_partners(x, 3, p_method="exact")
    for i in range(12):
        for e in range(partners.count[i]):
            j = int(partners.index[i, e])
            assert partners.p[i, e] == p[min(i, j), max(i, j)]


def test_what_it_does_not_go_with(rng: Rng) -> None:
    x = rng.normal(size=(5, 9))
    with pytest.raises(gs.Unsupported, match="p_method"):
        gs.pearson_edges(x, p_method="exact")
    with pytest.raises(gs.Unsupported, match="nans"):
        gs.spearman_edges(x, p_method="exact", nans="pairwise")
    with pytest.raises(ValueError, match="p_method"):
        gs.spearman_edges(x, p_method="maybe")  # type: ignore[arg-type]
