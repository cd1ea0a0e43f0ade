"""Pictures: what they show, beside what other packages compute."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import gpu_similarity as gs
import numpy as np
import pytest

pyplot = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("scipy")


@pytest.fixture(autouse=True)
def closed() -> Any:
    yield
    pyplot.close("all")


@pytest.fixture(name="x")
def modules(rng: np.random.Generator) -> np.ndarray:
    """A hundred rows in five modules, one of them turned around in half of its rows."""
    x = rng.normal(size=(5, 1, 24)) + 0.5 * rng.normal(size=(5, 20, 24))
    x[0, :10] *= -1
    return np.asarray(x.reshape(100, 24))


def legend(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize(
    "tail, text, at",
    [
        ("two-sided", "cut: |\N{GREEK SMALL LETTER RHO}| ≥ 0.5", [-0.5, 0.5]),
        ("greater", "cut: \N{GREEK SMALL LETTER RHO} ≥ 0.5", [0.5]),
        ("less", "cut: \N{GREEK SMALL LETTER RHO} ≤ -0.5", [-0.5]),
    ],
)
def test_the_legend_of_the_histogram_has_the_cut(
    x: np.ndarray, tail: Any, text: str, at: list[float]
) -> None:
    axes = gs.plot.histogram(gs.counts(x, bins=50), cut=0.5, tail=tail)
    assert legend(axes) == ["pairs", "independent rows", text]
    assert [line.get_xdata()[0] for line in axes.lines[1:]] == at
    assert gs.plot.null_share(np.linspace(-1, 1, 51), 24).sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="histogram"):
        gs.plot.histogram(gs.counts(x))


@pytest.mark.parametrize("exponent, first", [(2.5, 1), (2.2, 6), (3.2, 3)])
def test_a_power_law_is_found(exponent: float, first: int) -> None:
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    rng = np.random.default_rng(1)
    tail = rng.zipf(exponent, 400_000)
    tail = tail[tail >= first][:3000]
    values = np.concatenate([tail, np.repeat(np.arange(first), 200)])
    law = gs.plot.fit_tail(values, samples=40)
    assert law is not None
    assert law.exponent == pytest.approx(exponent, abs=0.12)
    assert law.p > 0.1
    own = values[values >= law.from_degree]
    assert law.rows == len(own)

    def loss(a: float) -> float:
        return float(len(own) * np.log(zeta(a, law.from_degree)) + a * np.log(own).sum())

    best = minimize_scalar(loss, bounds=(1.01, 7), method="bounded").x
    assert law.exponent == pytest.approx(best, abs=0.006)
    steps = np.arange(law.from_degree, own.max() + 1)
    model = 1 - zeta(law.exponent, steps + 1) / zeta(law.exponent, law.from_degree)
    there = np.searchsorted(np.sort(own), steps, side="right") / len(own)
    assert law.distance == pytest.approx(np.abs(model - there).max(), rel=1e-9)


def test_what_is_no_power_law_is_not_drawn_as_one(x: np.ndarray) -> None:
    law = gs.plot.fit_tail(np.random.default_rng(3).poisson(40, 3000), samples=40)
    assert law is None or law.p < 0.1 or law.rows < 100
    law = gs.plot.fit_tail(np.random.default_rng(3).geometric(0.1, 5000), samples=40)
    assert law is not None and (law.p < 0.1 or law.rows < 300)
    assert gs.plot.fit_tail(np.arange(40)) is None
    assert gs.plot.fit_tail(np.full(500, 7)) is None
    found = gs.counts(x[:40], max_p=0.01)
    axes = gs.plot.degrees(found)
    assert legend(axes)[1] == "tail too short to fit"
    degree, rows = axes.lines[0].get_data()
    assert rows.tolist() == [int((found.degree >= d).sum()) for d in degree]


def test_the_heat_map_is_that_of_scipy(x: np.ndarray) -> None:
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform
    from scipy.stats import spearmanr

    names = np.array([f"gene {i}" for i in range(100)])
    found = gs.counts(x, max_p=1e-4, names=names)
    axes = gs.plot.heat_map(x, found, rows=30)
    labels = [text.get_text() for text in axes.get_yticklabels()]
    chosen = np.argsort(-found.degree.astype(np.int64), kind="stable")[:30]
    assert sorted(labels) == sorted(names[chosen])
    want = spearmanr(x[chosen], axis=1).statistic
    tree = hierarchy.average(squareform(np.maximum(1 - want, 0), checks=False))
    order = hierarchy.leaves_list(tree)
    shown = np.asarray(axes.images[0].get_array())
    np.testing.assert_allclose(np.sort(shown, axis=None), np.sort(want, axis=None), atol=1e-12)
    assert labels == names[chosen[order]].tolist()
    assert len(axes.child_axes) == 1 and len(axes.child_axes[0].lines) == 29
    # Both signs occur: the colours are symmetric around 0, and end at the largest off the diagonal.
    most = np.abs(want[~np.eye(30, dtype=bool)]).max()
    assert axes.images[0].get_clim() == pytest.approx((-most, most))


def test_colours_span_the_statistics_of_one_sign(rng: np.random.Generator) -> None:
    x = rng.normal(size=30) + 0.3 * rng.normal(size=(12, 30))
    axes = gs.plot.heat_map(x, gs.counts(x, max_p=1e-4))
    apart = gs.dense(x).matrix[~np.eye(12, dtype=bool)]
    assert apart.min() > 0
    assert axes.images[0].get_clim() == pytest.approx((apart.min(), apart.max()))


def test_labels_that_do_not_fit_are_left_out(x: np.ndarray) -> None:
    more = np.concatenate([x, x + 1e-3 * np.arange(x.shape[1])])[:120]
    axes = gs.plot.heat_map(more, gs.counts(more, max_p=0.5))
    assert len(axes.get_yticks()) == 0
    assert axes.get_xlabel() == "120 rows of highest degree, too many for labels"


@pytest.mark.parametrize("rows", [45, 60, 100])
def test_labels_of_a_figure_of_its_own_fit(x: np.ndarray, rows: int) -> None:
    small = gs.plot.heat_map(x, gs.counts(x, max_p=0.5), rows=rows)
    small.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in small.get_yticklabels()]
    assert len(boxes) == rows
    gaps = np.abs(np.diff([(box.y0 + box.y1) / 2 for box in boxes]))
    sizes = [text.get_fontsize() for text in small.get_yticklabels()]
    assert min(sizes) >= 5
    assert gaps.min() * 72 / small.figure.dpi >= 0.9 * max(sizes)
    with pytest.raises(ValueError, match="no row has a kept pair"):
        gs.plot.heat_map(x, gs.counts(x, max_p=1e-300))
    with pytest.raises(ValueError, match="expected those of the 100 rows"):
        gs.plot.heat_map(x, gs.counts(x[:50]))


def test_scatters_show_what_the_measure_sees(x: np.ndarray) -> None:
    from scipy.stats import rankdata

    edges = gs.spearman_edges(x, max_p=0.01)
    best = edges.best(2)
    panels = gs.plot.scatters(x, edges, pairs=2).axes
    for axes, edge in zip(panels, best.records, strict=True):
        shown = np.asarray(axes.collections[0].get_offsets())
        want = np.stack([rankdata(x[edge["row"]]), rankdata(x[edge["col"]])], axis=1)
        assert sorted(map(tuple, shown.tolist())) == sorted(map(tuple, want.tolist()))
        assert len(axes.get_xticks()) > 1
        assert axes.get_title().startswith(
            f"\N{GREEK SMALL LETTER RHO} = {edge['statistic']:.3f}, p = "
        )
    values = gs.plot.scatters(x.T, gs.pearson_edges(x, max_p=0.01), pairs=1, axis="columns").axes[0]
    edge = gs.pearson_edges(x, max_p=0.01).best(1).records[0]
    shown = np.asarray(values.collections[0].get_offsets())
    np.testing.assert_allclose(np.sort(shown[:, 0]), np.sort(x[edge["row"]]))


def test_the_network_has_the_strongest_edges(x: np.ndarray) -> None:
    pytest.importorskip("igraph")
    names = np.array([f"$g_{i}$" for i in range(100)])
    edges = gs.spearman_edges(x, max_p=0.01, names=names)
    axes = gs.plot.network(edges, strongest=40, labels=10)
    axes.figure.canvas.draw()
    lines = axes.collections[0]
    assert len(lines.get_segments()) == 40
    best = edges.best(40)
    red = np.asarray(lines.get_colors())[:, 0] > 0.5
    assert (red == (best.statistic > 0)).all()
    nodes = sum(len(points.get_offsets()) for points in axes.collections[1:])
    assert nodes == len(np.unique([best.row, best.col]))
    drawn = [text for text in axes.texts if text.get_text()]
    assert 1 <= len(drawn) <= 10
    assert {t.get_text().replace("\\", "") for t in drawn} <= set(names)
    against = gs.spearman_edges(x[:50], x[50:] + x[:50], max_p=0.01)
    squares = gs.plot.network(against, strongest=20).collections[2].get_offsets()
    assert len(squares) == len(np.unique(against.best(20).col))
    with pytest.raises(ValueError, match="got none"):
        gs.plot.network(gs.spearman_edges(x, max_p=1e-300))


def report(folder: Path, x: np.ndarray, **changed: Any) -> Path:
    """What the command writes of a run over a table of names and numbers."""
    table = folder / "table.csv"
    lines = [",".join([f"g{i}", *map(repr, row.tolist())]) for i, row in enumerate(x)]
    table.write_text("\n".join(lines) + "\n")
    s = gs.spearman_edges(x, max_p=1e-4, tail="greater").summary
    told = {
        "command": ["gpu-similarity", "spearman", "table.csv", "--max-p=1e-4", "--tail", "greater"],
        "status": "complete",
        "input": {"name": "table.csv", "crc32": f"{zlib.crc32(table.read_bytes()):08x}"},
        "against": None,
        "pairs_kept": s.pairs_kept,
        "max_p_effective": s.max_p_effective,
        "min_abs_effective": s.min_abs_effective,
    }
    (folder / "run.json").write_text(json.dumps({**told, **changed}))
    return folder / "run.json"


def test_pictures_of_a_report(x: np.ndarray, tmp_path: Path) -> None:
    pytest.importorskip("igraph")
    figure = gs.plot.from_report(report(tmp_path, x))
    first = figure.axes[0]
    assert legend(first)[2].startswith("cut: \N{GREEK SMALL LETTER RHO} ≥ 0.")
    output = tmp_path / "picture.png"
    call = [sys.executable, "-m", "gpu_similarity", "plot", str(tmp_path / "run.json")]
    for kind in ("scatters", "heat-map"):
        subprocess.run([*call, "-o", str(output), "--kind", kind, "--dpi", "50"], check=True)
        assert output.read_bytes().startswith(b"\x89PNG")


def test_the_report_of_a_cut_by_permutation(x: np.ndarray, tmp_path: Path) -> None:
    least = gs.max_t(x, permutations=99).cut(0.1)
    kept = len(gs.spearman_edges(x, min_abs=least))
    assert kept > 0
    words = ["spearman", "table.csv", "--max-p", "0.1", "--adjust", "max-t"]
    told = {
        "command": ["gpu-similarity", *words],
        "permutations": {"number": 99, "seed": 0, "seconds": 0.1},
        "max_p_effective": 1,
        "min_abs_effective": least,
        "pairs_kept": kept,
    }
    assert gs.plot.from_report(report(tmp_path, x, **told), kind="histogram").axes
    told |= {"min_abs_effective": None, "pairs_kept": 0}
    assert gs.plot.from_report(report(tmp_path, x, **told), kind="degrees").axes


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"pairs_kept": 3}, "the report has 3 kept pairs, its input gives"),
        ({"status": "failed"}, "not a complete one"),
        ({"command": ["gpu-similarity", "rank"]}, "a report of 'rank', expected one of 'spearman'"),
        ({"input": {"name": "table.csv", "crc32": "00000000"}}, "expected 00000000 as in"),
        ({"input": {"name": "gone.csv", "crc32": "00000000"}}, "its input gone.csv is not there"),
    ],
)
def test_reports_of_another_run_are_refused(
    x: np.ndarray, tmp_path: Path, changed: Any, message: str
) -> None:
    path = report(tmp_path, x, **changed)
    with pytest.raises((ValueError, OSError), match=message):
        gs.plot.from_report(path)
    got = subprocess.run(
        [sys.executable, "-m", "gpu_similarity", "plot", str(path), "-o", str(tmp_path / "p.png")],
        capture_output=True,
        text=True,
    )
    assert got.returncode == 1
    assert got.stderr.startswith("python -m gpu_similarity: ") and got.stderr.count("\n") == 1


def test_the_heat_map_of_missing_values_is_that_of_shared_columns(x: np.ndarray) -> None:
    from scipy.stats import spearmanr

    x[np.random.default_rng(2).random(x.shape) < 0.03] = np.nan
    found = gs.counts(x, max_p=1e-4, nans="pairwise")
    axes = gs.plot.heat_map(x, found, rows=20)
    shown = np.asarray(axes.images[0].get_array())
    rows = [int(text.get_text()) for text in axes.get_yticklabels()]
    assert np.isnan(x[rows]).any() and not np.isnan(shown).any()
    want = spearmanr(x[rows[2]], x[rows[7]], nan_policy="omit").statistic
    assert shown[2, 7] == pytest.approx(want, abs=1e-12)


def test_every_label_is_inside_its_figure(x: np.ndarray) -> None:
    names = np.array([f"a long name {i}" for i in range(100)])
    axes = gs.plot.heat_map(x, gs.counts(x, max_p=1e-4, names=names), rows=40)
    axes.figure.canvas.draw()
    inside = axes.figure.bbox
    for text in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
        box = text.get_window_extent()
        assert box.x0 >= inside.x0 and box.y0 >= inside.y0
        assert box.x1 <= inside.x1 and box.y1 <= inside.y1


def test_labels_of_a_network_cover_no_node_and_no_label(x: np.ndarray) -> None:
    pytest.importorskip("igraph")
    names = np.array([f"gene {i}" for i in range(100)])
    axes = gs.plot.network(gs.spearman_edges(x, max_p=0.01, names=names), strongest=120)
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) > 8
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
    nodes = axes.transData.transform(
        np.concatenate([points.get_offsets() for points in axes.collections[1:]])
    )
    for box in boxes:
        assert not any(box.contains(*node) for node in nodes)


def test_the_legend_of_a_network_has_the_signs_that_are_there(x: np.ndarray) -> None:
    pytest.importorskip("igraph")
    assert legend(gs.plot.network(gs.spearman_edges(x, max_p=0.01, tail="less"))) == ["negative"]
    assert legend(gs.plot.network(gs.spearman_edges(x, max_p=0.01, tail="greater"))) == ["positive"]


def test_titles_of_scatters_round_nothing_to_one_and_no_p_to_zero() -> None:
    rows = np.stack([np.arange(200.0), np.arange(200.0), np.arange(200.0)])
    rows[2, :2] = 1, 0
    figure = gs.plot.scatters(rows, gs.spearman_edges(rows), pairs=3)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[0].endswith("= 1.000, p < 1e-300")
    assert "= 0.9999" in titles[1]
    assert not any(title.endswith("p = 0") for title in titles)


@pytest.mark.parametrize("draw", ["heat_map", "network", "scatters"])
def test_what_is_drawn_is_counted_in_integers(x: np.ndarray, draw: str) -> None:
    pytest.importorskip("igraph")
    edges = gs.spearman_edges(x, max_p=0.01)
    calls: dict[str, Any] = {
        "heat_map": lambda n: gs.plot.heat_map(x, gs.counts(x, max_p=0.01), rows=n),
        "network": lambda n: gs.plot.network(edges, strongest=n),
        "scatters": lambda n: gs.plot.scatters(x, edges, pairs=n),
    }
    with pytest.raises(TypeError, match=r": got 1\.5, expected an integer"):
        calls[draw](1.5)
    with pytest.raises(ValueError, match=r": got 0, expected at least 1"):
        calls[draw](0)


def test_heat_maps_of_results_show_their_statistics(x: np.ndarray) -> None:
    names = [f"gene {i}" for i in range(len(x))]
    full = gs.dense(x, names=names)
    axes = gs.plot.heat_map(full, rows=20)
    chosen = np.argsort(-np.abs(full.matrix).sum(axis=1), kind="stable")[:20]
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert sorted(labels) == sorted(names[i] for i in chosen)
    order = [names.index(label) for label in labels]
    assert np.array_equal(axes.images[0].get_array(), full.matrix[np.ix_(order, order)])

    edges = gs.edges(x, max_p=1e-3, names=names)
    axes = gs.plot.heat_map(edges, rows=20)
    order = [names.index(text.get_text()) for text in axes.get_yticklabels()]
    degree = gs.counts(x, max_p=1e-3).degree
    assert degree[order].min() >= np.sort(degree)[-20]
    kept = full.matrix.copy()
    is_kept = np.eye(len(x), dtype=bool)
    is_kept[edges.row, edges.col] = is_kept[edges.col, edges.row] = True
    kept[~is_kept] = np.nan
    shown = np.ma.filled(axes.images[0].get_array(), np.nan)
    assert np.array_equal(shown, kept[np.ix_(order, order)], equal_nan=True)

    with pytest.raises(ValueError, match="counts: got None with a table"):
        gs.plot.heat_map(x)
    with pytest.raises(ValueError, match=r"x: got a result of .* x "):
        gs.plot.heat_map(gs.dense(x, x[:5]))
