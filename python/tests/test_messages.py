"""Errors speak of what the caller wrote: keywords of this package, arguments, columns of frames."""

from __future__ import annotations

import pathlib
import resource
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest
from gpu_similarity._shared import messages as _messages

Array = np.ndarray
Call = Callable[[Array], Any]


@pytest.fixture
def x(rng: np.random.Generator) -> Array:
    return rng.normal(size=(6, 10))


def with_nan(x: Array) -> Array:
    spoilt = x.copy()
    spoilt[2, 3] = np.nan
    return spoilt


@pytest.mark.parametrize(
    ("library", "here"),
    [
        ("execution.target: cuda was asked for, but no", "backend: cuda was asked for, but no"),
        ("options.exec.workspace_bytes: got 1, this", "workspace_bytes: got 1, this"),
        ("matmul_options.variant: tensor is", "variant: tensor is"),
        ("pair_filter.side: got 7", "tail: got 7"),
        ("count_sink.histogram_bins: got -1", "bins: got -1"),
        ("edge_sink.max_edges: 3 edges", "max_edges: 3 edges"),
        ("device_top_k_sink.index: got [1, 2]", "index: got [1, 2]"),
        ("options.part.index: got 3", "part: got 3"),
        (
            "pair_filter.adjust: benjamini_hochberg cannot (options.part), expected none",
            "adjust: benjamini-hochberg cannot (part), expected none",
        ),
        ("data: got NaN; nan_policy::propagate takes", "x: got NaN; nans='propagate' takes"),
        ("options.boundary: got 9, expected a value of gpu::boundary", "boundary: got 9, expected "
         "a name of boundary"),
        ("options.origin: got 1, expected 0 for boundary::valid", "origin: got 1, expected 0 for "
         "boundary='valid'"),
        ("filtered_size: window is 0, expected at least 1", "window: got 0, expected at least 1"),
        ("y: was prepared for pearson, the call is of spearman",
         "y: was prepared for measure='pearson', the call is of measure='spearman'"),
        ("matmul: one row (execution.workspace_bytes) or free", "matmul: one row "
         "(workspace_bytes) or free"),
        ("y: got data in device memory", "y: got data in device memory"),
    ],
)  # fmt: skip
def test_names_of_the_library_become_those_of_the_package(library: str, here: str) -> None:
    assert _messages.in_python(library) == here


