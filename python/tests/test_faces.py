"""The familiar faces: against the functions they stand for, and by the test suites of those."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import gpu_similarity as gs
import numpy as np
import pytest
from scipy import ndimage, stats


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_spearmanr(table: np.ndarray, axis: int, alternative: str) -> None:
    expected = stats.spearmanr(table, axis=axis, alternative=alternative)
    got = gs.spearmanr(table, axis=axis, alternative=alternative)
    np.testing.assert_allclose(got.statistic, expected.statistic, atol=1e-12)
    off = ~np.eye(len(got.statistic), dtype=bool)
    np.testing.assert_allclose(got.pvalue[off], expected.pvalue[off], rtol=1e-7, atol=1e-12)
    assert got.correlation is got.statistic


def test_spearmanr_of_two(rng: np.random.Generator) -> None:
    a, b = rng.normal(size=20), rng.integers(0, 3, 20)
    for x, y in ((a, b), (a[:, None], b[:, None]), (a.tolist(), b.tolist())):
        expected, got = stats.spearmanr(x, y), gs.spearmanr(x, y)
        assert got.statistic == pytest.approx(expected.statistic, abs=1e-14)
        assert got.pvalue == pytest.approx(expected.pvalue, rel=1e-10)
    a[3] = np.nan
    assert np.isnan(gs.spearmanr(a, b).statistic)
    with pytest.raises(ValueError, match="nan"):
        gs.spearmanr(a, b, nan_policy="raise")
    expected = stats.spearmanr(a, b, nan_policy="omit")
    assert gs.spearmanr(a, b, nan_policy="omit").pvalue == pytest.approx(float(expected.pvalue))
    of_three = gs.spearmanr(np.stack([a, b, a]), axis=1, nan_policy="omit")
    assert of_three.statistic[0, 1] == pytest.approx(float(expected.statistic), abs=1e-14)
    with pytest.warns(stats.ConstantInputWarning):
        assert np.isnan(gs.spearmanr([1, 1, 1], [1, 2, 3]).pvalue)


def test_corrcoef(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=(6, 9)) + 100, rng.normal(size=(4, 9))
    for args, options in (
        ((x,), {}),
        ((x, y), {}),
        ((x[0], y[0]), {}),
        ((x.T, y.T), {"rowvar": False}),
        ((x[:, :2],), {}),
        ((x[0],), {}),
    ):
        np.testing.assert_allclose(
            gs.corrcoef(*args, **options), np.corrcoef(*args, **options), atol=1e-12
        )
    assert gs.corrcoef(x, dtype=np.float32).dtype == np.float32
    with pytest.raises(TypeError, match="complex"):
        gs.corrcoef(x + 1j)


def test_pairwise_distances(rng: np.random.Generator) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    x, y = rng.normal(size=(8, 12)), rng.normal(size=(5, 12))
    for args in ((x,), (x, y)):
        np.testing.assert_allclose(
            gs.pairwise_distances(*args),
            metrics.pairwise_distances(*args, metric="correlation"),
            atol=1e-12,
        )
    with pytest.raises(ValueError, match="metric"):
        gs.pairwise_distances(x, metric="euclidean")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="features"):
        gs.pairwise_distances(x, y[:, :4])


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1])
@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
@pytest.mark.parametrize("nan_policy", ["propagate", "omit"])
def test_rankdata(rng: np.random.Generator, axis: int | None, method: str, nan_policy: str) -> None:
    x = rng.integers(0, 5, size=(3, 4, 6)).astype(float)
    np.testing.assert_array_equal(
        gs.rankdata(x, method, axis=axis), stats.rankdata(x, method, axis=axis)
    )
    x[0, 1, 2] = np.nan
    expected = stats.rankdata(x, method, axis=axis, nan_policy=nan_policy)
    got = gs.rankdata(x, method, axis=axis, nan_policy=nan_policy)
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == np.float64


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8", "int64", "bool", "U3"])
def test_rankdata_has_the_type_of_floating_input(kind: str) -> None:
    x = np.array([3, 1, 1, 0]).astype(kind)
    for method in ("average", "ordinal"):
        got = gs.rankdata(x, method)
        assert got.dtype == (x.dtype if x.dtype.kind == "f" else np.float64)
        np.testing.assert_array_equal(got, stats.rankdata(x.tolist(), method))


def test_spearmanr_of_many_warns_of_constants(rng: np.random.Generator) -> None:
    x = rng.normal(size=(9, 4))
    x[:, 2] = 1
    with pytest.warns(stats.ConstantInputWarning):
        rho = gs.spearmanr(x).statistic
    assert np.isnan(rho[2]).all()
    assert not np.isnan(np.delete(np.delete(rho, 2, 0), 2, 1)).any()


@pytest.mark.parametrize("mode", ["reflect", "constant", "nearest", "mirror", "wrap", "grid-wrap"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_uniform_filter1d(rng: np.random.Generator, mode: str, axis: int) -> None:
    for x in (rng.normal(size=(9, 11)), rng.integers(0, 99, size=(9, 11))):
        for size, origin in ((1, 0), (3, 1), (4, -2), (20, 3)):
            expected = ndimage.uniform_filter1d(x, size, axis, mode=mode, origin=origin)
            got = gs.uniform_filter1d(x, size, axis, mode=mode, origin=origin)
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, atol=1e-12)
    out = np.empty((9, 11), np.float32)
    assert gs.uniform_filter1d(x, 3, output=out) is out
    with pytest.raises(ValueError, match="cval"):
        gs.uniform_filter1d(x, 3, mode="constant", cval=1.0)


# SciPy's and NumPy's own cases, run against the faces by a plugin that puts them in the place of
# the originals: module, which tests, how many must at least have run.
SUITES = [
    ("scipy.stats.tests.test_rank", "TestRankData", 60),
    ("scipy.stats.tests.test_stats", "TestCorrSpearmanr", 30),
    ("scipy.ndimage.tests.test_filters", "uniform", 100),
    ("numpy.lib.tests.test_function_base", "TestCorrCoef", 6),
]


@pytest.mark.parametrize(("module", "which", "least"), SUITES)
def test_their_own_cases(module: str, which: str, least: int) -> None:
    pytest.importorskip("hypothesis")  # their test suites need it
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "faces_plugin",
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=",
        "--pyargs",
        module,
        "-k",
        which,
    ]
    here = Path(__file__).resolve().parent
    path = filter(None, [os.environ.get("PYTHONPATH")])
    done = subprocess.run(
        command,
        cwd=here,
        capture_output=True,
        text=True,
        timeout=300,
        env={
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([str(here), *path]),
        },
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert passed is not None
    assert int(passed.group(1)) >= least, done.stdout[-2000:]


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_uniform_filter1d_of_bool(rng: np.random.Generator, size: int) -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    for flags in (rng.random((4, 50)) < 0.7, np.ones((4, 50), bool), np.zeros((4, 50), bool)):
        for mode in ("reflect", "constant", "nearest", "mirror", "wrap"):
            got = gs.uniform_filter1d(flags, size, mode=mode)
            assert got.dtype == np.bool_
            np.testing.assert_array_equal(got, ndimage.uniform_filter1d(flags, size, mode=mode))
        for output in (np.uint8, np.int32, np.float64):
            got = gs.uniform_filter1d(flags, size, output=output)
            np.testing.assert_allclose(
                got, ndimage.uniform_filter1d(flags, size, output=output), rtol=1e-15, atol=1e-15
            )


def test_corrcoef_in_other_floating_types(rng: np.random.Generator) -> None:
    x = rng.normal(size=(4, 30))
    for dtype in (np.float32, np.float64):
        got = gs.corrcoef(x, dtype=dtype)
        assert got.dtype == dtype
        np.testing.assert_allclose(got, np.corrcoef(x), rtol=1e-6)
