"""Tanimoto similarities of rows of bits, against sets and SciPy."""

from __future__ import annotations

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


def similarities(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    sets = [[set(np.flatnonzero(row)) for row in table] for table in (x, y)]
    return np.array([[len(a & b) / max(1, len(a | b)) for b in sets[1]] for a in sets[0]])


@pytest.mark.parametrize("columns", [1, 8, 31, 64, 65, 300])
@pytest.mark.parametrize("form", ["bool", "octets", "bits"])
def test_every_result_equals_sets(columns: int, form: str) -> None:
    x, y = rows_of(30, columns), rows_of(20, columns)
    given = {
        "bool": lambda rows: rows,
        "octets": lambda rows: np.packbits(rows, axis=1),
        "bits": lambda rows: gs.pack_bits(rows.astype(np.int8), 1, backend="cpu"),
    }[form]
    for second in (None, y):
        wanted = similarities(x, x if second is None else y)
        tables = (given(x), None if second is None else given(y))
        assert np.array_equal(gs.tanimoto(*tables).matrix, wanted)
        single = gs.tanimoto(*tables, dtype="float32").matrix
        assert np.array_equal(single, wanted.astype(np.float32))
        met = np.triu(np.ones(wanted.shape, bool), 1) if second is None else wanted >= 0
        edges = gs.tanimoto_edges(*tables, min_abs=0.25)
        row, col = np.nonzero(met & (wanted >= 0.25))
        assert np.array_equal(edges.row, row)
        assert np.array_equal(edges.col, col)
        assert np.array_equal(edges.statistic, wanted[row, col])
        assert not edges.has_p
        counts = gs.tanimoto_counts(*tables, min_abs=0.25, bins=8)
        assert counts.kept == len(row)
        assert counts.histogram.sum() == len(row)
        best = gs.tanimoto_partners(tables[0], 4, tables[1])
        for i, values in enumerate(wanted):
            order = [j for j in np.argsort(-values, kind="stable") if second is not None or j != i]
            assert best.index[i].tolist() == order[:4]


def test_scipys_distances() -> None:
    distance = pytest.importorskip("scipy.spatial.distance")
    x = rows_of(40, 130)
    x[2:4] = x[5:7]  # of empty rows SciPy says 1 where this says 0
    wanted = 1 - distance.squareform(distance.pdist(x, "jaccard"))
    assert np.allclose(gs.tanimoto(x).matrix, wanted, atol=1e-15)


def test_names_parts_and_text() -> None:
    x = rows_of(12, 40)
    names = [f"m{i}" for i in range(12)]
    edges = gs.tanimoto_edges(x, min_abs=0.9, names=names)
    assert edges.measure == "tanimoto" and edges.symbol == "tanimoto"
    assert "m0 -- m1" in repr(edges)
    parts = [gs.tanimoto_edges(x, min_abs=0.2, part=(i, 3)).records for i in range(3)]
    whole = gs.tanimoto_edges(x, min_abs=0.2).records
    assert np.array_equal(np.concatenate(parts)[["row", "col"]], whole[["row", "col"]])


def test_data_frames_name_their_rows() -> None:
    pandas = pytest.importorskip("pandas")
    x = rows_of(5, 40)
    frame = pandas.DataFrame(x, index=list("abcde"))
    assert gs.tanimoto_edges(frame, min_abs=0.9).names.tolist() == list("abcde")


def test_what_is_refused() -> None:
    x = rows_of(5, 40)
    with pytest.raises(ValueError, match="y: got 39 columns, expected the 40 of x"):
        gs.tanimoto(x, x[:, :39])
    with pytest.raises(TypeError, match="expected bool, or uint8"):
        gs.tanimoto(x.astype(float))
    with pytest.raises(ValueError, match="dimensions, expected 2"):
        gs.tanimoto(x[0])
    with pytest.raises(ValueError, match="min_abs"):
        gs.tanimoto_edges(x, min_abs=2)
    with pytest.raises(ValueError, match="y_names"):
        gs.tanimoto(x, y_names=list("abcde"))
    with pytest.raises(gs.CapacityExceeded) as error:
        gs.tanimoto_edges(x, max_edges=3)
    assert error.value.needed == 10
