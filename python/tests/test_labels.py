"""Labels of observations are matched, whoever holds them; what labels tell is said."""

from __future__ import annotations

import warnings
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest

pd = pytest.importorskip("pandas")

COLS = [f"s{k}" for k in range(30)]


@pytest.fixture
def x(rng: np.random.Generator) -> Any:
    """Variables in rows."""
    return pd.DataFrame(rng.integers(0, 9, (6, 30)), index=list("abcdef"), columns=COLS)


@pytest.fixture
def y(rng: np.random.Generator) -> Any:
    return pd.DataFrame(rng.integers(0, 9, (4, 30)), index=list("pqrs"), columns=COLS)


def shuffled(table: Any, seed: int = 3) -> Any:
    """The same columns in another order."""
    return table[list(np.random.default_rng(seed).permutation(table.columns))]


def test_the_case_of_the_report(rng: np.random.Generator) -> None:
    frame = pd.DataFrame(rng.normal(size=(6, 3)), index=list("abcdef"), columns=list("pqr"))
    found = gs.pearson_edges(frame, frame.iloc[::-1], axis="columns")
    wanted = frame.corrwith(frame.iloc[::-1])
    np.testing.assert_allclose(found.statistic.reshape(3, 3).diagonal(), wanted, atol=1e-14)
    age = pd.Series([1, 2, 3, 4, 5, 9.0], index=list("abcdef"))
    for name in ("covariates", "weights"):
        ordered: Any = {name: age}
        turned: Any = {name: age.iloc[::-1]}
        np.testing.assert_array_equal(
            gs.pearson_edges(frame, axis="columns", **turned).statistic,
            gs.pearson_edges(frame, axis="columns", **ordered).statistic,
        )


def _edges(x: Any, y: Any, **run: Any) -> Any:
    return gs.edges(x, y, measure="pearson", **run).records


def _streamed(x: Any, y: Any, **run: Any) -> Any:
    with gs.stream(x, y, measure="cosine", **run) as batches:
        return np.concatenate([batch.statistic for batch in batches])


CALLS: dict[str, Any] = {
    "edges": _edges,
    "spearman_edges": lambda x, y, **run: gs.spearman_edges(x, y, **run).records,
    "pearson_edges": lambda x, y, **run: gs.pearson_edges(x, y, **run).records,
    "dense": lambda x, y, **run: gs.dense(x, y, **run).matrix,
    "counts": lambda x, y, **run: gs.counts(x, y, min_abs=0.2, bins=9, **run).histogram,
    "top_k_partners": lambda x, y, **run: gs.top_k_partners(x, 2, y, **run).statistic,
    "stream": _streamed,
    "plan": lambda x, y, **run: gs.plan(x, y, max_p=0.4, **run).kept_estimate,
    "max_t": lambda x, y, **run: gs.max_t(x, y, permutations=20, **run).maxima,
    "observations": lambda x, y, **run: gs.observations(x, y, **run),
    "prepare": lambda x, y, **run: gs.dense(x, gs.prepare(y, **run), **run).matrix,
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_y_is_matched_by_label(name: str, axis: str, x: Any, y: Any) -> None:
    call = CALLS[name]
    if name == "observations":
        x, y = x.where(x > 0), y.where(y > 2)

    def laid(table: Any) -> Any:
        return table.T if axis == "columns" else table

    wanted = call(x.to_numpy(), y.to_numpy())
    np.testing.assert_array_equal(call(laid(x), laid(shuffled(y)), axis=axis), wanted)
    left = shuffled(x)
    np.testing.assert_array_equal(
        call(laid(left), laid(shuffled(y, 4)), axis=axis),
        call(laid(left), laid(y[left.columns]), axis=axis),
    )
    by_position = call(x.to_numpy(), shuffled(y).to_numpy())
    asked = call(laid(x), laid(shuffled(y)), axis=axis, match="position")
    np.testing.assert_array_equal(asked, by_position)
    # Without labels on a side.
    np.testing.assert_array_equal(
        call(laid(x), laid(shuffled(y)).to_numpy(), axis=axis), by_position
    )
    with pytest.raises(ValueError, match=r"'s7'.*'t7'.*match='position'|'t7'.*'s7'.*match="):
        call(laid(x), laid(shuffled(y).rename(columns={"s7": "t7"})), axis=axis)
    with pytest.raises(ValueError, match="'s7'"):
        call(laid(x), laid(y.drop(columns="s7")), axis=axis)


def test_missing_values_pair_by_pair_have_their_own_observations(x: Any, y: Any) -> None:
    x, y = x.where(x > 0), y.where(y > 1)
    run: Any = {"nans": "pairwise"}
    best = gs.top_k_partners(x, 2, shuffled(y), **run)
    wanted = gs.top_k_partners(x.to_numpy(), 2, y.to_numpy(), **run)
    np.testing.assert_array_equal(best.to_pandas().to_numpy()[:, 3:],
                                  wanted.to_pandas().to_numpy()[:, 3:])  # fmt: skip


def test_repeated_labels_in_another_order_are_refused(x: Any, y: Any) -> None:
    x, y = (table.rename(columns={"s7": "s8"}) for table in (x, y))
    gs.dense(x, y)
    with pytest.raises(ValueError, match="some repeat"):
        gs.dense(x, y.iloc[:, ::-1])
    with pytest.raises(ValueError, match="'name' or 'position'"):
        gs.dense(x, y, match="label")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="copy=False"):
        gs.dense(x.iloc[:, :6], x.iloc[:, 5::-1], copy=False)


