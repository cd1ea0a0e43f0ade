"""Functions that are called as those of SciPy, NumPy and scikit-learn, with their answers."""

from __future__ import annotations

import contextlib
import operator
import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._pairs.observations import observations
from ._results.test_of_correlation import p_value
from ._rows.rows import rank
from ._shared.messages import arguments_named, integer
from ._tables.arrays import host_array, plain_array
from ._tables.labels import observations_of, order_of, warn
from ._tables.numbers import Array, convert, is_exact

# NumPy's own, for what is too small for the library.
_numpy_corrcoef = np.corrcoef
_NAN_POLICIES = ("propagate", "raise", "omit")
_MODES = {
    "reflect": "reflect",
    "grid-mirror": "reflect",
    "constant": "zero",
    "grid-constant": "zero",
    "nearest": "nearest",
    "mirror": "mirror",
    "wrap": "wrap",
    "grid-wrap": "wrap",
}


class SignificanceResult(NamedTuple):
    """A statistic and its p-value: numbers for two variables, else matrices."""

    statistic: Any
    pvalue: Any

    @property
    def correlation(self) -> Any:
        """Another name of `statistic`, as SciPy's results have it."""
        return self.statistic


def spearmanr(
    a: npt.ArrayLike,
    b: npt.ArrayLike | None = None,
    axis: int | None = 0,
    nan_policy: Literal["propagate", "raise", "omit"] = "propagate",
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
) -> SignificanceResult:
    """Spearman correlation with p-value, as scipy.stats.spearmanr.

    p is SciPy's, by Student's t: 0 for abs(rho) = 1, however few the observations. `spearman_edges`
    has p that permutations allow.

    Parameters
    ----------
    a, b : array_like, 1-D or 2-D
        Observations of variables; with `b`, the variables of both are taken together.
    axis : {0, 1, None}
        0: each column is a variable; 1: each row; None: both are raveled.
    nan_policy : {"propagate", "raise", "omit"}
        "omit" takes of each two variables the observations that both have.
    alternative : {"two-sided", "greater", "less"}
        The alternative hypothesis.

    Returns
    -------
    SignificanceResult
        `statistic` and `pvalue`.

    Raises
    ------
    ValueError
        As SciPy.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> result = gs.spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7])
    >>> print(f"rho = {result.statistic:.6f}, p = {result.pvalue:.6f}")
    rho = 0.820783, p = 0.088587
    """
    if nan_policy not in _NAN_POLICIES:
        raise ValueError(f"nan_policy must be one of {{{', '.join(map(repr, _NAN_POLICIES))}}}")
    if alternative not in ("two-sided", "greater", "less"):
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    rows = _variables_as_rows(a, b, axis)
    if rows.shape[1] <= 1:
        return SignificanceResult(np.float64(np.nan), np.float64(np.nan))
    missing = np.isnan(rows).any(axis=0) if rows.dtype.kind == "f" else np.zeros(1, bool)
    if missing.any() and nan_policy == "raise":
        raise ValueError("The input contains nan values")
    if missing.any() and nan_policy == "omit":
        if rows.shape[0] != 2 and rows.shape[1] >= 3:
            return SignificanceResult(*_spearman_of_shared(rows, alternative))
        rows = np.ascontiguousarray(rows[:, ~missing])
        if rows.shape[1] <= 1:
            return SignificanceResult(np.float64(np.nan), np.float64(np.nan))
    statistic, pvalue, constant = _spearman_matrix(rows, alternative)
    if constant:
        _warn_constant()
    if rows.shape[0] != 2:
        return SignificanceResult(statistic, pvalue)
    return SignificanceResult(statistic[1, 0], pvalue[1, 0])


