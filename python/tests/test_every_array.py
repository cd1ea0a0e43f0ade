"""Arrays of every kind through every public function: the right answer, or refused by name.

The right answer is that of the same call with the plain array of the same values. A function that
is new in `gpu_similarity`, or an argument that takes an array, fails `test_nothing_is_left_out`
until it has a line in CALLS.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest
from gpu_similarity import plot
from gpu_similarity.plot import _histogram

pandas = pytest.importorskip("pandas")
sparse = pytest.importorskip("scipy.sparse")

Array = np.ndarray
RNG = np.random.default_rng(44)
X = RNG.permuted(np.tile(np.arange(12), (6, 1)), axis=1)
X[2] = X[1] // 2  # ties
Y = RNG.permuted(X, axis=1)
GROUPS = (np.arange(12) < 6, np.arange(12) >= 6)
EDGES = gs.pearson_edges(X)
COUNTS = gs.counts(X, min_abs=0.1)
NULL = gs.max_t(X, permutations=20)


def _optional(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        return None


arrow, polars, ml_dtypes = _optional("pyarrow"), _optional("polars"), _optional("ml_dtypes")


# Kinds: given a plain array of small integers, an array of the kind and the plain array of its
# values; None where it holds what no plain array says, so that it has to be refused.
def _masked(values: Array) -> Any:
    hidden = np.zeros(values.shape, bool)
    hidden.flat[1] = True
    return np.ma.array(values, mask=hidden)


def _spaced(values: Array) -> Array:
    """A view whose elements lie apart in every dimension."""
    out = np.zeros([2 * n for n in values.shape], values.dtype)[
        tuple([slice(1, None, 2)] * values.ndim)
    ]
    out[...] = values
    return out


def _read_only(values: Array) -> Array:
    out = values.astype(float)
    out.flags.writeable = False
    return out


def _short(values: Array, name: str) -> Any:
    if ml_dtypes is None:
        pytest.skip("needs ml_dtypes")
    return values.astype(getattr(ml_dtypes, name))


class _ByDlpack:
    """Another package's array, which says nothing but how to read it in place."""

    def __init__(self, values: Array) -> None:
        self.values, self.shape = values, values.shape

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


def _bits(values: Array) -> Array:
    return np.asarray(values % 2 == 1)


def _gaps(values: Array) -> Array:
    out = values.astype(float)
    out.flat[1] = np.nan
    return out


def _objects(values: Array, make: Callable[[Any], Any]) -> Array:
    out = np.empty(values.shape, object)
    out.flat = [make(value) for value in values.ravel().tolist()]
    return out


def _frame(values: Array, dtype: Any) -> Any:
    if values.ndim == 0:
        pytest.skip("a number has no columns")
    made = pandas.DataFrame(values) if values.ndim == 2 else pandas.Series(values)
    return made.astype(dtype)


def _columns(values: Array, package: Any, of_column: Callable[[Any], Any]) -> Any:
    if package is None or values.ndim == 0:
        pytest.skip("needs the package, and columns")
    if values.ndim == 1:
        return of_column(values)
    columns = {f"c{k}": of_column(values[:, k]) for k in range(values.shape[1])}
    return package.table(columns) if package is arrow else package.DataFrame(columns)


def _with_nulls(values: Array) -> list[Any]:
    return [None if value != value else value for value in values.tolist()]


def _in_sparse(values: Array, form: str) -> Any:
    return sparse.coo_array(np.atleast_2d(values)).asformat(form)