def test_numbers_of_rows_say_an_order_but_are_no_names(x: Any, y: Any) -> None:
    left, right = x.T.reset_index(drop=True), y.T.reset_index(drop=True)
    wanted = gs.dense(left, right, axis="columns").matrix
    mixed = right.sample(frac=1, random_state=1)
    np.testing.assert_array_equal(gs.dense(left, mixed, axis="columns").matrix, wanted)
    np.testing.assert_array_equal(gs.dense(left, right.iloc[::-1], axis="columns").matrix, wanted)
    # Other numbers, or names against numbers, are paired in order, as without labels.
    years = right.set_axis(range(1990, 2020))
    np.testing.assert_array_equal(gs.dense(left, years, axis="columns").matrix, wanted)
    np.testing.assert_array_equal(gs.dense(left, y.T, axis="columns").matrix, wanted)
    with pytest.raises(ValueError, match="lacks 2020"):
        gs.dense(left.set_axis(range(1991, 2021)), years, axis="columns")


def test_covariates_and_weights_are_matched_by_label(x: Any, rng: np.random.Generator) -> None:
    z = pd.DataFrame(rng.normal(size=(2, 30)), index=["age", "batch"], columns=COLS)
    w = pd.Series(rng.uniform(size=30), index=COLS)
    plain = gs.dense(x.to_numpy(), measure="pearson", covariates=z.to_numpy(),
                     weights=w.to_numpy(), effective_observations=30).matrix  # fmt: skip
    for axis in ("rows", "columns"):
        own, covariates = (x.T, shuffled(z).T) if axis == "columns" else (x, shuffled(z))
        run: Any = {"measure": "pearson", "axis": axis, "effective_observations": 30}
        w_shuffled = w.sample(frac=1, random_state=1)
        found = gs.dense(own, covariates=covariates, weights=w_shuffled, **run)
        np.testing.assert_array_equal(found.matrix, plain)
        alone = shuffled(z).loc["age"]  # a Series
        np.testing.assert_array_equal(
            gs.dense(own, covariates=alone, **run | {"effective_observations": None}).matrix,
            gs.dense(x.to_numpy(), measure="pearson", covariates=z.loc["age"].to_numpy()).matrix,
        )
        for name, given in (("weights", w.rename({"s3": "t3"})), ("weights", w.drop("s3")),
                            ("covariates", alone.rename({"s3": "t3"}))):  # fmt: skip
            with pytest.raises(ValueError, match=f"{name}: .*'s3'"):
                gs.dense(own, **run | {name: given, "effective_observations": None})
    np.testing.assert_array_equal(
        gs.connectivity(x, [2], measure="pearson", weights=w.iloc[::-1]).connectivity,
        gs.connectivity(x.to_numpy(), [2], measure="pearson", weights=w.to_numpy()).connectivity,
    )