REFUSED: dict[str, tuple[Call, type[Exception], str]] = {
    "nan": (lambda x: gs.spearman_edges(with_nan(x)), ValueError, "^x: .*; nans='propagate' drops"),
    "nan in y": (lambda x: gs.spearman_edges(x, with_nan(x)), ValueError, "^y: got NaN at row 2"),
    "backend": (lambda x: gs.spearman_edges(x, cpu_threads=-1), ValueError, "^cpu_threads: got -1"),
    "max_p": (lambda x: gs.spearman_edges(x, max_p=2), ValueError, "^max_p: got 2"),
    "memory": (
        lambda x: gs.spearman_edges(x, workspace_bytes=10),
        MemoryError,
        "^workspace_bytes: got 10",
    ),
    "edges": (lambda x: gs.spearman_edges(x, max_edges=2), gs.CapacityExceeded, "^max_edges: 15"),
    "part": (lambda x: gs.spearman_edges(x, part=(3, 2)), ValueError, "^part: got 3"),
    "bh": (lambda x: gs.spearman_edges(x, adjust="bh", part=(0, 2)), gs.Unsupported, "^adjust: "),
    "bins": (lambda x: gs.counts(x, bins=-1), ValueError, "^bins: got -1"),
    "bins of float": (lambda x: gs.counts(x, bins=1.5), TypeError, r"^bins: got 1\.5"),
    "tail": (lambda x: gs.counts(x, tail="up"), ValueError, "'two-sided'"),
    "window": (lambda x: gs.mean_filter(x, 0), ValueError, "^window: got 0"),
    "window of None": (lambda x: gs.mean_filter(x, None), TypeError, "^window: got None"),
    "size": (lambda x: gs.uniform_filter1d(x, 2.5), TypeError, r"^size: got 2\.5"),
    "origin": (
        lambda x: gs.mean_filter(x, 3, boundary="valid", origin=1),
        ValueError,
        "^origin: got 1, expected 0 for boundary='valid'",
    ),
    "rank": (lambda x: gs.rank(with_nan(x)), ValueError, "^x: .*nans='propagate' gives"),
    "rank omits": (
        lambda x: gs.rank(x, nans="omit"),
        gs.Unsupported,
        "^nans: .* by rank, expected one",
    ),
    "prepare": (lambda x: gs.prepare(with_nan(x)), ValueError, "^y: got NaN"),
    "prepare a row": (lambda x: gs.prepare(x[0]), ValueError, "^y: got 1 dimensions"),
    "distances": (lambda x: gs.pairwise_distances(with_nan(x)), ValueError, "^X: [^;]*$"),
    "distances of y": (lambda x: gs.pairwise_distances(x, with_nan(x)), ValueError, "^Y: got NaN"),
    "distances of pairs": (lambda x: gs.pairwise_distances(x[:, :2]), ValueError, "^X: got 2 col"),
    "n_jobs": (lambda x: gs.pairwise_distances(x, n_jobs=1.5), TypeError, "^n_jobs: got 1.5"),
    "k of None": (lambda x: gs.top_k(x, None), TypeError, "^k: got None, expected an integer"),
    "k of float": (lambda x: gs.top_k(x, 1.5), TypeError, r"^k: got 1\.5, expected an integer"),
    "k distinct": (lambda x: gs.top_k_distinct(x, "a"), TypeError, "^k: got 'a', expected an int"),
    "k of partners": (lambda x: gs.top_k_partners(x, None), TypeError, "^k: got None"),
    "k beyond": (lambda x: gs.top_k(x, 2**70), ValueError, "^k: got 1180591620717411303424"),
    "k of 0": (lambda x: gs.top_k_partners(x, 0), ValueError, "^k: got 0"),
    "observations": (lambda x: gs.p_value(0.5, "9"), TypeError, "^observations: got '9'"),
    "p": (lambda x: gs.critical_correlation(None, 9), TypeError, "^p: got None"),
    "threshold": (lambda x: gs.pack_bits(x, None), TypeError, "^threshold: got None"),
    "bits": (lambda x: gs.binary_matmul(x, x), TypeError, "^a: got ndarray, expected Bits"),
    "devices": (lambda x: gs.dense(x, devices=[0.5]), TypeError, r"^devices: got \[0.5\]"),
    "prepared": (
        lambda x: gs.spearman_edges(x, gs.prepare(x, measure="pearson")),
        ValueError,
        "^y: was prepared for measure='pearson'",
    ),
    "dtype": (lambda x: gs.corrcoef(x, dtype=int), ValueError, "^dtype: got int64"),
    "dtype of one": (lambda x: gs.corrcoef([1, 2], dtype=int), ValueError, "^dtype: got int64"),
    "checksum": (lambda x: gs.checksum([0.5], [1], [0.5]), TypeError, "^row: .* float64, expected"),
    "checksum below": (lambda x: gs.checksum([1], [-1], [0.5]), ValueError, "^col: got .* -1"),
    "checksum beyond": (lambda x: gs.checksum([2**32], [1], [0.5]), ValueError, "^row: got"),
    "checksum of rows": (lambda x: gs.checksum([[1]], [1], [0.5]), ValueError, "^row: got 2 dim"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_named(case: str, x: Array) -> None:
    call, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message) as refused:
        call(x)
    assert "::" not in str(refused.value)
    assert "incompatible function arguments" not in str(refused.value)


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [
        ("threads", "cpu_threads"),
        ("n_jobs", "cpu_threads"),
        ("alpha", "max_p"),
        ("pvalue", "max_p"),
        ("max_P", "max_p"),
        ("memory_limit", "workspace_bytes"),
        ("nan_policy", "nans"),
        ("device", "devices"),
        ("fdr", "adjust"),
        ("cpu_thread", "cpu_threads"),
        ("labels", "names"),
        ("rowvar", "axis"),
    ],
)
def test_unknown_keywords_get_a_suggestion(x: Array, keyword: str, meant: str) -> None:
    message = f"{keyword!r}; did you mean {meant}=\\?$"
    with pytest.raises(TypeError, match=message):
        gs.spearman_edges(x, cpu_threads=1, min_abs=0.1, **{keyword: 1})
    with pytest.raises(TypeError, match=message):
        gs.counts(x, **{keyword: 1})