# Kinds of plain numbers: refused only where the plain array is.
NUMBERS: dict[str, Callable[[Array], tuple[Any, Array | None]]] = {
    "Fortran order": lambda v: (np.asfortranarray(v.astype(float)), v.astype(float)),
    "a transposed view": lambda v: (np.ascontiguousarray(v.T.astype("f4")).T, v.astype("f4")),
    "elements that lie apart": lambda v: (_spaced(v), v),
    "reversed": lambda v: (np.flip(np.ascontiguousarray(np.flip(v))), v),
    "read-only": lambda v: (_read_only(v), v.astype(float)),
    "DLPack alone": lambda v: (_ByDlpack(v), v),
    "bool": lambda v: (_bits(v), _bits(v).copy()),
    "float16": lambda v: (v.astype(np.float16) / 4, v / 4),
    "uint64": lambda v: (v.astype(np.uint64), v),
    "bfloat16": lambda v: (_short(v, "bfloat16"), v.astype("f4")),
    "bfloat16 in Fortran order": lambda v: (
        np.asfortranarray(_short(v, "bfloat16")), v.astype("f4")
    ),
    "float8": lambda v: (_short(v % 8, "float8_e4m3fn"), (v % 8).astype("f4")),
}  # fmt: skip
KINDS: dict[str, Callable[[Array], tuple[Any, Array | None]]] = {
    **NUMBERS,
    "masked": lambda v: (_masked(v), None) if v.size > 1 else pytest.skip("one value"),
    "rows of which one is masked": lambda v: (
        ([*v[1:], _masked(v[0])], None) if v.ndim == 2 else pytest.skip("no rows")
    ),
    "masked, but nothing is": lambda v: (np.ma.array(v), v),
    "objects: integers": lambda v: (_objects(v, int), v),
    "objects: bool": lambda v: (_bits(v).astype(object), _bits(v)),
    "objects: NumPy's bool": lambda v: (_objects(_bits(v), np.bool_), _bits(v)),
    "objects: None": lambda v: (_objects(_gaps(v), lambda i: None if i != i else i), _gaps(v)),
    "objects: a word": lambda v: (_objects(v, lambda i: "1" if i == v.flat[0] else i), None),
    "Decimal": lambda v: (_objects(v, lambda i: Decimal(i) / 4), v / 4),
    "Fraction": lambda v: (_objects(v, lambda i: Fraction(i, 4)), v / 4),
    "long double": lambda v: (v.astype(np.longdouble) / 4, v / 4),
    "the other byte order": lambda v: (v.astype(">i8"), v),
    "list": lambda v: (v.tolist(), v),
    "words": lambda v: (v.astype(str), None),
    "complex": lambda v: (v + 1j, None),
    "dates": lambda v: (v.astype("M8[D]"), None),
    **{
        f"sparse {form}": lambda v, form=form: (
            _in_sparse(v.astype(float), form), np.atleast_2d(v).astype(float)
        )
        for form in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
    },
    "sparse bool": lambda v: (_in_sparse(_bits(v), "csr"), np.atleast_2d(_bits(v))),
    "sparse long double": lambda v: (
        _in_sparse(v.astype(np.longdouble), "csr"), np.atleast_2d(v).astype(float)
    ),
    "sparse int64": lambda v: (_in_sparse(v, "csr"), np.atleast_2d(v)),
    **{
        f"pandas {dtype}": lambda v, dtype=dtype: (_frame(v, dtype), v)
        for dtype in ("int64", "Int64", "object", "int64[pyarrow]", "category")
    },
    "pandas UInt8": lambda v: (_frame(v, "UInt8"), v.astype(np.uint8)),
    **{
        f"pandas {dtype}": lambda v, dtype=dtype: (_frame(v / 4, dtype), v / 4)
        for dtype in ("float64", "Float64", "double[pyarrow]", "Sparse[float64]")
    },
    **{
        f"pandas {dtype}": lambda v, dtype=dtype: (_frame(_bits(v), dtype), _bits(v))
        for dtype in ("bool", "boolean", "bool[pyarrow]")
    },
    **{
        f"pandas {dtype} with NA": lambda v, dtype=dtype: (_frame(_gaps(v), dtype), _gaps(v))
        for dtype in ("Int64", "Float64", "int64[pyarrow]", "object")
    },
    "pandas boolean with NA": lambda v: (
        _frame(_bits(v), "boolean").mask(_frame(np.isnan(_gaps(v)), bool)),
        np.where(np.isnan(_gaps(v)), np.nan, _bits(v)),
    ),
    "Arrow integers": lambda v: (_columns(v, arrow, lambda c: arrow.array(c)), v),
    "Arrow bool": lambda v: (_columns(_bits(v), arrow, lambda c: arrow.array(c)), _bits(v)),
    "Arrow chunks": lambda v: (
        _columns(v, arrow, lambda c: arrow.chunked_array([c[:2], c[2:]])), v
    ),
    "Arrow with nulls": lambda v: (
        _columns(_gaps(v), arrow, lambda c: arrow.array(_with_nulls(c))), _gaps(v)
    ),
    "Polars integers": lambda v: (_columns(v, polars, lambda c: polars.Series(c)), v),
    "Polars bool": lambda v: (_columns(_bits(v), polars, lambda c: polars.Series(c)), _bits(v)),
    "Polars with nulls": lambda v: (
        _columns(_gaps(v), polars, lambda c: polars.Series(_with_nulls(c))), _gaps(v)
    ),
}  # fmt: skip


