"""docs/images/all_pairs.svg: the large jobs and their peers. docs/images/benchmarks_*.svg: time against rows and
against columns, and the choices over the plane of both."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from . import page, plane

LABELS = {"rows": "rows of 30 columns", "columns": "columns"}
COLOURS = ["#1b6ca8", "#e08a2e", "#5a9e4b", "#b0b0b0", "#8a5fbf"]


def begin(name):
    plt.rcParams["svg.fonttype"] = "none"  # text stays text: small files
    plt.rcParams["svg.hashsalt"] = name    # the same results give the same bytes


def save(figure, name, folder=None):
    path = (folder or page.ROOT / "docs/images") / f"{name}.svg"
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
    save(figure, f"benchmarks_{curve}")


def draw_all_pairs(results):
    """All pairs on GPUs: dots, because a bar on a logarithmic axis has no length."""
    begin("all_pairs")
    rows = [row for result in results for row in result["rows"]
            if row["operation"] in ("pairs", "wide") and page.ratio_of(row)]
    rows.sort(key=page.ratio_of)
    figure, axes = plt.subplots(figsize=(8.5, 0.27 * len(rows) + 1.2))
    for at, row in enumerate(rows):
        own, peer = row["seconds"], row["peer_seconds"]
        axes.plot([own, peer], [at, at], color="#d0d0d0", lw=1.5, zorder=1)
        axes.plot(own, at, "o", color=COLOURS[0], label=None if at else "gpu-similarity")
        axes.plot(peer, at, "o", color=COLOURS[1], label=None if at else "PyTorch, float32")
        axes.annotate(f"{page.ratio_text(page.ratio_of(row))} times", (max(own, peer), at), (7, 0),
                      textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [row["job"] + (" *" if row.get("peer_on") else "") for row in rows], fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(right=1e4)
    axes.set_xlabel("seconds of a call (less is better); * PyTorch: scaled up from a part")
    axes.grid(True, axis="x", alpha=0.3)
    axes.legend(loc="lower right", fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    save(figure, "all_pairs")


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
    save(figure, "benchmarks_plane")


def plane_panels(results):
    """(name, sink, cells) of what each machine measured, the sinks side by side."""
    for result in results:
        cells = result.get("plane", [])
        for backend in dict.fromkeys(cell["backend"] for cell in cells):
            is_own = backend == "cuda" or "CPU" in result["short"]
            name = result["short"] if is_own else f"CPU of the {result['short']} host"
            for sink in ("counts", "edges", "dense"):
                own = [cell for cell in cells if (cell["backend"], cell["sink"]) == (backend, sink)]
                if own:
                    yield name, sink, own


def write(release):
    results = page.load(release)
    draw_all_pairs(results)
    for curve in LABELS:
        lines = [(f"{drawn['on']}{drawn.get('note', '')}", drawn["points"]) for result in results
                 for drawn in result.get("curves", []) if drawn["curve"] == curve and drawn["points"]]
        if lines:
            draw(curve, lines)
    panels = list(plane_panels(results))
    if panels:
        draw_plane(panels)
