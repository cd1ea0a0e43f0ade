"""Small calls that once went wrong, and their right answers. To add one, add a line to REPORTS.

A line is the gist, the call, and the right answer: numbers, or `refused` with what the message
says. Right answers are worked out by hand or by another package, not by this one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import gpu_similarity as gs
import numpy as np
import pytest

sparse = pytest.importorskip("scipy.sparse")
pandas = pytest.importorskip("pandas")

NAN = np.nan
BEYOND = 2**53  # the first integer whose successor is not a double
RARE = np.array([[1, 0, 3, 0], [0, 1, 2, 4]])  # rho -0.21081851, tau -0.18257419
WIDE = np.random.default_rng(5).normal(size=(5, 9))


class refused(NamedTuple):  # noqa: N801
    """An error is the right answer: a TypeError or a ValueError that says this."""

    message: str


def objects(*values: Any) -> np.ndarray:
    out = np.empty((1, len(values)), dtype=object)
    out[0] = values
    return out


def in_csr(values: Any, dtype: Any) -> Any:
    matrix = sparse.csr_array(np.asarray(values, dtype=float))
    matrix.data = matrix.data.astype(dtype)
    return matrix


def one(edges: Any) -> float:
    """The statistic of the only edge."""
    assert len(edges) == 1
    return float(edges.statistic[0])


def arrow() -> Any:
    return pytest.importorskip("pyarrow")


def decimals(*digits: str | None) -> Any:
    """A column of Arrow."""
    kind = arrow().decimal128(30, 20)
    return arrow().array([None if d is None else Decimal(d) for d in digits], kind)


def only_column(dtype: str) -> Any:
    pytest.importorskip("pyarrow")
    bits = pandas.array([True, False, True, True], dtype=dtype)
    return pandas.DataFrame({"a": bits, "b": [1.0, 2, 3, 4]})


def short(part: str, form: str = "csr") -> Any:
    """A sparse matrix [3, 4] one of whose arrays is shorter than the others say."""
    matrix = sparse.csr_array(np.arange(1.0, 13.0).reshape(3, 4)).asformat(form)
    setattr(matrix, part, getattr(matrix, part)[:2])
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def pointing(places: list[int], columns: list[int]) -> Any:
    """A CSR matrix [2, 4] with these indptr and indices, whatever they say."""
    matrix = sparse.csr_array((2, 4))
    matrix.indptr, matrix.indices = np.array(places, "i4"), np.array(columns, "i4")
    matrix.data = np.ones(len(columns))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def cells(values: np.ndarray) -> Any:
    return pytest.importorskip("anndata").AnnData(values)


def histograms(bins: int) -> Any:
    """Counts of the library, and those of NumPy with its edges, of statistics at and by edges."""
    found = gs.counts(np.random.default_rng(bins).integers(0, 3, (60, 6)), bins=bins)
    dense = np.asarray(gs.dense(np.random.default_rng(bins).integers(0, 3, (60, 6))))
    own = dense[np.triu_indices(60, 1)]
    counted = np.histogram(own[~np.isnan(own)], bins=found.bin_edges)[0]
    return int(np.abs(counted - found.histogram).sum())


# What a filter or a product of sparse matrices is: that of the dense ones.
THIN = np.array([[-5.0, 0, 3, 0, 1], [1, 2, 0, 0, 5]])
GAPS = np.array([[1, 0, 3, 0, 5.0], [0, 1, NAN, 4, 2], [3, 0, 1, 1, 0]])

OF_OTHER_CALLS = {
    "max_p": 0.05, "min_abs": 0.3, "tail": "greater", "adjust": "bh", "measure": "pearson"
}  # fmt: skip
REPORTS: list[tuple[str, Callable[[], Any], Any]] = [
    # Masks.
    ("top_k looks below a mask",
     lambda: gs.top_k(np.ma.array([[1, 2, 3, 9.0]], mask=[[0, 0, 0, 1]]), 2),
     refused("^x: masked values")),
    ("covariates look below a mask",
     lambda: gs.pearson_edges(WIDE, covariates=np.ma.array(WIDE[0], mask=WIDE[0] > 1)),
     refused("^covariates: masked values")),
    ("a list of masked rows looks below the masks",
     lambda: gs.rank([np.ma.array([1, 2], mask=[0, 1]), [3, 4]]), refused("^x: masked values")),
    ("Bits look below a mask",
     lambda: gs.Bits(np.ma.array(np.ones((1, 1), np.uint32), mask=True), 3),
     refused("^words: masked values")),
    # Numbers that doubles round.
    ("objects: integers beyond 2^53 beside a half",
     lambda: gs.rank(objects(BEYOND + 1, BEYOND, 0.5)), [[3, 2, 1]]),
    ("a list of them", lambda: gs.rank([BEYOND + 1, BEYOND, 0.5]), [3, 2, 1]),
    ("objects: 64-bit integers of both signs",
     lambda: gs.rank(objects(2**63, 2**63 + 1, -1)), [[2, 3, 1]]),
    ("objects: integers of more than 64 bits",
     lambda: gs.rank(objects(2**80 + 1, 2**80, 10**400)), [[2, 1, 3]]),
    ("a missing value among them",
     lambda: gs.rank(objects(BEYOND + 1, None, BEYOND), nans="propagate"), [[NAN] * 3]),
    ("decimals that one double is nearest to",
     lambda: gs.rank(objects(*map(Decimal, ("0.1", "0.10000000000000000001", "0.05")))),
     [[2, 3, 1]]),
    ("fractions beside decimals that one double is nearest to",
     lambda: gs.rank(objects(Fraction(1, 3), Fraction(10**30, 3 * 10**30 + 1), 0.25)), [[3, 2, 1]]),
    ("long doubles that one double is nearest to, with a NaN",
     lambda: gs.rankdata(np.array([1, np.longdouble(1) + np.finfo("g").eps, NAN], "g"),
                         nan_policy="omit"),
     [1, 2, NAN] if np.finfo("g").eps < np.finfo("d").eps else [1.5, 1.5, NAN]),
    ("top_k of decimals",
     lambda: gs.top_k(objects(*map(Decimal, ("0.1", "0.10000000000000000001", "0.05"))), 1).indices,
     [[1]]),
    ("Pearson of what no double holds", lambda: gs.pearson_edges(
        np.concatenate([objects(BEYOND + 1, 1, 0.5)] * 2)), refused("^x: got 9007199254740993")),
    ("a number beyond all doubles",
     lambda: gs.pearson_edges(np.concatenate([objects(Decimal("1e400"), 1, 2)] * 2)),
     refused("^x: got 1E[+]400")),
    ("one table of integers and one of doubles",
     lambda: gs.spearmanr([BEYOND, BEYOND + 1, BEYOND + 2, 5], [1.5, 2, 3, 0]).statistic, 1),
    ("a column of such objects in a frame", lambda: one(gs.spearman_edges(pandas.DataFrame(
        {"a": np.array([BEYOND + 1, BEYOND, 0.5, 1], dtype=object), "b": [4, 3, 1, 2.0]}),
        axis="columns")), 1),
    ("which has no Pearson correlation", lambda: gs.pearson_edges(pandas.DataFrame(
        {"a": np.array([BEYOND + 1, BEYOND, 0.5, 1], dtype=object), "b": [4, 3, 1, 2.0]}),
        axis="columns"), refused("^x: column 'a' of dtype object: got 9007199254740993")),
    ("a column of integers beyond 2^53 next to one of doubles", lambda: one(gs.spearman_edges(
        pandas.DataFrame({"a": [BEYOND + 1, BEYOND, 0, 1], "b": [4, 3, 1, 2.5]}),
        axis="columns")), 1),
    ("decimals in a frame",
     lambda: gs.rank(pandas.DataFrame([[Decimal("0.1"), Decimal("0.10000000000000000001"), 0]])),
     [[2, 3, 1]]),
    ("decimals of Arrow",
     lambda: gs.rank(decimals("0.10000000000000000000", "0.10000000000000000001", None),
                     nans="propagate"), [NAN] * 3),
    ("in a table of Arrow", lambda: gs.rankdata(arrow().table(
        {"a": decimals("0.10000000000000000001"), "b": decimals("0.10000000000000000000")}),
        axis=1), [[2, 1]]),
    ("in pandas by Arrow", lambda: gs.rankdata(pandas.Series(decimals(
        "0.10000000000000000000", "0.10000000000000000001", None).to_pandas(
        types_mapper=pandas.ArrowDtype)), nan_policy="omit"), [1, 2, NAN]),
    ("long doubles beside doubles in a frame", lambda: gs.rank(pandas.DataFrame(
        {"a": np.ones(1, "g") + np.finfo("g").eps, "b": [1.0], "c": [0]})),
     [[3, 2, 1]] if np.finfo("g").eps < np.finfo("d").eps else [[2.5, 2.5, 1]]),
    ("a masked constant in a list of lists", lambda: gs.rank([[1, np.ma.masked], [2, 3]]),
     refused("^x: masked values")),
    # Objects and missing values.
    ("rankdata of objects with a NaN", lambda: gs.rankdata(objects(2, NAN, 1)), [NAN] * 3),
    ("which is left out",
     lambda: gs.rankdata(objects(2, NAN, 1), nan_policy="omit"), [2, NAN, 1]),
    ("or refused", lambda: gs.rankdata(objects(2, NAN, 1), nan_policy="raise"), refused("nan")),
    ("rankdata of words in objects", lambda: gs.rankdata(objects("b", "a", "c", "a")),
     [3, 1.5, 4, 1.5]),
    ("rankdata of words and a NaN", lambda: gs.rankdata(objects("b", NAN)), refused("^a: got obj")),
    ("rankdata of dates without a time",
     lambda: gs.rankdata(np.array(["2020-01-02", "NaT", "2019-01-01"], "M8[D]")),
     refused("^a: got NaT")),
    ("which is left out",
     lambda: gs.rankdata(np.array(["2020-01-02", "NaT", "2019-01-01"], "M8[D]"), nan_policy="omit"),
     [2, NAN, 1]),
    ("objects that are all bool", lambda: gs.rank(objects(True, False, True)), [[2.5, 1, 2.5]]),
    ("bool of Arrow in pandas", lambda: one(gs.pearson_edges(only_column("bool[pyarrow]"),
                                                             axis="columns")), 0.2581988897471611),
    ("bool of Arrow as a mask of columns", lambda: gs.differential(
        WIDE, [pandas.Series(np.arange(9) // 4 == k, dtype="bool[pyarrow]") for k in (0, 1)]
    ).summary.first_columns, 4),
    # Sparse tables.
    ("CSR of long double, rho",
     lambda: one(gs.spearman_edges(in_csr(RARE, np.longdouble))), -0.21081851067789195),
    ("CSR of long double, tau",
     lambda: one(gs.edges(in_csr(RARE, np.longdouble), measure="kendall")), -0.18257418583505536),
    ("CSR of integers of the other byte order, beyond 2^53",
     lambda: one(gs.spearman_edges(in_csr(RARE * 2.0**57, ">i8"))), -0.21081851067789195),
    ("CSR of long doubles below 0",
     lambda: one(gs.spearman_edges(in_csr(RARE * [[-1], [1]], np.longdouble))),
     0.21081851067789195),
    ("CSR whose data are short", lambda: gs.edges(short("data"), measure="pearson"),
     refused("^x: got 12 indices and 2 values, expected the 12")),
    ("CSR whose indices are short", lambda: gs.edges(short("indices"), measure="pearson"),
     refused("^x: got 2 indices and 12 values, expected the 12")),
    ("CSR whose indptr is short", lambda: gs.edges(short("indptr"), measure="pearson"),
     refused("^x: got 2 places in indptr, expected 4")),
    ("CSC whose data are short", lambda: gs.rank(short("data", "csc")),
     refused("^x: got 12 indices")),
    ("COO whose columns are short", lambda: gs.top_k(short("col", "coo"), 1),
     refused("^x: got 12 rows, 2 columns and 12 values")),
    ("CSR whose indptr descends", lambda: gs.spearman_edges(pointing([0, 5, 2], [0, 1])),
     refused("^x: indptr descends")),
    ("CSR with a column that is not there", lambda: gs.dense(pointing([0, 1, 2], [0, 4])),
     refused("^x: got indices from 0 to 4, expected 0 to 3")),
    ("CSR that is said to be sorted and is not",
     lambda: gs.spearman_edges(pointing([0, 2, 2], [1, 0])), refused("^x: csr view: row 0")),
    ("top_k of a sparse table", lambda: gs.top_k(in_csr(THIN, float), 2).values, [[3, 1], [5, 2]]),
    ("top_k_distinct of a sparse table",
     lambda: gs.top_k_distinct(in_csr(THIN, float), 1).values, [[3], [5]]),
    ("matmul of sparse tables", lambda: gs.matmul(in_csr(THIN, float), in_csr(THIN.T, float)),
     [[35, 0], [0, 30]]),
    ("tanimoto of a sparse table of bool",
     lambda: gs.dense(in_csr(THIN, bool), measure="tanimoto").matrix,
     [[1, 0.5], [0.5, 1]]),
    ("rankdata of a sparse table", lambda: gs.rankdata(in_csr(THIN, float), axis=1),
     [[1, 2.5, 5, 2.5, 4], [3, 4, 1.5, 1.5, 5]]),
    ("uniform_filter1d of a sparse table",
     lambda: gs.uniform_filter1d(in_csr(THIN, float), 2)[0], [-5, -2.5, 1.5, 1.5, 0.5]),
    ("sparse covariates", lambda: gs.pearson_edges(
        GAPS[[0, 2]], covariates=in_csr([[1, 0, 0, 2, 0]], float)).statistic,
     lambda: gs.pearson_edges(GAPS[[0, 2]], covariates=[[1, 0, 0, 2.0, 0]]).statistic),
    ("partners of a sparse table, pair by pair",
     lambda: gs.top_k_partners(in_csr(GAPS, float), 1, nans="pairwise", measure="pearson").p,
     lambda: gs.top_k_partners(GAPS, 1, nans="pairwise", measure="pearson").p),
    ("observations of a sparse table, pair by pair",
     lambda: gs.observations(in_csr(GAPS, float), pairs=([0, 0], [1, 2])), [4, 5]),
    # Results.
    ("differences of row numbers", lambda: (gs.pearson_edges(WIDE).row - 4)[0], -4),
    ("in frames", lambda: (lambda f: f.row - f.col)(gs.pearson_edges(WIDE).to_pandas())[:3],
     [-1, -2, -3]),
    ("in frames of partners",
     lambda: (lambda f: f.partner - f.row)(gs.top_k_partners(WIDE, 4).to_pandas()).min(), -4),
    ("of partners", lambda: (gs.top_k_partners(WIDE, 4).index - 5).max(), -1),
    ("of degrees", lambda: (gs.counts(WIDE).degree - 5)[0], -1),
    ("of bins", lambda: (gs.counts(WIDE, bins=2).histogram - 11).max() < 0, True),
    ("of observations", lambda: (gs.observations(WIDE) - 10)[0, 0], -1),
    ("of rows of differential", lambda: (lambda d: d.row - d.col)(
        gs.differential(WIDE, (range(4), range(4, 9))))[0], -1),
    *[(f"NumPy counts the same {bins} bins", lambda bins=bins: histograms(bins), 0)
      for bins in (1, 2, 3, 7, 10, 49, 70)],
    # Options.
    ("min_observations without pairwise", lambda: gs.pearson_edges(WIDE, min_observations=5),
     refused("^min_observations: got 5, expected it with nans='pairwise'")),
    ("the defaults of anndata.correlate, of a measure without p",
     lambda: len(gs.anndata.correlate(cells(WIDE.T), measure="cosine", min_abs=0.1)),
     lambda: len(gs.edges(WIDE, measure="cosine", min_abs=0.1))),
    ("and with weights", lambda: len(gs.anndata.correlate(
        cells(WIDE.T), measure="pearson", weights=np.arange(1.0, 10))), 10),
    ("more octets than columns are counted",
     lambda: gs.edges(np.empty((0, 1 << 60), np.uint8), measure="tanimoto"),
     refused("^x: got 11529")),
    # Options of another call, which changed nothing, or whose measure it was.
    *((f"{call.__name__} has no {option}", lambda call=call, more=more, option=option: call(
        WIDE, *more, **{option: OF_OTHER_CALLS[option]}),
       refused(f"unexpected keyword argument '{option}'"))
      for call, more, options in (
          (gs.max_t, (), ("max_p", "min_abs", "adjust")),
          (gs.differential, (([0, 1, 2, 3], [4, 5, 6, 7]),), ("min_abs",)),
          (gs.dense, (), ("max_p", "min_abs", "tail", "adjust")),
          (gs.connectivity, ([2],), ("max_p", "min_abs", "tail", "adjust")),
          (gs.prepare, (), ("max_p", "min_abs", "tail", "adjust")),
          (gs.spearman_edges, (), ("measure",)), (gs.pearson_edges, (), ("measure",)),
      ) for option in options),
    # Arguments of a wrong type are named.
    ("a shuffle that is a number", lambda: gs.max_t(WIDE, shuffle=3), refused("^shuffle: got '3'")),
    ("an adjustment that is a number", lambda: gs.adjusted_p_values([0.5], 9, adjust=3),
     refused("^adjust: got '3'")),
    *((f"groups that are {given!r}", lambda given=given: gs.differential(WIDE, given),
       refused(r"^groups: got .*, expected two groups")) for given in (None, 3, "case", {1: 2})),
    ("pairs that are a number", lambda: gs.observations(WIDE, pairs=3),
     refused("^pairs: got 3, expected edges")),
    ("the cut of a difference", lambda: gs.differential(WIDE, (range(4), range(4, 8)), max_p=2),
     refused("^max_p: got 2")),
]  # fmt: skip


@pytest.mark.parametrize(("gist", "call", "right"), REPORTS, ids=[line[0] for line in REPORTS])
def test_right_answer(gist: str, call: Callable[[], Any], right: Any) -> None:
    if isinstance(right, refused):
        with pytest.raises((TypeError, ValueError)) as error:
            call()
        assert re.search(right.message, str(error.value)), error.value
        return
    got, want = call(), right() if callable(right) else right
    np.testing.assert_allclose(np.asarray(got, float), np.asarray(want, float), rtol=1e-12)


# Calls that did not end, of tables with an extent of 0: each in a process of its own, because no
# signal reached them.
ENDLESS = [
    "gs.pearson_edges(wide)",
    "gs.edges(wide, measure='bicor')",
    "gs.counts(wide, measure='pearson')",
    "gs.pearson_edges(sparse.csr_array((0, 1 << 59)))",
    "gs.pack_bits(tall)",
    "gs.matmul(tall, np.empty((0, 0)))",
    "gs.binary_matmul(gs.pack_bits(tall), gs.Bits(np.empty((0, 0), np.uint32), 0))",
    "gs.scale_free_fit(tall, [])",
    "gs.observations(tall, pairs=([], []))",
    "gs.rank(tall)",
    "gs.mean_filter(tall, 3)",
    "gs.top_k(tall, 3)",
    "gs.distributed.Job(tall, parts=1)",
]


@pytest.mark.parametrize("call", ENDLESS)
def test_nothing_takes_no_time(call: str) -> None:
    program = f"""
