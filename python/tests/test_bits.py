"""Similarities of rows of bits by every function over all pairs, against sets and SciPy."""

from __future__ import annotations

from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest

RNG = np.random.default_rng(8)


def rows_of(count: int, columns: int) -> np.ndarray:
    rows = RNG.random((count, columns)) < 0.3
    rows[1] = rows[0]
    rows[2] = False
    rows[3] = False
    return rows


def similarities(
    x: np.ndarray, y: np.ndarray, alpha: float = 1, beta: float = 1, denominator: int = 1
) -> np.ndarray:
    """Of sets, as ratios of Python's integers."""
    left, right = round(alpha * denominator), round(beta * denominator)
    sets = [[set(np.flatnonzero(row)) for row in table] for table in (x, y)]

    def of(a: set, b: set) -> float:
        both = denominator * len(a & b)
        return both / max(1, both + left * len(a - b) + right * len(b - a))

    return np.array([[of(a, b) for b in sets[1]] for a in sets[0]])


MEASURES: dict[str, tuple[dict[str, Any], tuple[float, float, int]]] = {
    "tanimoto": ({}, (1, 1, 1)),
    "dice": ({}, (0.5, 0.5, 2)),
    "tversky": ({"alpha": 0.3, "beta": 0.3}, (0.3, 0.3, 10)),
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("columns", [1, 8, 31, 65, 300])
@pytest.mark.parametrize("form", ["bool", "octets", "bits"])
def test_every_result_equals_sets(measure: str, columns: int, form: str) -> None:
    x, y = rows_of(30, columns), rows_of(20, columns)
    given = {
        "bool": lambda rows: rows,
        "octets": lambda rows: np.packbits(rows, axis=1),
        "bits": lambda rows: gs.pack_bits(rows.astype(np.int8), 1, backend="cpu"),
    }[form]
    how: dict[str, Any] = {"measure": measure, **MEASURES[measure][0]}
    for second in (None, y):
        wanted = similarities(x, x if second is None else y, *MEASURES[measure][1])
        tables = (given(x), None if second is None else given(y))
        assert np.array_equal(gs.dense(*tables, **how).matrix, wanted)
        single = gs.dense(*tables, **how, dtype="float32").matrix
        assert np.array_equal(single, wanted.astype(np.float32))
        met = np.triu(np.ones(wanted.shape, bool), 1) if second is None else wanted >= 0
        row, col = np.nonzero(met & (wanted >= 0.25))
        prepared = tables[1] if second is None else gs.prepare(tables[1], **how)
        for other in (tables[1], prepared):
            edges = gs.edges(tables[0], other, min_abs=0.25, **how)
            assert np.array_equal(edges.row, row)
            assert np.array_equal(edges.col, col)
            assert np.array_equal(edges.statistic, wanted[row, col])
            assert not edges.has_p
        with gs.stream(*tables, min_abs=0.25, batch_edges=7, **how) as batches:
            assert np.array_equal(np.concatenate([b.row for b in batches] + [[]]), row)
        counts = gs.counts(*tables, min_abs=0.25, bins=8, **how)
        assert counts.kept == len(row)
        assert counts.histogram.sum() == len(row)
        assert gs.plan(*tables, min_abs=0.25, **how).kept_estimate == pytest.approx(len(row))
        best = gs.top_k_partners(tables[0], 4, tables[1], **how)
        for i, values in enumerate(wanted):
            order = [j for j in np.argsort(-values, kind="stable") if second is not None or j != i]
            assert best.index[i].tolist() == order[:4]


def test_tversky_is_of_x_and_y() -> None:
    x, y = rows_of(30, 40), rows_of(20, 40)
    how: dict[str, Any] = {"measure": "tversky", "alpha": 1 / 3, "beta": 2}
    wanted = similarities(x, y, 1 / 3, 2, 3)
    assert np.array_equal(gs.dense(x, y, **how).matrix, wanted)
    assert np.array_equal(gs.dense(x, gs.prepare(y, **how), **how).matrix, wanted)
    with pytest.raises(ValueError, match="no order, expected equal numbers, or x against y"):
        gs.dense(x, **how)
    for alpha, beta in ((-1, 1), (0.1234567, 1), (0, 0), (1001, 1), (float("nan"), 1)):
        with pytest.raises(ValueError, match=r"^alpha, beta: got .* expected fractions"):
            gs.edges(x, y, measure="tversky", alpha=alpha, beta=beta)
    with pytest.raises(NotImplementedError, match=r"^alpha, beta: not offered for Dice"):
        gs.edges(x, measure="dice", alpha=2)


def test_numbers_and_bits_are_not_taken_for_each_other() -> None:
    x = rows_of(5, 40)
    with pytest.raises(TypeError, match="expected bool, or uint8"):
        gs.edges(x.astype(float), measure="tanimoto")
    with pytest.raises(NotImplementedError, match="Tanimoto compares rows of bits"):
        gs.max_t(x, measure="tanimoto", permutations=5)
    with pytest.raises(ValueError, match="axis"):
        gs.edges(x, measure="dice", axis="columns")
    with pytest.raises(NotImplementedError, match="no significance test"):
        gs.edges(x, measure="dice", max_p=0.05)


def test_scipys_distances() -> None:
    distance = pytest.importorskip("scipy.spatial.distance")
    x = rows_of(40, 130)
    x[2:4] = x[5:7]  # of empty rows SciPy says 1 where this says 0
    wanted = 1 - distance.squareform(distance.pdist(x, "jaccard"))
    assert np.allclose(gs.dense(measure="tanimoto", x=x).matrix, wanted, atol=1e-15)


def test_names_parts_and_text() -> None:
    x = rows_of(12, 40)
    names = [f"m{i}" for i in range(12)]
    edges = gs.edges(measure="tanimoto", x=x, min_abs=0.9, names=names)
    assert edges.measure == "tanimoto" and edges.symbol == "tanimoto"
    assert "m0 -- m1" in repr(edges)
    parts = [gs.edges(measure="tanimoto", x=x, min_abs=0.2, part=(i, 3)).records for i in range(3)]
    whole = gs.edges(measure="tanimoto", x=x, min_abs=0.2).records
    assert np.array_equal(np.concatenate(parts)[["row", "col"]], whole[["row", "col"]])


def test_data_frames_name_their_rows() -> None:
    pandas = pytest.importorskip("pandas")
    x = rows_of(5, 40)
    frame = pandas.DataFrame(x, index=list("abcde"))
    assert gs.edges(measure="tanimoto", x=frame, min_abs=0.9).names.tolist() == list("abcde")


def test_what_is_refused() -> None:
    x = rows_of(5, 40)
    with pytest.raises(ValueError, match="y: got 39 columns, expected the 40 of x"):
        gs.dense(x, x[:, :39], measure="tanimoto")
    with pytest.raises(TypeError, match="expected bool, or uint8"):
        gs.dense(measure="tanimoto", x=x.astype(float))
    with pytest.raises(ValueError, match="dimensions, expected 2"):
        gs.dense(measure="tanimoto", x=x[0])
    with pytest.raises(ValueError, match="min_abs"):
        gs.edges(measure="tanimoto", x=x, min_abs=2)
    with pytest.raises(ValueError, match="y_names"):
        gs.dense(measure="tanimoto", x=x, y_names=list("abcde"))
    with pytest.raises(gs.CapacityExceeded) as error:
        gs.edges(measure="tanimoto", x=x, max_edges=3)
    assert error.value.needed == 10