def corrcoef(
    x: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    rowvar: bool = True,
    *,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Pearson correlation coefficients, as numpy.corrcoef.

    Parameters
    ----------
    x : array_like, 1-D or 2-D
        Variables in rows, observations in columns, unless `rowvar` is False.
    y : array_like, optional
        Further variables, of the same shape.
    rowvar : bool
        False: variables in columns.
    dtype : dtype, optional
        Of the result, a floating-point type; default: float64.

    Returns
    -------
    ndarray
        The matrix of coefficients; 1.0 for one variable.

    Raises
    ------
    TypeError
        For complex numbers.
    ValueError
        For a `dtype` that does not hold coefficients, as integers.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.corrcoef([1, 2, 3, 4], [1, 2, 3, 5]).round(6)
    array([[1.      , 0.982708],
           [0.982708, 1.      ]])
    """
    if dtype is not None and np.dtype(dtype).kind != "f":
        raise ValueError(f"dtype: got {np.dtype(dtype)}, expected float64 or float32")
    rows = _numpy_variables(x, y, rowvar)
    if rows.shape[0] <= 1 or rows.shape[1] < 3:
        small: Any = _numpy_corrcoef(rows)
        return small if dtype is None else np.asarray(small).astype(dtype)[()]
    matrix, _ = _core.dense_f64(rows, None, {"measure": "pearson", "nans": "propagate"})
    return matrix if dtype is None else matrix.astype(dtype, copy=False)


def pairwise_distances(
    X: npt.ArrayLike,  # noqa: N803
    Y: npt.ArrayLike | None = None,  # noqa: N803
    metric: Literal["correlation", "spearman"] = "correlation",
    *,
    n_jobs: int | None = None,
) -> Any:
    """One minus the correlation of rows, as sklearn.metrics.pairwise_distances.

    Parameters
    ----------
    X : array_like, shape (n, features)
        Rows are compared.
    Y : array_like, shape (m, features), optional
        Rows of X are compared with rows of Y instead of with each other.
    metric : {"correlation", "spearman"}
        1 - Pearson's r, or 1 - Spearman's rho.
    n_jobs : int, optional
        Threads of the CPU; None or -1: all.

    Returns
    -------
    ndarray of float64, shape (n, n) or (n, m)
        The distances; NaN for constant rows.

    Raises
    ------
    ValueError
        For another metric, a NaN, or unequal features.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.pairwise_distances([[1, 2, 3, 4], [4, 3, 2, 1]])
    array([[0., 2.],
           [2., 0.]])
    """
    if metric not in ("correlation", "spearman"):
        raise ValueError(f"metric: got {metric!r}, expected 'correlation' or 'spearman'")
    first = _two_dimensional(X, "X")
    second = None if Y is None else _two_dimensional(Y, "Y")
    if Y is not None:
        _warn_of_order(X, Y, "X, Y", False)
    if second is not None and first.shape[1] != second.shape[1]:
        raise ValueError(f"Y: got {second.shape[1]} features, expected {first.shape[1]} as X has")
    options: dict[str, Any] = {"measure": "pearson" if metric == "correlation" else metric}
    threads = 0 if n_jobs is None else integer("n_jobs", n_jobs)
    if threads > 0:
        options["cpu_threads"] = threads
    with arguments_named(hints=False, x="X", y="Y", cpu_threads="n_jobs"):
        matrix, _ = _core.dense_f64(first, second, options)
    return np.subtract(1.0, matrix, out=matrix)


def rankdata(
    a: npt.ArrayLike,
    method: Literal["average", "min", "max", "dense", "ordinal"] = "average",
    *,
    axis: int | None = None,
    nan_policy: Literal["propagate", "raise", "omit"] = "propagate",
) -> Array:
    """Ranks, as scipy.stats.rankdata.

    Parameters
    ----------
    a : array_like
        Values to rank.
    method : {"average", "min", "max", "dense", "ordinal"}
        The rank of equal values.
    axis : int, optional
        None ranks the flattened array.
    nan_policy : {"propagate", "raise", "omit"}
        What a NaN does.

    Returns
    -------
    ndarray
        The ranks, in the type of `a` where it is a floating-point type, else in float64, as
        SciPy 1.18 gives them; up to 1.17 SciPy gives integers for methods other than "average".

    Raises
    ------
    ValueError
        As SciPy.

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.rankdata([0, 2, 3, 2])
    array([1. , 2.5, 4. , 2.5])
    >>> gs.rankdata([0, 2, 3, 2], method="min")
    array([1., 2., 4., 2.])
    """
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ValueError(f'unknown method "{method}"')
    if nan_policy not in _NAN_POLICIES:
        raise ValueError(f"nan_policy must be one of {{{', '.join(map(repr, _NAN_POLICIES))}}}")
    values = plain_array(a, "a", ordinal=True)
    if axis is None:
        values, axis = values.ravel(), -1
    kind = np.result_type(values.dtype, 0.0) if values.dtype.kind in "biuf" else np.dtype(float)
    if values.dtype.kind in "OUSmM":
        values = _as_numbers(values, nan_policy)
    if values.size == 0:
        return np.empty(values.shape, kind)
    last = np.moveaxis(values, axis, -1)
    rows = last.reshape(-1, last.shape[-1])
    missing = np.isnan(rows) if rows.dtype.kind == "f" else None
    if missing is None or not missing.any():
        with arguments_named(x="a"):
            ranks = rank(rows, ties=method)
    elif nan_policy == "raise":
        raise ValueError("The input contains nan values")
    else:
        ranks = rank(rows, ties=method, nans="propagate")
        if nan_policy == "omit":
            for i in np.flatnonzero(missing.any(axis=1)):
                present = ~missing[i]
                ranks[i, present] = rank(rows[i, present], ties=method)
    return np.moveaxis(ranks.astype(kind, copy=False).reshape(last.shape), -1, axis)


def _as_numbers(values: Array, nan_policy: str) -> Array:
    """Numbers in the order of values that are not of a type of numbers."""
    if values.dtype == object:
        flat = values.ravel()
        with contextlib.suppress(TypeError):
            return convert(flat, "a", None, True).reshape(values.shape)
        if len(set(map(type, flat.tolist()))) > 1 or (flat != flat).any():
            raise TypeError("a: got objects of several kinds, or without an order, expected one")
    elif values.dtype.kind in "mM" and np.isnat(values).any():
        if nan_policy != "omit":
            raise ValueError("a: got NaT, which has no rank; nan_policy='omit' leaves it out")
        places = np.unique(values, return_inverse=True)[1].reshape(values.shape)
        return np.where(np.isnat(values), np.nan, places)
    return np.unique(values, return_inverse=True)[1].reshape(values.shape)


def uniform_filter1d(
    input: npt.ArrayLike,
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int = 0,
) -> Array:
    """Moving mean along one axis, as scipy.ndimage.uniform_filter1d.

    Parameters
    ----------
    input : array_like
        Values.
    size : int
        Elements of a window.
    axis : int
        The axis to filter along.
    output : ndarray or dtype, optional
        Where to, or in which type.
    mode : {"reflect", "constant", "nearest", "mirror", "wrap"} or SciPy's "grid-" names
        What stands beyond the ends.
    cval : float
        0: another constant is not taken.
    origin : int
        Shift of the windows.

    Returns
    -------
    ndarray
        The filtered array; the error of each mean does not depend on its neighbours.

    Raises
    ------
    ValueError, RuntimeError
        As SciPy; ValueError for a `cval` other than 0 with mode "constant".

    Examples
    --------
    >>> import gpu_similarity as gs
    >>> gs.uniform_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3)
    array([4, 3, 4, 1, 4, 6, 6, 3])
    """
    values = plain_array(input, "input")
    if mode not in _MODES:
        raise RuntimeError("boundary mode not supported")
    boundary = _MODES[mode]
    if boundary == "zero" and cval != 0:
        raise ValueError(f"cval: got {cval!r}, expected 0: another constant is not taken")
    axis = operator.index(axis)
    if not -values.ndim <= axis < values.ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {values.ndim}")
    size, origin = integer("size", size), integer("origin", origin)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    if (size // 2 + origin < 0) or (size // 2 + origin >= size):
        raise ValueError("invalid origin")
    target = output if isinstance(output, np.ndarray) else None
    if target is not None and target.shape != values.shape:
        raise RuntimeError("output shape not correct")
    kind = (
        target.dtype if target is not None else np.dtype(values.dtype if output is None else output)
    )
    if values.dtype.kind == "c" or kind.kind == "c":
        part = np.dtype(np.float64)
        result = (
            _filtered(values.real, size, axis, boundary, origin, part)
            + 1j * _filtered(values.imag, size, axis, boundary, origin, part)
        ).astype(kind)
    else:
        result = _filtered(values, size, axis, boundary, origin, kind)
    if target is None:
        return result
    target[...] = result
    return target


def _filtered(
    values: Array, size: int, axis: int, boundary: str, origin: int, kind: np.dtype[Any]
) -> Array:
    if values.size == 0:
        return np.zeros(values.shape, kind)
    last = np.moveaxis(values, axis, -1)
    rows = np.ascontiguousarray(last).reshape(-1, last.shape[-1])
    rows = host_array(rows, "input")
    options = {"boundary": boundary, "origin": origin}
    # SciPy's means of the input's own type are those in double, cut to that type at the end.
    means: Array = _core.mean_filter(rows, size, kind != rows.dtype, options)
    with np.errstate(invalid="ignore"):
        if kind == np.bool_:  # cut to an integer, as SciPy does: True where that is not 0
            means = np.nan_to_num(np.trunc(means), nan=0.0) != 0
        means = means.astype(kind, copy=False)
    return np.moveaxis(means.reshape(last.shape), -1, axis)


def _variables_as_rows(a: Any, b: Any, axis: int | None) -> Array:
    """The variables of both arguments, one a row, in the layout that the library reads."""
    if axis is not None and axis not in (0, 1):
        raise ValueError(
            "spearmanr only handles 1-D or 2-D arrays, "
            f"supplied axis argument {axis}, please use only values 0, 1 or None for axis"
        )
    first = _checked(a, axis)
    if b is not None:
        _warn_of_order(a, b, "a, b", axis != 1)
    if b is None:
        if first.ndim < 2:
            raise ValueError("`spearmanr` needs at least 2 variables to compare")
        rows = first if axis == 1 else first.T
    else:
        both = (first, _checked(b, axis))
        rows = _stacked(*(x if axis == 1 or x.ndim < 2 else x.T for x in both), second_name="b")
    return host_array(rows, "a", ordinal=True, any_layout=True)


def _stacked(first: Array, second: Array, *, second_name: str) -> Array:
    """The variables of both arguments in one new table.

    The answer has every pair of them, so it is one triangle of one table. The two triangles and the
    rectangle between them would rank each table twice, and their results would be copied together:
    the matrices are larger than the tables wherever there are more variables than observations. Two
    long variables are quicker as one table as well, because rows are what threads share: measured
    with two of 3 million observations on two cores, 1.6 times for Spearman and 4 times for Pearson.
    """
    first, second = np.atleast_2d(first), np.atleast_2d(second)
    if second.dtype.kind not in "biuf":
        host_array(second, second_name, ordinal=True, any_layout=True)  # refuses it by its name
    shape = (len(first) + len(second), first.shape[1])
    # In row-major order, whatever the order of the arguments.
    kind = np.result_type(first, second)
    integers = [part for part in (first, second) if part.dtype.kind in "iu"]
    if kind.kind == "f" and not all(map(is_exact, integers)):
        kind = np.dtype(object)  # NumPy would round them
    return np.concatenate((first, second), out=np.empty(shape, kind))


def _checked(x: Any, axis: int | None) -> Array:
    given = plain_array(x, "a, b", ordinal=True)
    values = np.ravel(given) if axis is None else np.atleast_1d(given)
    if values.ndim > 2:
        raise ValueError("spearmanr only handles 1-D or 2-D arrays")
    return values


def _spearman_matrix(
    rows: Array, alternative: Literal["two-sided", "greater", "less"]
) -> tuple[Array, Array, bool]:
    """rho, p, and whether a variable is constant."""
    if rows.shape[1] >= 3:
        matrix, summary = _core.dense_f64(rows, None, {"nans": "propagate"})
        p = p_value(matrix, rows.shape[1], tail=alternative)
        return matrix, p, summary.told().constant_rows.size > 0
    # With two observations rho is 1 or -1 and the t distribution has no degree of freedom.
    ranks = rank(rows, nans="propagate")
    sign = np.sign(ranks[:, 1] - ranks[:, 0])
    sign[sign == 0] = np.nan
    matrix = np.outer(sign, sign)
    constant = bool((ranks[:, 1] == ranks[:, 0]).any())
    return matrix, np.full_like(matrix, np.nan), constant


def _spearman_of_shared(
    rows: Array, alternative: Literal["two-sided", "greater", "less"]
) -> tuple[Array, Array]:
    """rho and p of each two variables, over the observations that both have."""
    matrix, _ = _core.dense_f64(rows, None, {"nans": "pairwise"})
    shared = observations(rows)
    # As SciPy has it, a variable goes with itself.
    np.fill_diagonal(matrix, 1.0)
    p = p_value(matrix, np.maximum(shared, 3), tail=alternative)
    return matrix, p


def _warn_of_order(first: Any, second: Any, arguments: str, in_columns: bool) -> None:
    """Says where labels tell another order than the one in which SciPy and NumPy pair."""
    labels = observations_of(first, in_columns), observations_of(second, in_columns)
    try:
        order = order_of(*labels, arguments)
    except ValueError:
        return  # other labels
    if order is not None:
        warn(
            f"{arguments}: the observations have the same labels in another order; they are paired "
            "by position, as SciPy and NumPy do. gs.dense and the other functions match labels"
        )


def _warn_constant() -> None:
    message = "An input array is constant; the correlation coefficient is not defined."
    category: type[Warning] = RuntimeWarning
    try:
        from scipy.stats import ConstantInputWarning

        category = ConstantInputWarning
    except ImportError:
        pass
    warnings.warn(message, category, stacklevel=3)


def _numpy_variables(x: Any, y: Any, rowvar: bool) -> Array:
    if y is not None:
        _warn_of_order(x, y, "x, y", not rowvar)
    parts = [plain_array(part, "x, y") for part in (x, y) if part is not None]
    for part in parts:
        if part.ndim > 2:
            raise ValueError("x, y: got more than 2 dimensions")
        if part.dtype.kind == "c":
            raise TypeError("x, y: complex numbers are not taken")
    oriented = []
    for part in parts:
        rows = np.atleast_2d(part)
        oriented.append(rows if rowvar or (part.ndim < 2) else rows.T)
    together = oriented[0] if len(oriented) == 1 else _stacked(*oriented, second_name="y")
    return host_array(together, "x", any_layout=True)


def _two_dimensional(x: Any, argument: str) -> Array:
    values = host_array(x, argument)
    if values.ndim != 2:
        raise ValueError(f"{argument}: got {values.ndim} dimensions, expected 2")
    return values
