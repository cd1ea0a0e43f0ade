"""Differential correlation beside NumPy's formula."""

from __future__ import annotations

from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest

Rng = np.random.Generator


def own_pairs(x: Any, first: Any, second: Any, measure: str) -> tuple[Any, ...]:
    stats = pytest.importorskip("scipy.stats")
    factor = 1.0 if measure == "pearson" else 1.06

    def correlation(y: Any) -> Any:
        return np.corrcoef(y if measure == "pearson" else stats.rankdata(y, axis=1))

    one, two = correlation(x[:, first]), correlation(x[:, second])
    error = np.sqrt(factor / (len(first) - 3) + factor / (len(second) - 3))
    i, j = np.triu_indices(len(x), 1)
    z = (np.arctanh(one[i, j]) - np.arctanh(two[i, j])) / error
    return i, j, one[i, j], two[i, j], z, 2 * stats.norm.sf(np.abs(z))


@pytest.mark.parametrize("measure", ["pearson", "spearman"])
def test_every_pair_is_numpys(rng: Rng, measure: Any) -> None:
    x = rng.normal(size=(30, 40))
    x[1::2, :15] += x[::2, :15]
    first, second = np.arange(15), np.arange(39, 17, -1)
    i, j, one, two, z, p = own_pairs(x, first, second, measure)
    got = gs.differential(x, (first, second), measure=measure)
    assert (got.row == i).all() and (got.col == j).all()
    for mine, wanted in ((got.first, one), (got.second, two), (got.z, z), (got.p, p)):
        np.testing.assert_allclose(mine, wanted, rtol=1e-9, atol=1e-12)
    assert got.summary.pairs_tested == 435
    cut = gs.differential(x, (first, second), measure=measure, max_p=0.05, adjust="bh")
    q = got.adjusted_p()
    assert (np.stack([cut.row, cut.col]) == np.stack([i, j])[:, q <= 0.05]).all()
    np.testing.assert_allclose(cut.adjusted_p(), q[q <= 0.05])
    less = gs.differential(x, (first, second), measure=measure, min_abs_z=1.5, tail="less")
    assert len(less) == np.count_nonzero(-z >= 1.5)


def test_groups_are_numbers_or_masks(rng: Rng) -> None:
    x = rng.normal(size=(8, 20))
    mask = np.arange(20) < 9
    numbers = gs.differential(x, (range(9), range(9, 20)))
    masks = gs.differential(x, (mask, ~mask))
    columns = gs.differential(x.T, (mask, ~mask), axis="columns")
    assert (numbers.z == masks.z).all() and (numbers.z == columns.z).all()
    with pytest.raises(ValueError, match="mask of 19"):
        gs.differential(x, (mask[1:], ~mask))
    with pytest.raises(TypeError, match="groups"):
        gs.differential(x, (np.arange(9.0), ~mask))
    with pytest.raises(ValueError, match="twice"):
        gs.differential(x, (range(9), range(8, 20)))
    with pytest.raises(gs.Unsupported):
        gs.differential(x, (mask, ~mask), measure="kendall")
    with pytest.raises(gs.CapacityExceeded):
        gs.differential(x, (mask, ~mask), max_edges=3)


def test_names_and_frames(rng: Rng) -> None:
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame(rng.normal(size=(5, 12)), index=list("abcde"))
    frame = gs.differential(x, (range(6), range(6, 12))).to_pandas(adjust="bonferroni")
    assert list(frame.columns) == ["row", "col", "first", "second", "z", "p", "q"]
    assert (frame["row"][0], frame["col"][0]) == ("a", "b")


@pytest.mark.parametrize("measure", ["pearson", "spearman"])
@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
def test_partners_are_the_best_of_every_pair(rng: Rng, measure: Any, tail: Any) -> None:
    x = rng.normal(size=(30, 40))
    x[1::2, :15] += x[::2, :15]
    first, second = np.arange(15), np.arange(39, 17, -1)
    i, j, one, two, z, _ = own_pairs(x, first, second, measure)
    table = np.full((30, 30), -np.inf)
    statistics = np.zeros((2, 30, 30))
    directed = {"two-sided": np.abs(z), "greater": z, "less": -z}[tail]
    for a, b in ((i, j), (j, i)):
        table[a, b] = directed
        statistics[:, a, b] = one, two
    order = np.argsort(-table, axis=1)[:, :4]
    found = gs.differential_partners(x, (first, second), 4, measure=measure, tail=tail)
    rows = np.arange(30)[:, None]
    assert (found.index == order).all() and (found.count == 4).all()
    own = {"two-sided": np.abs(found.z), "greater": found.z, "less": -found.z}[tail]
    np.testing.assert_allclose(own, table[rows, order], rtol=1e-9)
    np.testing.assert_allclose(found.first, statistics[0][rows, order], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.second, statistics[1][rows, order], rtol=1e-9, atol=1e-12)
    assert found.summary.pairs_tested == 435 and found.summary.pairs_kept == 120