def test_only_keywords_that_the_function_takes_are_suggested(x: Array) -> None:
    with pytest.raises(TypeError, match="'threads'; did you mean cpu_threads="):
        gs.rank(x, threads=2)
    with pytest.raises(TypeError, match=r"'alpha'$"):
        gs.rank(x, alpha=0.05)
    with pytest.raises(TypeError, match=r"'qwerty'$"):
        gs.spearman_edges(x, qwerty=1)


def test_missing_packages_are_named_with_what_installs_them(
    x: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    message = r"^igraph is not installed: pip install igraph, or 'gpu-similarity\[graphs\]'$"
    with pytest.raises(ModuleNotFoundError, match=message):
        gs.spearman_edges(x).to_igraph()


def test_an_anndata_object_is_refused_with_the_function_that_takes_it() -> None:
    anndata = pytest.importorskip("anndata")
    with pytest.raises(TypeError, match=r"^x: got an AnnData object.*gs\.anndata\.correlate"):
        gs.spearman_edges(anndata.AnnData(np.eye(4, dtype=np.float32)))


def test_errors_about_frames_name_the_column() -> None:
    pandas = pytest.importorskip("pandas")
    words = pandas.DataFrame({"a": [1, 2], "b": ["u", "v"], "c": [1, 2]})
    with pytest.raises(TypeError, match=r"^x: column 'b' of dtype (object|str): "):
        gs.spearman_edges(words)
    named = pandas.DataFrame({"gene": ["u", "v"], "a": [1, 2], "b": [2, 1], "c": [3, 3]})
    with pytest.raises(TypeError, match=r"belong in the index: x\.set_index\('gene'\)$"):
        gs.spearman_edges(named)
    assert len(gs.spearman_edges(named.set_index("gene").assign(d=[1, 4]))) == 1
    days = pandas.DataFrame({"day": pandas.to_datetime(["2020-01-01", "2021-01-01"])})
    with pytest.raises(TypeError, match=r"^x: column 'day' of dtype datetime64.* are not numbers"):
        gs.spearman_edges(days)
    with pytest.raises(TypeError, match=r"^y: column 'day' of dtype datetime64"):
        gs.spearman_edges([[1.0, 2], [2, 1]], days)
    large = pandas.DataFrame({"a": [1, 2], "id": [2**60 + 1, 3]})
    with pytest.raises(ValueError, match=r"^x: column 'id' of dtype int64: integers from 3"):
        gs.pearson_edges(large)
    twice = pandas.DataFrame([[1, "z"], [1, "w"]], columns=["a", "a"])
    with pytest.raises(TypeError, match=r"^x: column 'a' of dtype (object|str)"):
        gs.spearman_edges(twice)


def test_missing_integers_of_pandas_are_nan(x: Array) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.round(x * 5).astype(int), index=list("abcdef")).astype("Int64")
    whole = gs.spearman_edges(frame)
    np.testing.assert_array_equal(whole.records, gs.spearman_edges(np.round(x * 5)).records)
    frame.iloc[2, 3] = None
    with pytest.raises(ValueError, match="NaN at row 'c', column 3"):
        gs.spearman_edges(frame)
    assert gs.spearman_edges(frame, nans="propagate").summary.nan_rows.tolist() == [2]


