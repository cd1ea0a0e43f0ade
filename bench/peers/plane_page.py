#!/usr/bin/env python3
"""Writes the page of a plane: plane_page.py RESULTS.json > docs/plane.md.

RESULTS.json is made of the lines of plane.py: plane_page.py --pack LINES.jsonl MACHINE COMMIT COMMAND > RESULTS.json
"""

import json
import statistics
import sys

COLUMNS = ["operation", "measure", "dtype", "alike", "sink", "rows", "cols", "y", "ms", "peer_ms"]
SINKS = {"dense": "dense", "counts": "counts", "top_k": "top 10", "device_edges": "edges on the device",
         "edges": "edges to the host"}


def pack(lines, machine, commit, command):
    cells = [json.loads(line) for line in open(lines)]
    head = {"machine": machine, "peer": "PyTorch 2.11.0+cu130", "commit": commit, "command": command,
            "columns": COLUMNS}
    print(json.dumps(head)[:-1] + ', "cells": [')
    print(",\n".join(json.dumps([float(f"{cell[c]:.4g}") if c.endswith("ms") else cell[c] for c in COLUMNS])
                     for cell in cells) + "\n]}")


def number(n):
    return f"{n:,}" if n >= 10_000 else str(n)


def ratio(value):
    text = f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"
    return f"**{text}**" if value < 1 else text


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] +
                     ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def grid(cells, down, across, corner):
    """The least ratio of each place."""
    of = {}
    for cell in cells:
        of.setdefault((cell[down], cell[across]), []).append(cell["ratio"])
    places = sorted({place[1] for place in of})
    return table([corner] + [number(place) for place in places],
                 [[number(row)] + [ratio(min(of[row, place])) if (row, place) in of else "" for place in places]
                  for row in sorted({place[0] for place in of})])


def counts(cells):
    kinds = {}
    for cell in cells:
        is_pairs = cell["operation"] != "operation"
        what = "other operations" if not is_pairs else "x against y" if cell["y"] else "all pairs"
        result = SINKS[cell["sink"]] if is_pairs else ""
        kinds.setdefault((what, cell["measure"], cell["dtype"], result), []).append(cell["ratio"])
    kinds = {("all cells", "", "", ""): [cell["ratio"] for cell in cells]} | dict(sorted(kinds.items()))
    return table(["pairs", "measure", "type", "result", "cells", "below 1", "median", "least"],
                 [[*kind, str(len(r)), str(sum(x < 1 for x in r)), ratio(statistics.median(r)), ratio(min(r))]
                  for kind, r in kinds.items()])


NUMBERS = {"mean_filter": "window ", "top_k": "k ", "top_k_distinct": "k/values "}


def slower(cells):
    rows = []
    for cell in sorted((c for c in cells if c["ratio"] < 1), key=lambda c: c["ratio"]):
        shape = [cell["rows"], cell["y"], cell["cols"]] if cell["y"] else [cell["rows"], cell["cols"]]
        given = SINKS.get(cell["sink"]) or (NUMBERS[cell["measure"]] + cell["sink"] if cell["sink"] != "0" else "")
        rows.append([f"{cell['measure']} {cell['dtype']} {given}{', alike' if cell['alike'] else ''}",
                     " x ".join(number(n) for n in shape), f"{cell['ms']:.3g}", f"{cell['peer_ms']:.3g}",
                     f"{cell['ratio']:.2f}"])
    return table(["call", "shape", "ms", "peer, ms", "ratio"], rows)


def page(path):
    data = json.load(open(path))
    cells = [dict(zip(data["columns"], row, strict=True)) for row in data["cells"]]
    for cell in cells:
        cell["ratio"] = cell["peer_ms"] / cell["ms"]
    pairs = [c for c in cells if c["operation"] == "pairs"]
    against = [c for c in cells if c["operation"] == "against"]
    print(f"""# The plane next to PyTorch

<!-- Written by bench/peers/plane_page.py: change the results or the script, not this page. -->

Each cell is one call and one shape, timed next to {data['peer']} in the same process, data and results where the call
says. A ratio is PyTorch's time over ours: above 1 we are faster. {data['machine']}, commit {data['commit']},
`{data['command']}`: the cells are drawn at random until the time is over. Raw times: `{path}`.

PyTorch computes in single precision where the data are floats. Ours decides every pair in double.

## By kind

{counts(cells)}
## All pairs: rows by columns

The least ratio of all measures, types and results at a shape.

{grid(pairs, 'rows', 'cols', 'rows')}
## x against y: rows of y by columns

The least ratio over 1 to 10,000 rows of x.

{grid(against, 'y', 'cols', 'rows of y')}
## Where PyTorch is faster

{slower(cells)}""", end="")


if sys.argv[1] == "--pack":
    pack(*sys.argv[2:])
else:
    page(sys.argv[1])
