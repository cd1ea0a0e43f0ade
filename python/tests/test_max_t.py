"""The family-wise error by permutation, beside NumPy."""

from __future__ import annotations

from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest

Rng = np.random.Generator


def correlated(rng: Rng, rows: int, cols: int) -> Any:
    x = rng.normal(size=(rows, cols))
    x[1::3] += 2 * x[: len(x[1::3]) * 3 : 3]
    return x


def unit(x: Any) -> Any:
    x = x - x.mean(axis=1, keepdims=True)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def test_maxima_are_those_of_numpy(rng: Rng) -> None:
    x, y = rng.normal(size=(12, 9)), rng.normal(size=(7, 9))
    one = gs.max_t(x, measure="pearson", permutations=400, seed=3, backend="cpu")
    assert one.maxima.shape == (400,)
    assert (np.diff(one.maxima) <= 0).all()
    # The same distribution as that of NumPy's shuffles: the quartiles agree as far as 400 tell.
    own = []
    for _ in range(400):
        r = unit(x) @ unit(x[:, rng.permutation(9)]).T
        own.append(np.abs(r[np.triu_indices(12, 1)]).max())
    np.testing.assert_allclose(np.median(one.maxima), np.median(own), atol=0.02)
    two = gs.max_t(x, y, measure="pearson", permutations=400, backend="cpu")
    own = [np.abs(unit(y) @ unit(x[:, rng.permutation(9)]).T).max() for _ in range(400)]
    np.testing.assert_allclose(np.median(two.maxima), np.median(own), atol=0.02)


def autoregressive(rng: Rng, rows: int, cols: int, share: float = 0.9) -> Any:
    x = rng.normal(size=(rows, cols))
    for k in range(1, cols):
        x[:, k] += share * x[:, k - 1]
    return x


def test_circular_shifts_are_those_of_numpy(rng: Rng) -> None:
    x, y = rng.normal(size=(12, 10)), rng.normal(size=(7, 10))
    shifted = [unit(x) @ unit(np.roll(x, -s, axis=1)).T for s in range(1, 10)]
    wanted = sorted((np.abs(r[np.triu_indices(12, 1)]).max() for r in shifted), reverse=True)
    null = gs.max_t(x, measure="pearson", shuffle="circular", permutations=9, seed=8)
    np.testing.assert_allclose(null.maxima, wanted, atol=1e-14)
    assert null.shuffle == "circular" and repr(null).startswith("MaxT: 9 circular shifts")
    shifted = [unit(y) @ unit(np.roll(x, s, axis=1)).T for s in range(1, 10)]
    null = gs.max_t(x, y, measure="pearson", shuffle="circular", permutations=9)
    np.testing.assert_allclose(
        null.maxima, sorted((np.abs(r).max() for r in shifted), reverse=True), atol=1e-14
    )


def test_independent_time_series_are_kept_by_permutations_alone(rng: Rng) -> None:
    x = autoregressive(rng, 30, 300)
    by_order = gs.max_t(x, measure="pearson", permutations=99)
    assert len(gs.pearson_edges(x, min_abs=by_order.cut(0.05))) > 20
    by_shifts = gs.max_t(x, measure="pearson", permutations=299, shuffle="circular")
    assert len(gs.pearson_edges(x, min_abs=by_shifts.cut(0.05))) == 0


def test_the_cut_keeps_what_adjusted_p_says(rng: Rng) -> None:
    x = correlated(rng, 30, 20)
    for measure in ("spearman", "pearson", "cosine", "bicor"):
        null = gs.max_t(x, measure=measure, permutations=199, seed=1)
        everything = gs.edges(x, measure=measure)
        p = everything.adjusted_p(null)
        count = [(null.maxima >= s).sum() for s in np.abs(everything.statistic)]
        np.testing.assert_array_equal(p, (1 + np.array(count)) / 200)
        kept = gs.edges(x, measure=measure, min_abs=null.cut(0.05))
        assert 0 < len(kept) == (p <= 0.05).sum() < len(everything)
    assert null.adjusted_p(float("nan")) != null.adjusted_p(float("nan"))
    assert null.adjusted_p(1.5) == pytest.approx(1 / 200)


def test_edges_take_it_as_an_adjustment(rng: Rng) -> None:
    x = correlated(rng, 20, 15)
    null = gs.max_t(x, permutations=99)
    edges = gs.spearman_edges(x, min_abs=null.cut(0.1))
    # Of some edges too: p follows from the statistic.
    assert edges[:2].adjusted_p(null).tolist() == edges.adjusted_p(null)[:2].tolist()
    pytest.importorskip("pandas")
    assert (edges.to_pandas(adjust=null)["q"] <= 0.1).all()
    with pytest.raises(ValueError, match="adjust: got maxima of spearman, expected those of pear"):
        gs.pearson_edges(x, min_abs=0.5).adjusted_p(null)


def test_seeds_tails_and_axis(rng: Rng) -> None:
    x = rng.normal(size=(15, 8))
    first = gs.max_t(x, permutations=20, seed=5)
    assert (
        first.maxima.tolist() == gs.max_t(x, permutations=20, seed=5, cpu_threads=1).maxima.tolist()
    )
    assert first.maxima.tolist() == gs.max_t(x.T, permutations=20, seed=5, axis=1).maxima.tolist()
    assert first.maxima.tolist() != gs.max_t(x, permutations=20, seed=6).maxima.tolist()
    greater = gs.max_t(x, permutations=20, seed=5, tail="greater")
    less = gs.max_t(x, permutations=20, seed=5, tail="less")
    assert greater.tail == "greater" and less.maxima.max() <= first.maxima.max()
    assert "20 permutations, spearman, two-sided" in repr(first)
    # Of three columns no statistic is rare; infinity keeps none.
    few = gs.max_t(rng.normal(size=(20, 3)), permutations=50)
    assert few.cut(0.05) == np.inf
    assert len(gs.spearman_edges(rng.normal(size=(20, 3)), min_abs=few.cut(0.05))) == 0


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"permutations": 0}, ValueError, "permutations: got 0, expected 1 to 1000000"),
        ({"seed": -1}, ValueError, "seed: got -1"),
        (
            {"shuffle": "circular", "permutations": 4},
            ValueError,
            "permutations: got 4, expected at most 3 with circular shuffles: 4 columns have 3",
        ),
        (
            {"shuffle": "roll"},
            ValueError,
            "shuffle: got 'roll', expected one of 'permutation', 'circular'",
        ),
        ({"nans": "pairwise"}, gs.Unsupported, "nans: pairwise is not offered for max-T"),
        ({"part": (0, 2)}, gs.Unsupported, "part: not offered for max-T, expected the whole job"),
    ],
)
def test_refusals(options: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        gs.max_t(np.eye(4), **options)


def test_a_level_below_every_p_is_refused() -> None:
    null = gs.max_t(np.random.default_rng(0).normal(size=(5, 6)), permutations=19)
    for level in (0.04, 0.0, 1.5, float("nan")):
        with pytest.raises(ValueError, match="level: got"):
            null.cut(level)
