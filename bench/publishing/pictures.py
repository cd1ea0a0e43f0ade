"""docs/images/benchmarks_*.svg: time against rows and against columns."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from . import page

LABELS = {"rows": "rows of 30 columns", "columns": "columns"}
COLOURS = ["#1b6ca8", "#e08a2e", "#5a9e4b", "#b0b0b0", "#8a5fbf"]


def draw(curve, lines):
    plt.rcParams["svg.fonttype"] = "none"  # text stays text: small files
    plt.rcParams["svg.hashsalt"] = curve   # the same results give the same bytes
    figure, axes = plt.subplots(figsize=(7, 3.6))
    for (label, points), colour in zip(lines, COLOURS, strict=False):
        axes.loglog(*zip(*points, strict=True), marker="o", markersize=4, color=colour, label=label)
    axes.set_xlabel(LABELS[curve])
    axes.set_ylabel("seconds of a whole call")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    path = page.ROOT / f"docs/images/benchmarks_{curve}.svg"
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")
    print(path, path.stat().st_size, "bytes")


def write(release):
    results = page.load(release)
    for curve in LABELS:
        lines = [(f"{drawn['on']}{drawn.get('note', '')}", drawn["points"]) for result in results
                 for drawn in result.get("curves", []) if drawn["curve"] == curve and drawn["points"]]
        if lines:
            draw(curve, lines)
