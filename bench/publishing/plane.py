"""The plane of shapes: what bench/plane_job says, as the chosen and the best time of each cell."""

import collections
import json

from . import measuring

# A cell of more than this times its best way is named by bench/publish plane.
MOST_RATIO = 1.3


def cells_of(lines):
    """A cell for each job that a way was chosen for: its shape, the chosen and the best seconds, and the best way.

    Ways that were stopped took longer than the chosen one and are left out."""
    jobs = collections.defaultdict(dict)
    for line in lines:
        if line.strip():
            row = json.loads(line)
            if not row.get("stopped"):
                jobs[row["backend"], row["measure"], row["sink"], row["rows"], row["cols"]][row["way"]] = row["seconds"]
    for (backend, measure, sink, rows, cols), ways in jobs.items():
        if "chosen" in ways:
            best = min(ways, key=lambda way: (ways[way], way != "chosen"))
            yield {"backend": backend, "measure": measure, "sink": sink, "rows": rows, "cols": cols,
                   "chosen": ways["chosen"], "best": ways[best], "way": best}


def ratio_of(cell):
    return cell["chosen"] / cell["best"]


def write(asked):
    """Puts the cells of a file into bench/results/RELEASE/MACHINE.json, in place of those of the same backends."""
    path = measuring.RESULTS / asked.release / f"{asked.machine}.json"
    if not path.exists():
        raise SystemExit(f"publish: {path} is not there: measure the machine first")
    cells = list(cells_of(asked.file.read_text().split("\n")))
    if not cells:
        raise SystemExit(f"publish: {asked.file} has no chosen way, expected lines of plane_job")
    told = json.loads(path.read_text())
    measured = {cell["backend"] for cell in cells}
    told["plane"] = [cell for cell in told.get("plane", []) if cell["backend"] not in measured] + cells
    told["plane_commit"] = asked.commit
    path.write_text(json.dumps(told, indent=1) + "\n")
    slow = sorted((cell for cell in cells if ratio_of(cell) > MOST_RATIO), key=ratio_of, reverse=True)
    for cell in slow:
        print(f"{ratio_of(cell):.2f} times {cell['way']}: {cell['backend']} {cell['measure']} {cell['sink']} "
              f"{cell['rows']} x {cell['cols']}, {cell['chosen']:.3g} s")
    print(f"{path}: {len(cells)} cells, {len(slow)} of more than {MOST_RATIO} times their best way")
    return 0