def test_no_memory_for_a_thread_is_a_memory_error() -> None:
    program = textwrap.dedent("""
        import resource, sys
        import numpy as np, gpu_similarity as gs
        x = np.arange(24.0).reshape(4, 6)
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 20), resource.RLIM_INFINITY))
        try:
            gs.stream(x)
        except MemoryError as error:
            print(type(error).__name__, error)
            sys.exit(0)
        sys.exit(3)
    """)
    assert resource.getrlimit(resource.RLIMIT_STACK)[0] not in range(4 << 20)
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("OutOfMemory stream: no thread can be started")


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("BH", "bh"),
        ("fdr", "bh"),
        ("fdr_bh", "bh"),
        ("Benjamini_Hochberg", "bh"),
        ("bonf", "bonferroni"),
        ("Bonferroni", "bonferroni"),
        (None, "none"),
        ("None", "none"),
    ],
)
def test_adjustments_have_the_names_of_other_packages(x: Array, name: Any, plain: Any) -> None:
    want = gs.spearman_edges(x, max_p=0.9, adjust=plain)
    got = gs.spearman_edges(x, max_p=0.9, adjust=name)
    np.testing.assert_array_equal(got.records, want.records)
    assert gs.counts(x, max_p=0.9, adjust=name).kept == len(want)
    q = gs.adjusted_p_values([0.01, 0.3], 15, adjust=name)
    np.testing.assert_array_equal(q, gs.adjusted_p_values([0.01, 0.3], 15, adjust=plain))
    pytest.importorskip("pandas")
    everything = gs.spearman_edges(x, max_p=1)
    assert everything.to_pandas(adjust=name).equals(everything.to_pandas(adjust=plain))
    best = gs.top_k_partners(x, 2)
    assert best.to_pandas(adjust=name).equals(best.to_pandas(adjust=plain))


def test_another_adjustment_is_refused_by_its_name(x: Array) -> None:
    with pytest.raises(ValueError, match=r"^adjust: got 'holm', expected one of 'none'"):
        gs.spearman_edges(x, adjust="holm")
    with pytest.raises((TypeError, ValueError), match=r"^adjust: got 3"):
        gs.spearman_edges(x, adjust=3)


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [
        ("sep", "delimiter"),
        ("index_col", "names_column"),
        ("usecols", "columns"),
        ("na", "na_values"),
        ("threads", "cpu_threads"),
    ],
)
def test_keywords_of_other_readers_get_a_suggestion(keyword: str, meant: str) -> None:
    with pytest.raises(TypeError, match=f"{keyword!r}; did you mean {meant}=\\?$"):
        gs.read_table("nothing.csv", **{keyword: 1})


def test_paths_are_refused_with_the_function_that_reads_them(x: Array) -> None:
    for path in ("table.csv", pathlib.Path("table.csv")):
        for call in (gs.spearman_edges, gs.rank, gs.corrcoef):
            with pytest.raises(TypeError, match=r"table\.csv'.*gs\.read_table reads a file"):
                call(path)


def test_lazy_frames_are_refused_with_what_makes_a_table_of_them(x: Array) -> None:
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"^x: got a LazyFrame, .* collect\(\)"):
        gs.spearman_edges(polars.DataFrame(x).lazy())


@pytest.mark.parametrize("count", [1.5, None, "3"])
def test_numbers_of_edges_are_integers(x: Array, count: Any) -> None:
    with pytest.raises(TypeError, match=r"^count: got .*, expected an integer"):
        gs.spearman_edges(x).best(count)
    with pytest.raises(ValueError, match=r"^count: got -3"):
        gs.spearman_edges(x).best(-3)
