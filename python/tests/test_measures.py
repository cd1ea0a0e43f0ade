"""The list of measures, and cosine through every function over all pairs."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import gpu_similarity as gs
import numpy as np
import pytest
from gpu_similarity import _options

RNG = np.random.default_rng(5)


def cosines(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return (x @ y.T) / np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))


def test_the_type_names_every_measure() -> None:
    assert list(get_args(_options.Measure)) == list(gs.MEASURES)


def test_what_is_known_of_measures() -> None:
    assert gs.MEASURES["spearman"].is_ordinal and gs.MEASURES["spearman"].symbol == "rho"
    assert gs.MEASURES["pearson"].has_p
    assert not gs.MEASURES["cosine"].has_p


def test_edges_take_any_measure() -> None:
    x = RNG.normal(size=(30, 20))
    for measure in ("spearman", "pearson"):
        wanted = getattr(gs, f"{measure}_edges")(x, max_p=0.1)
        got = gs.edges(x, measure=measure, max_p=0.1)
        assert np.array_equal(got.records, wanted.records)


@pytest.mark.parametrize("cols", [1, 2, 25, 300])
def test_cosine_edges_are_those_of_numpy(cols: int) -> None:
    x = RNG.normal(size=(60, cols)).astype(np.float32)
    x[7] = 0
    x[8] = 3
    wanted = cosines(x.astype(float), x.astype(float))
    edges = gs.edges(x, measure="cosine", min_abs=0.5)
    i, j = np.nonzero(np.triu(np.abs(np.nan_to_num(wanted)) >= 0.5, 1))
    assert np.array_equal(edges.row, i) and np.array_equal(edges.col, j)
    assert np.allclose(edges.statistic, wanted[i, j], rtol=0, atol=1e-14)
    assert np.isnan(edges.p).all()
    assert list(edges.summary.constant_rows) == [7]
    assert "p =" not in repr(edges)


def test_cosine_of_x_against_y_partners_counts_dense_and_stream() -> None:
    x, y = RNG.normal(size=(20, 30)), RNG.normal(size=(25, 30))
    wanted = cosines(x, y)
    prepared = gs.prepare(y, measure="cosine")
    for other in (y, prepared):
        dense = gs.dense(x, other, measure="cosine")
        assert np.allclose(dense.matrix, wanted, rtol=0, atol=1e-13)
        best = gs.top_k_partners(x, 1, other, measure="cosine")
        assert np.array_equal(best.index[:, 0], np.abs(wanted).argmax(axis=1))
        kept = gs.counts(x, other, measure="cosine", min_abs=0.2).kept
        assert kept == (np.abs(wanted) >= 0.2).sum()
    with gs.stream(x, y, measure="cosine", min_abs=0.3) as batches:
        found = sum(len(batch) for batch in batches)
    assert found == (np.abs(wanted) >= 0.3).sum()


def test_cosine_in_parts_is_the_whole() -> None:
    x = RNG.normal(size=(40, 12))
    whole = gs.edges(x, measure="cosine", min_abs=0.4)
    parts = [gs.edges(x, measure="cosine", min_abs=0.4, part=(i, 3)) for i in range(3)]
    assert sum(len(part) for part in parts) == len(whole)
    job = gs.distributed.Job(x, parts=3, measure="cosine", options={"min_abs": 0.4})
    assert sum(len(job.part(i)) for i in range(3)) == len(whole)


def test_cosine_has_no_p() -> None:
    x = RNG.normal(size=(5, 6))
    for call in (
        lambda: gs.edges(x, measure="cosine", max_p=0.05),
        lambda: gs.counts(x, measure="cosine", adjust="bonferroni"),
        lambda: gs.top_k_partners(x, 2, measure="cosine", max_p=0.05),
    ):
        with pytest.raises(gs.Unsupported, match="no significance test"):
            call()


def test_an_unknown_measure_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="measure: got 'kendal'"):
        gs.edges(np.zeros((3, 4)), measure="kendal")  # type: ignore[arg-type]


def bicors(x: np.ndarray) -> np.ndarray:
    rows = []
    for row in x:
        distance = row - np.median(row)
        mad = np.median(np.abs(distance))
        if mad == 0:
            rows.append(row - row.mean())
            continue
        a = distance / (9 * mad)
        rows.append(np.where(np.abs(a) < 1, distance * (1 - a**2) ** 2, 0.0))
    unit = np.array(rows)
    with np.errstate(invalid="ignore"):
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize("cols", [3, 24, 25, 300])
def test_bicor_edges_are_those_of_its_formula(cols: int) -> None:
    x = RNG.normal(size=(50, cols)).astype(np.float32)
    x[3, ::2] *= 100
    x[7] = 3
    x[8, : cols - 1] = 1  # MAD is 0
    wanted = bicors(x.astype(float))
    edges = gs.edges(x, measure="bicor", min_abs=0.2)
    i, j = np.nonzero(np.triu(np.abs(np.nan_to_num(wanted)) >= 0.2, 1))
    assert np.array_equal(edges.row, i) and np.array_equal(edges.col, j)
    assert np.allclose(edges.statistic, wanted[i, j], rtol=0, atol=1e-13)
    assert np.array_equal(edges.p, gs.p_value(edges.statistic, cols))
    assert list(edges.summary.constant_rows) == [7]