def test_partners_within_a_cut(rng: Rng) -> None:
    x = rng.normal(size=(30, 40))
    groups = (range(20), range(20, 40))
    names = np.array([f"g{i}" for i in range(30)], object)
    edges = gs.differential(x, groups, max_p=0.1)
    found = gs.differential_partners(x, groups, 40, max_p=0.1, names=names)
    assert found.count.sum() == 2 * len(edges) > 0
    assert (found.count == np.bincount(np.r_[edges.row, edges.col], minlength=30)).all()
    behind = np.arange(40) >= found.count[:, None]
    assert (found.index[behind] == 2**32 - 1).all() and np.isnan(found.p[behind]).all()
    frame = found.to_pandas()
    assert len(frame) == found.summary.pairs_kept and (frame.p <= 0.1).all()
    assert frame["rank"].min() == 1 and set(frame.row) | set(frame.col) <= set(names)
    with pytest.raises(ValueError, match="k"):
        gs.differential_partners(x, groups, 0)
    with pytest.raises(ValueError, match="groups: got a sequence of 1, expected two groups"):
        gs.differential_partners(x, groups[:1], 2)


@pytest.mark.parametrize("measure", ["pearson", "spearman"])
def test_parts_are_the_whole(rng: Rng, measure: Any) -> None:
    x = rng.normal(size=(23, 40))
    x[5] = x[2]
    x[7, :20] = 1
    x[9, 3] = np.nan
    groups = (range(20), range(20, 40))
    options: dict[str, Any] = {"measure": measure, "max_p": 0.9, "nans": "propagate"}
    for adjust in ("none", "bonferroni"):
        options["adjust"] = adjust
        whole = gs.differential(x, groups, **options)
        best = gs.differential_partners(x, groups, 3, **options)
        for parts in (2, 5, 16):
            found = [gs.differential(x, groups, **options, part=(i, parts)) for i in range(parts)]
            for name in ("row", "col", "first", "second", "z", "p"):
                joined = np.concatenate([getattr(part, name) for part in found])
                np.testing.assert_array_equal(joined, getattr(whole, name))
            assert sum(part.summary.pairs_tested for part in found) == whole.summary.pairs_tested
            assert [part.summary.part_begin for part in found][1:] == [
                part.summary.part_end for part in found
            ][:-1]
            assert {part.summary.max_p_effective for part in found} == {
                whole.summary.max_p_effective
            }
            panels = [
                gs.differential_partners(x, groups, 3, **options, part=(i, parts))
                for i in range(parts)
            ]
            for name in ("index", "first", "second", "z", "p", "count"):
                joined = np.concatenate([getattr(panel, name) for panel in panels])
                np.testing.assert_array_equal(joined, getattr(best, name))
    assert len(gs.differential(x, groups, nans="propagate")) == 21 * 20 // 2


def test_a_part_says_which_rows_it_has(rng: Rng) -> None:
    pytest.importorskip("pandas")
    x = rng.normal(size=(12, 40))
    groups = (range(20), range(20, 40))
    names = np.array([f"g{i}" for i in range(12)], object)
    whole = gs.differential_partners(x, groups, 2, names=names).to_pandas()
    frames = [
        gs.differential_partners(x, groups, 2, names=names, part=(i, 3)).to_pandas()
        for i in range(3)
    ]
    assert [row for frame in frames for row in frame.row] == list(whole.row)
    assert gs.differential_partners(x, groups, 2, part=(1, 3)).to_pandas().row[0] == 4
    part = gs.differential(x, groups, part=(0, 3))
    with pytest.raises(ValueError, match="adjusted_p: got the pairs of a part"):
        part.adjusted_p()
    with pytest.raises(gs.Unsupported, match="benjamini-hochberg"):
        gs.differential(x, groups, part=(0, 3), adjust="bh")
    with pytest.raises(ValueError, match="part: got 3, expected 0 to 2"):
        gs.differential(x, groups, part=(3, 3))
