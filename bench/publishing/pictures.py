"""docs/images/benchmarks_*.svg: time against rows and against columns, and the choices over the plane of both."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from . import page, plane

LABELS = {"rows": "rows of 30 columns", "columns": "columns"}
COLOURS = ["#1b6ca8", "#e08a2e", "#5a9e4b", "#b0b0b0", "#8a5fbf"]


def begin(name):
    plt.rcParams["svg.fonttype"] = "none"  # text stays text: small files
    plt.rcParams["svg.hashsalt"] = name    # the same results give the same bytes


def save(figure, name):
    path = page.ROOT / f"docs/images/benchmarks_{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")
    print(path, path.stat().st_size, "bytes")


def draw(curve, lines):
    begin(curve)
    figure, axes = plt.subplots(figsize=(7, 3.6))
    for (label, points), colour in zip(lines, COLOURS, strict=False):
        axes.loglog(*zip(*points, strict=True), marker="o", markersize=4, color=colour, label=label)
    axes.set_xlabel(LABELS[curve])
    axes.set_ylabel("seconds of a whole call")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    save(figure, curve)


def label_of(number):
    """A power of ten, or three of them, as an axis names it."""
    if number < 10000:
        return str(number)
    power = len(str(number)) - 1
    lead = number // 10**power
    return f"$10^{power}$" if lead == 1 else f"{lead}·$10^{power}$"


def draw_plane(panels):
    """A heat map for each panel (title, cells): the worst of the measures in each shape."""
    begin("plane")
    names = list(dict.fromkeys(name for name, _, _ in panels))
    sinks = list(dict.fromkeys(sink for _, sink, _ in panels))
    cells = [cell for _, _, own in panels for cell in own]
    rows, cols = (sorted({cell[key] for cell in cells}) for key in ("rows", "cols"))
    figure, axes = plt.subplots(len(names), len(sinks), squeeze=False, sharex=True, sharey=True,
                                figsize=(3.2 * len(sinks) + 0.8, 2.5 * len(names) + 0.7), layout="constrained")
    for name, sink, own in panels:
        worst = {}
        for cell in own:
            shape = cell["rows"], cell["cols"]
            worst[shape] = max(worst.get(shape, 0), plane.ratio_of(cell))
        grid = [[worst.get((r, c), float("nan")) for c in cols] for r in rows]
        at = axes[names.index(name)][sinks.index(sink)]
        drawn = at.imshow(grid, origin="lower", aspect="auto", cmap="YlOrRd", vmin=1, vmax=2)
        at.set_title(f"{name}, {sink}", fontsize=9)
        at.set_xticks(range(len(cols)), map(label_of, cols), fontsize=6, rotation=45)
        at.set_yticks(range(len(rows)), map(label_of, rows), fontsize=6)
        for (r, c), ratio in worst.items():
            at.text(cols.index(c), rows.index(r), f"{ratio:.1f}", ha="center", va="center", fontsize=5,
                    color="white" if ratio > 1.7 else "black")
    for at in axes[-1]:
        at.set_xlabel("columns", fontsize=8)
    for at in axes[:, 0]:
        at.set_ylabel("rows", fontsize=8)
    figure.colorbar(drawn, ax=axes, label="chosen way / best way", extend="max")
    save(figure, "plane")


def plane_panels(results):
    """(name, sink, cells) of what each machine measured, the sinks side by side."""
    for result in results:
        cells = result.get("plane", [])
        for backend in dict.fromkeys(cell["backend"] for cell in cells):
            is_own = backend == "cuda" or "CPU" in result["short"]
            name = result["short"] if is_own else f"CPU beside {result['short']}"
            for sink in ("counts", "edges", "dense"):
                own = [cell for cell in cells if (cell["backend"], cell["sink"]) == (backend, sink)]
                if own:
                    yield name, sink, own


def write(release):
    results = page.load(release)
    for curve in LABELS:
        lines = [(f"{drawn['on']}{drawn.get('note', '')}", drawn["points"]) for result in results
                 for drawn in result.get("curves", []) if drawn["curve"] == curve and drawn["points"]]
        if lines:
            draw(curve, lines)
    panels = list(plane_panels(results))
    if panels:
        draw_plane(panels)