# Calls: of each function and each of its arguments that takes an array, the plain array of small
# integers that it is made from, and the call.
def _of_pairs(call: Callable[..., Any], **more: Any) -> dict[str, Any]:
    """The arguments of a function over all pairs."""
    named: dict[str, Any] = {
        "x": (X, lambda a: call(a, nans="propagate", **more)),
        "covariates": (X[4:6], lambda a: call(X[:4], covariates=a, **more)),
    }
    if "y" in inspect.signature(call).parameters:
        named["y"] = (Y, lambda a: call(X, y=a, nans="propagate", **more))
    if "measure" in inspect.signature(call).parameters:
        weighted = {**more, "measure": "pearson"}
        named["weights"] = (X[0], lambda a: call(X, weights=a, **weighted))
    return named


def _of_bits(call: Callable[..., Any]) -> dict[str, Any]:
    bits = {"measure": "tanimoto"}
    return {"x": (X, lambda a: call(a, **bits)), "y": (Y, lambda a: call(_bits(X), y=a, **bits))}


def _job(**given: Any) -> list[Any]:
    job = gs.distributed.Job(**{"x": X, "parts": 1, "options": {}, **given})
    return [job.part(0)]


CALLS: dict[str, dict[str, tuple[Array, Callable[[Any], Any]]]] = {
    "spearman_edges": _of_pairs(gs.spearman_edges),
    "pearson_edges": {
        **_of_pairs(gs.pearson_edges),
        "weights": (X[0], lambda a: gs.pearson_edges(X, weights=a)),
    },
    "edges": _of_pairs(gs.edges),
    "counts": _of_pairs(gs.counts, min_abs=0.2, bins=7),
    "dense": _of_pairs(gs.dense),
    "stream": _of_pairs(lambda x, y=None, **k: list(gs.stream(x, y, **k))),
    "plan": _of_pairs(lambda x, y=None, **k: gs.plan(x, y, **k).kept_estimate),
    "prepare": {
        "y": (Y, lambda a: gs.dense(X, gs.prepare(a, nans="propagate"), nans="propagate"))
    },
    "top_k_partners": _of_pairs(lambda x, y=None, **k: gs.top_k_partners(x, 2, y, **k)),
    "max_t": {
        "x": (X, lambda a: gs.max_t(a, permutations=9, nans="propagate")),
        "y": (Y, lambda a: gs.max_t(X, a, permutations=9, nans="propagate")),
    },
    "connectivity": {
        "x": (X, lambda a: gs.connectivity(a, [2], nans="propagate")),
        "powers": (X[0, :5] + 1, lambda a: gs.connectivity(X, a)),
    },
    "scale_free_fit": {
        "connectivity": (X.T + 1, lambda a: gs.scale_free_fit(a, np.arange(1, 7), bins=3)),
        "powers": (np.arange(1, 7), lambda a: gs.scale_free_fit(X.T, a, bins=3)),
    },
    "topological_overlap": {
        "statistics": (np.eye(4, dtype=int), lambda a: gs.topological_overlap(a, power=2))
    },
    "observations": {
        "x": (X, gs.observations),
        "y": (Y, lambda a: gs.observations(X, a)),
        "pairs": (np.arange(4), lambda a: gs.observations(X, pairs=(a, [1, 2, 3, 4]))),
    },
    "effective_observations": {
        "x": (X, gs.effective_observations),
        "y": (Y, lambda a: gs.effective_observations(X, a)),
        "pairs": (np.arange(4), lambda a: gs.effective_observations(X, pairs=(a, [1, 2, 3, 4]))),
    },
    "differential": {
        "x": (X, lambda a: gs.differential(a, GROUPS, nans="propagate")),
        "groups": (X[0] // 2, lambda a: gs.differential(X, (a, [8, 9, 10, 11]))),
    },
    "differential_partners": {
        "x": (X, lambda a: gs.differential_partners(a, GROUPS, 2, nans="propagate")),
        "groups": (
            np.arange(4), lambda a: gs.differential_partners(X, (a, [8, 9, 10, 11]), 2)
        ),
    },
    "rank": {"x": (X, lambda a: gs.rank(a, nans="propagate"))},
    "mean_filter": {"x": (X, lambda a: gs.mean_filter(a, 3, dtype="float64"))},
    "convolve": {
        "x": (X, lambda a: gs.convolve(a, [1.0, 2.0], dtype="float64")),
        "weights": (X[0, :4], lambda a: gs.convolve(X.astype(float), a)),
    },
    "top_k": {"x": (X, lambda a: gs.top_k(a, 3))},
    "top_k_distinct": {"x": (X, lambda a: gs.top_k_distinct(a, 3))},
    "matmul": {
        "a": (X, lambda a: gs.matmul(a, X.T.astype(float))),
        "b": (X.T, lambda a: gs.matmul(X.astype(float), a)),
    },
    "pack_bits": {"x": (X, lambda a: gs.pack_bits(a, 1).unpack())},
    "binary_matmul": {
        "a": (X, lambda a: gs.binary_matmul(a, gs.pack_bits(X, 5))),
        "b": (X, lambda a: gs.binary_matmul(gs.pack_bits(X, 5), a)),
    },
    "Bits": {"words": (X, lambda a: gs.Bits(a, 384).unpack())},
    "edges of bits": _of_bits(gs.edges),
    "partners of bits": _of_bits(lambda x, y=None, **more: gs.top_k_partners(x, 2, y, **more)),
    "p_value": {
        "r": (np.array([0, 1, 1]), lambda a: gs.p_value(a, 9)),
        "observations": (np.array([5, 7, 9]), lambda a: gs.p_value([0.1, 0.2, 0.3], a)),
    },
    "confidence_interval": {
        "statistic": (np.array([0, 1, 1]), lambda a: gs.confidence_interval(a, 9)),
        "observations": (np.array([5, 7, 9]), lambda a: gs.confidence_interval([0.1] * 3, a)),
    },
    "adjusted_p_values": {"p": (np.array([0, 1, 1]), lambda a: gs.adjusted_p_values(a, 9))},
    "MaxT.adjusted_p": {"statistic": (np.array([0, 1, 1]), NULL.adjusted_p)},
    "Edges.confidence_interval": {
        "observations": (
            np.arange(4, 19), lambda a: EDGES.confidence_interval(observations=a)
        )
    },
    "Edges.to_pandas": {
        "observations": (np.arange(4, 19), lambda a: EDGES.to_pandas(observations=a))
    },
    "checksum": {
        "row": (np.arange(3), lambda a: gs.checksum(a, [4, 5, 6], [0.1, 0.2, 0.3])),
        "col": (np.arange(3), lambda a: gs.checksum([4, 5, 6], a, [0.1, 0.2, 0.3])),
        "statistic": (np.arange(3), lambda a: gs.checksum([4, 5, 6], [7, 8, 9], a)),
    },
    "spearmanr": {
        "a": (X, lambda a: gs.spearmanr(a, axis=1)),
        "b": (Y, lambda a: gs.spearmanr(X, a, axis=1)),
    },
    "corrcoef": {"x": (X, gs.corrcoef), "y": (Y, lambda a: gs.corrcoef(X, a))},
    "pairwise_distances": {
        "X": (X, gs.pairwise_distances), "Y": (Y, lambda a: gs.pairwise_distances(X, a))
    },
    "rankdata": {"a": (X, lambda a: gs.rankdata(a, axis=1))},
    "uniform_filter1d": {
        "input": (X, lambda a: gs.uniform_filter1d(a, 3, output=np.float64))
    },
    "distributed.Job": {
        "x": (X, lambda a: _job(x=a)),
        "y": (Y, lambda a: _job(y=a)),
        "covariates": (X[4], lambda a: _job(x=X[:4], options={"covariates": a})),
    },
    "plot.fit_tail": {"degrees": (np.tile(X, 4) + 1, lambda a: plot.fit_tail(a, samples=5))},
    "plot.null_share": {
        "bin_edges": (np.array([0, 1]), lambda a: _histogram.null_share(a, 30))
    },
    "plot.heat_map": {"x": (X, lambda a: plot.heat_map(a, COUNTS).images[0].get_array())},
    "plot.scatters": {
        "x": (X, lambda a: [len(axes.collections[0].get_offsets())
                            for axes in plot.scatters(a, EDGES, pairs=1).axes])
    },
}  # fmt: skip
# Public names that take no array of a caller's: what they take instead.
NO_ARRAYS = {
    "backends": "nothing", "devices": "nothing", "critical_correlation": "numbers",
    "read_fingerprints": "a path", "read_table": "a path",
}  # fmt: skip
MODULES = {"anndata": "AnnData", "arrow": "records of edges", "device": "memory of a GPU"}
# Dates and words have an order: rankdata takes them.
TAKEN = {("rankdata", "words"), ("rankdata", "dates"), ("uniform_filter1d", "complex")}


def _cases() -> Iterator[Any]:
    for function, arguments in CALLS.items():
        for argument in arguments:
            for kind in KINDS:
                yield pytest.param(function, argument, kind, id=f"{function}-{argument}-{kind}")


def _fields(result: Any) -> Iterator[Any]:
    """The numbers of a result, in an order."""
    if isinstance(result, np.ndarray | np.generic | int | float | bool | str | None):
        yield np.asarray(result)
    elif isinstance(result, pandas.DataFrame):
        yield from (result[name].to_numpy() for name in result.columns)
    elif isinstance(result, list | tuple | dict):
        for part in result.values() if isinstance(result, dict) else result:
            yield from _fields(part)
    else:
        names = ("records", "matrix", "index", "statistic", "count", "p", "degree", "histogram",
                 "maxima", "connectivity", "row", "col", "first", "second", "z")  # fmt: skip
        found = [getattr(result, name) for name in names if hasattr(result, name)]
        assert found, f"nothing of {type(result)} is compared"
        yield from _fields([part for part in found if isinstance(part, np.ndarray)])


def _answer(call: Callable[[Any], Any], given: Any) -> list[Array] | Exception:
    try:
        with np.errstate(all="ignore"):
            return list(_fields(call(given)))
    except (TypeError, ValueError) as error:
        return error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "argument", "kind"), list(_cases()))