def test_masks_of_groups_are_matched_by_label(x: Any) -> None:
    case = pd.Series([k < 15 for k in range(30)], index=COLS)
    turned = case.iloc[::-1]
    wanted = gs.differential(x.to_numpy(), (range(15), range(15, 30)))
    for found in (
        gs.differential(x, (turned, ~turned)),
        gs.differential(x.T, (turned, ~case), axis="columns"),
        gs.differential(x.to_numpy(), (case, ~case)),
        gs.differential(x, (~turned, turned), match="position"),
    ):
        np.testing.assert_array_equal(found.z, wanted.z)
    np.testing.assert_array_equal(
        gs.differential_partners(x, (turned, ~turned), 2).z,
        gs.differential_partners(x.to_numpy(), (range(15), range(15, 30)), 2).z,
    )
    with pytest.raises(ValueError, match=r"groups: .*'s3'"):
        gs.differential(x, (case.rename({"s3": "t3"}), ~case))


def of_sets(*tables: Any, **more: Any) -> Any:
    return gs.dense(*tables, measure="tanimoto", **more)


def test_bits_are_matched_by_label(rng: np.random.Generator) -> None:
    x, y = (pd.DataFrame(rng.integers(0, 2, (n, 30)).astype(bool), columns=COLS) for n in (5, 4))
    wanted = of_sets(x.to_numpy(), y.to_numpy()).matrix
    np.testing.assert_array_equal(of_sets(x, shuffled(y)).matrix, wanted)
    by_position = of_sets(x.to_numpy(), shuffled(y).to_numpy()).matrix
    np.testing.assert_array_equal(of_sets(x, shuffled(y), match="position").matrix, by_position)


def test_other_frames_and_tables_of_files(x: Any, y: Any, tmp_path: Any) -> None:
    wanted = gs.dense(x.to_numpy(), y.to_numpy()).matrix
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    makers = (polars.from_pandas, arrow.Table.from_pandas)
    for make in makers:
        left, right = (make(table.reset_index(drop=True)) for table in (x, shuffled(y)))
        np.testing.assert_array_equal(gs.dense(left, right).matrix, wanted)
        np.testing.assert_array_equal(gs.dense(x, right).matrix, wanted)
    shuffled(y).to_csv(tmp_path / "y.csv")
    table = gs.read_table(tmp_path / "y.csv", frame=False)
    np.testing.assert_array_equal(gs.dense(x, table).matrix, wanted)
    sparse = pytest.importorskip("scipy.sparse")
    stored = table._replace(values=sparse.csr_array(table.values))
    np.testing.assert_array_equal(gs.dense(x, stored).matrix, wanted)
    right = gs.dense(table._replace(values=sparse.csr_array(table.values)), x).matrix
    np.testing.assert_array_equal(right, wanted.T)


def test_errors_name_the_place_in_the_table_that_was_given(x: Any, y: Any) -> None:
    y = shuffled(y.astype(float))
    y.loc["q", "s7"] = np.nan
    with pytest.raises(ValueError, match="y: got NaN at row 'q', column 's7'"):
        gs.dense(x, y)
    with pytest.raises(ValueError, match="x: got NaN at row 'q', column 's7'"):
        gs.dense(y, gs.prepare(x))


def test_jobs_match_by_label(x: Any, y: Any, tmp_path: Any) -> None:
    z = pd.Series(np.arange(30.0) % 7, index=COLS)
    job = gs.distributed.Job(x, shuffled(y), parts=2, options={"covariates": z.iloc[::-1]})
    wanted = gs.spearman_edges(x.to_numpy(), y.to_numpy(), covariates=z.to_numpy())
    shuffled(y).to_csv(tmp_path / "y.csv")
    x.to_csv(tmp_path / "x.csv")
    for left in (x, tmp_path / "x.csv"):
        for right in (shuffled(y), tmp_path / "y.csv"):
            job = gs.distributed.Job(left, right, parts=2, options={"covariates": z.iloc[::-1]})
            for own in (job, job.sent()):
                found = np.concatenate([own.part(k).records for k in range(2)])
                np.testing.assert_array_equal(found, wanted.records)
            assert job.digest() == job.sent().digest()
    with pytest.raises(ValueError, match="'s7'"):
        gs.distributed.Job(x, y.rename(columns={"s7": "t7"}), parts=2)
    by_position = gs.distributed.Job(x, shuffled(y), options={"match": "position"}).part(0)
    np.testing.assert_array_equal(
        by_position.records, gs.spearman_edges(x.to_numpy(), shuffled(y).to_numpy()).records
    )


