#!/usr/bin/env python3
"""Runs every block of shell (```sh) of README.md and docs/ on small tables. A command that fails, an output that
is empty, or a block that gives nothing, is a failure.

Usage: command_blocks.py GPU_SIMILARITY ROOT
"""

import gzip
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from blocks import blocks

EXPECTED = 15  # a page whose fences are written in another way must not pass unseen


def table(rows, columns, as_counts=False, seed=7):
    """Rows in pairs that move together, of names and values; a line of names before them."""
    draw = random.Random(seed)
    lines = [["gene", *(f"o{j}" for j in range(1, columns + 1))]]
    for i in range(rows):
        if i % 2 == 0:
            base = [draw.random() for _ in range(columns)]
        values = [b + 0.05 * draw.random() for b in base]
        lines.append([f"g{i}", *(str(int(1000 * v)) if as_counts else f"{v:.3f}" for v in values)])
    return lines


def series(rows, columns, seed):
    """Rows in pairs that move together, each column near the one before it."""
    draw = random.Random(seed)
    lines = [["region", *(f"t{j}" for j in range(1, columns + 1))]]
    for i in range(rows):
        if i % 2 == 0:
            base = [draw.gauss(0, 1)]
            while len(base) < columns:
                base.append(0.9 * base[-1] + draw.gauss(0, 1))
        lines.append([f"r{i}", *(f"{b + draw.gauss(0, 0.5):.3f}" for b in base)])
    return lines


def write(name, lines, separator):
    pathlib.Path(name).write_text("".join(separator.join(line) + "\n" for line in lines))


def exported(lines):
    """As a spreadsheet of a language with decimal commas writes it, with columns that are no values."""
    yield [lines[0][0], "group", *lines[0][1:], "comment"]
    for line in lines[1:]:
        yield [line[0], "a b", *(value.replace(".", ",") for value in line[1:]), '"x; y"']


def fingerprints(rows, seed):
    """FPS: each tenth row is a prototype of those behind it."""
    draw = random.Random(seed)
    yield "#FPS1"
    yield "#num_bits=64"
    for i in range(rows):
        if i % 10 == 0:
            prototype = draw.getrandbits(64)
        bits = prototype & ~(1 << draw.randrange(64))
        yield f"{bits.to_bytes(8, 'little').hex()}\tmolecule{i}"


def make_tables(command):
    pathlib.Path("molecules.fps").write_text("\n".join(fingerprints(60, 1)) + "\n")
    pathlib.Path("queries.fps").write_text("\n".join(fingerprints(20, 1)) + "\n")
    pathlib.Path("module.txt").write_text("g0\ng1\ng2\ng3\n")
    write("expression.tsv", table(60, 12), "\t")
    write("proteins.tsv", table(20, 12, seed=8), "\t")
    write("series.tsv", series(12, 400, seed=12), "\t")
    write("covariates.tsv", table(2, 12, seed=11), "\t")
    write("counts.txt", table(200, 40, as_counts=True), " ")
    write("queries.txt", table(20, 40, as_counts=True, seed=9), " ")
    write("signal.txt", [line[1:] for line in table(3, 300)[1:]], " ")
    lines = table(30, 12, seed=10)
    write("samples.csv", [list(column) for column in zip(*lines)], ",")
    write("exported.csv", exported(lines), ";")
    gaps = [list(line) for line in lines]
    gaps[2][3], gaps[6][1], gaps[8][2] = "", "-999", "NA"
    write("gaps.csv", gaps, ",")
    with gzip.open("expression.tsv.gz", "wb") as packed:
        packed.write(pathlib.Path("expression.tsv").read_bytes())
    for name, source in (("expression", "expression.tsv"), ("counts", "counts.txt"), ("library", "counts.txt")):
        subprocess.run([command, "rank", source, "--format", "npy", "--quiet", "--output", f"{name}.npy"], check=True)


def complaint(block, kept):
    """What is wrong with a block, or nothing."""
    for path in set(os.listdir()) - kept:
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", block.text], capture_output=True, text=True)
    if done.returncode != 0:
        return f"ends with {done.returncode}: {done.stderr}"
    outputs = re.findall(r"(?:-o|--output) ([^ \n]+)", block.text)
    for output in outputs:
        lines = 2 if output.endswith((".tsv", ".csv")) else 1
        content = pathlib.Path(output).read_bytes()
        if len(content) == 0 or content.count(b"\n") < lines and not output.endswith((".gz", ".npy")):
            return f"{output} is empty: {done.stderr}"
    if not outputs and not done.stdout:
        return "says nothing"
    return None


def main():
    command, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    listed = blocks(root, "sh")
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as programs:
        (pathlib.Path(programs) / "gpu-similarity").symlink_to(command)
        os.environ["PATH"] = programs + os.pathsep + os.environ["PATH"]
        os.chdir(work)
        make_tables(command)
        kept = set(os.listdir())
        failed = 0
        for block in listed:
            wrong = complaint(block, kept)
            if wrong is not None:
                failed += 1
                print(f"FAILED: {block.page}:{block.line}: {wrong}\n{block.text}")
    print(f"{len(listed)} blocks, {failed} failed")
    if len(listed) < EXPECTED:
        print(f"FAILED: expected {EXPECTED} blocks or more")
    return 1 if failed or len(listed) < EXPECTED else 0


if __name__ == "__main__":
    sys.exit(main())