def test_right_or_refused(function: str, argument: str, kind: str) -> None:
    if function.startswith("plot."):
        pytest.importorskip("matplotlib").use("Agg")
    values, call = CALLS[function][argument]
    given, plain = KINDS[kind](values)
    got = _answer(call, given)
    if isinstance(got, Exception):
        message = str(got)
        assert re.search(rf"\b{argument}\b", message.split(": ")[0]), f"{type(got)}: {message}"
        assert kind not in NUMBERS or isinstance(_answer(call, plain), Exception), message
        return
    if plain is None:
        assert (function, kind) in TAKEN, f"taken: {got}"
        return
    want = _answer(call, plain)
    assert not isinstance(want, Exception), f"the plain array is refused: {want}"
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        if one.dtype.names:
            assert one.tobytes() == other.tobytes()
        elif one.dtype.kind in "US":
            assert one == other
        else:
            np.testing.assert_allclose(one.astype(float), other.astype(float), rtol=1e-12)


def _array_arguments(function: Any) -> set[str]:
    return {
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if re.search("ArrayLike|Rows|Bits", str(parameter.annotation))
    }


def test_nothing_is_left_out() -> None:
    for name in gs.__all__:
        public = getattr(gs, name)
        if inspect.isclass(public) or not (callable(public) or inspect.ismodule(public)):
            continue
        if inspect.ismodule(public):
            assert name in MODULES or any(call.startswith(name + ".") for call in CALLS), name
        elif name not in NO_ARRAYS:
            missing = _array_arguments(public) - set(CALLS.get(name, {}))
            assert name in CALLS and not missing, f"{name}: no calls for {missing}"
    for name in plot.__all__:
        missing = _array_arguments(getattr(plot, name)) - {"y", *CALLS.get(f"plot.{name}", {})}
        assert not missing, f"plot.{name}: no calls for {missing}"