import gpu_similarity as gs, numpy as np
from scipy import sparse
wide, tall = np.empty((0, 1 << 59)), np.empty((1 << 59, 0))
try:
    {call}
except (ValueError, MemoryError):
    pass
print("ended")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=120)  # fmt: skip
    assert done.stdout == "ended\n", done.stderr


def test_sparse_tables_may_change_during_a_call() -> None:
    """What another thread writes to the indices ends a call or mixes values, and no more."""
    program = """
import threading
import gpu_similarity as gs, numpy as np
from scipy import sparse
rng = np.random.default_rng(0)
x = sparse.random_array((400, 600), density=0.3, format="csr", random_state=rng)
x.sort_indices()
column, begin, stop = x.indices.copy(), x.indptr.copy(), threading.Event()

def write():
    while not stop.is_set():
        x.indices[rng.integers(0, len(column), 50)] = 2**31 - 1
        x.indptr[rng.integers(1, len(begin), 5)] = 2**31 - 1
        x.indices[:] = column
        x.indptr[:] = begin

thread = threading.Thread(target=write)
thread.start()
ended = {"right or mixed": 0, "refused": 0}
for _ in range(60):
    try:
        gs.counts(x, measure="pearson", min_abs=0.9, cpu_threads=2)
        ended["right or mixed"] += 1
    except ValueError:
        ended["refused"] += 1
stop.set()
thread.join()
print(sum(ended.values()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=300)  # fmt: skip
    assert done.stdout == "60\n", done.stderr