def test_anndata_matches_covariates_with_its_cells(x: Any) -> None:
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(x.T.astype(float))
    age = pd.Series(np.arange(30.0) % 7, index=COLS)
    wanted = gs.spearman_edges(x.to_numpy(), covariates=age.to_numpy(), max_p=0.5).statistic
    found = gs.anndata.correlate(cells, covariates=age.iloc[::-1], max_p=0.5, adjust="none")
    np.testing.assert_array_equal(found.statistic, wanted)
    with pytest.raises(ValueError, match="adata has"):
        gs.anndata.correlate(cells, covariates=age.rename({"s3": "t3"}))


def test_faces_keep_the_answers_of_scipy_and_say_the_order(x: Any) -> None:
    a, b = x.loc["a"], x.loc["b"].iloc[::-1]
    with pytest.warns(UserWarning, match="same labels in another order"):
        found = gs.spearmanr(a, b)
    assert found.statistic == gs.spearmanr(a.to_numpy(), b.to_numpy()).statistic
    with pytest.warns(UserWarning, match="same labels in another order"):
        gs.corrcoef(x, shuffled(x))
    with pytest.warns(UserWarning, match="same labels in another order"):
        gs.pairwise_distances(x, shuffled(x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gs.spearmanr(a, x.loc["b"])
        gs.corrcoef(x, x)


def test_names_that_repeat_are_said(x: Any) -> None:
    twice = x.set_axis(list("abcbea"))
    with pytest.warns(UserWarning, match="x: 6 variables have 4 different names: 'b' is of sev"):
        gs.dense(twice)
    with pytest.warns(UserWarning, match="y: 6 variables have 4 different names"):
        gs.dense(x, twice)
    with pytest.warns(UserWarning, match="6 variables have 4"):
        gs.dense(twice.T, axis="columns")
    with pytest.warns(UserWarning, match="6 variables have 4"):
        of_sets(twice > 4)
    table = gs.NamedTable(x.to_numpy(), np.array(list("abcbea")), None, ())
    with pytest.warns(UserWarning, match="'b' is of several"):
        gs.dense(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gs.dense(x)
        gs.dense(twice.to_numpy())


def test_rows_that_look_like_observations_are_said(rng: np.random.Generator) -> None:
    days = pd.DataFrame(rng.normal(size=(12, 5)), index=pd.date_range("2024-01-01", periods=12))
    many = rng.normal(size=(1000, 5))
    told = "axis='columns' takes the columns as variables"
    with pytest.warns(UserWarning, match=f"its index is a DatetimeIndex.*{told}") as caught:
        gs.dense(days)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="PeriodIndex"):
        gs.counts(days.set_axis(days.index.to_period("D")))
    for table in (many, pd.DataFrame(many), np.asfortranarray(many)):
        with pytest.warns(UserWarning, match=f"1,000 rows without names x 5 columns.*{told}"):
            gs.counts(table)
    with pytest.warns(UserWarning, match="y: 1,000 rows"):
        gs.counts(many[:9], many)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for axis in ("rows", "columns", 0, 1):
            gs.counts(days, axis=axis)
            gs.counts(many, axis=axis)
        gs.counts(many[:999])
        gs.counts(pd.DataFrame(many, index=[f"g{k}" for k in range(1000)]))
        gs.counts(rng.normal(size=(1000, 501)))


def test_labels_cost_little(rng: np.random.Generator) -> None:
    """Labels in the same order are compared, not matched: no copy of y is made."""
    frame = pd.DataFrame(rng.normal(size=(5, 4000)))
    frame.columns = [f"s{k}" for k in range(4000)]
    from gpu_similarity._tables import labels

    assert labels.order_of(frame.columns, frame.copy().columns, "y") is None
    gs.dense(frame, frame.copy(), copy=False)


def test_dates_are_names_without_a_time_of_day() -> None:
    pandas = pytest.importorskip("pandas")
    x = np.random.default_rng(6).normal(size=(3, 30))
    days = pandas.date_range("2020-05-05", periods=3)
    edges = gs.edges(pandas.DataFrame(x, index=days), max_p=1, axis="rows")
    assert str(edges.label(1)) == "2020-05-06"
    hours = pandas.date_range("2020-05-05", periods=3, freq="h")
    edges = gs.edges(pandas.DataFrame(x, index=hours), max_p=1, axis="rows")
    assert str(edges.label(1)).startswith("2020-05-05T01:00")
