"""Spearman's p by permutations."""

from __future__ import annotations

import itertools
import math
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
    got = gs.spearman_edges(x)
    assert np.array_equal(got.records, gs.spearman_edges(x, p_method="exact").records)
    assert got.summary.pairs_by_t == 5
    assert got.summary.test == "permutations"
    by_t = gs.spearman_edges(x, p_method="t")
    assert by_t.summary.pairs_by_t == 0
    assert by_t.summary.test == "student_t"
    for e in range(len(got)):
        i, j = int(got.row[e]), int(got.col[e])
        wanted = by_t.p[e] if j == 5 else permutation_p(x[i], x[j])
        assert got.p[e] == pytest.approx(wanted, rel=1e-12)


def test_partners_have_it(rng: Rng) -> None:
    x = rng.normal(size=(12, 8))
    x[::4] = np.round(x[::4])
    edges = gs.spearman_edges(x)
    p = {(int(i), int(j)): own for i, j, own in zip(edges.row, edges.col, edges.p, strict=True)}
    partners = gs.top_k_partners(x, 3)
    for i in range(12):
        for e in range(partners.count[i]):
            j = int(partners.index[i, e])
            assert partners.p[i, e] == p[min(i, j), max(i, j)]


def test_noise_of_few_columns_keeps_nothing(rng: Rng) -> None:
    for columns in (5, 6, 7, 8):
        x = rng.normal(size=(400, columns))
        with pytest.warns(UserWarning, match=rf"^{columns} observations: no p of ranks is below"):
            kept = gs.spearman_edges(x, max_p=0.05, adjust="bonferroni")
        assert len(kept) == 0
    assert len(gs.spearman_edges(x[:, :5], max_p=0.05, adjust="bonferroni", p_method="t")) > 0


@pytest.mark.filterwarnings("error")
def test_who_is_not_warned(rng: Rng) -> None:
    x = rng.normal(size=(20, 12))
    gs.spearman_edges(x, max_p=0.05)
    gs.spearman_edges(x[:, :5])
    gs.pearson_edges(x[:, :5], max_p=0.05)
    gs.spearman_edges(x[:, :5], max_p=0.05, p_method="t")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_p_is_never_below_what_permutations_allow() -> None:
    for columns in (5, 9, 10, 30):
        x = np.array([np.arange(columns), np.arange(columns) ** 2, -np.arange(columns)])
        edges = gs.spearman_edges(x)
        least = edges.summary.least_p
        assert least == pytest.approx(2 / math.factorial(columns), rel=1e-14)
        assert edges.p.tolist() == [least] * 3
        assert gs.top_k_partners(x, 1).p.ravel().tolist() == [least] * 3
        assert gs.top_k_partners(x, 1, tail="greater").p[0, 0] == least / 2
        assert len(gs.spearman_edges(x, max_p=least)) == 3
        assert len(gs.spearman_edges(x, max_p=np.nextafter(least, 0))) == 0
        assert gs.spearmanr(x, axis=1).pvalue[0, 1] == 0  # as SciPy has it
    # 4! 5! of 9! permutations leave a row of two values as it is.
    tied = np.array([[0, 0, 0, 0, 1, 1, 1, 1, 1], [3, 3, 3, 3, 7, 7, 7, 7, 7]])
    assert gs.spearman_edges(tied).p[0] == pytest.approx(2 * 24 * 120 / math.factorial(9))


def test_what_it_does_not_go_with(rng: Rng) -> None:
    x = rng.normal(size=(5, 9))
    with pytest.raises(gs.Unsupported, match="p_method"):
        gs.pearson_edges(x, p_method="exact")
    with pytest.raises(gs.Unsupported, match="nans"):
        gs.spearman_edges(x, p_method="exact", nans="pairwise")
    with pytest.raises(ValueError, match="p_method"):
        gs.spearman_edges(x, p_method="maybe")  # type: ignore[arg-type]
