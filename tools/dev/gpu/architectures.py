#!/usr/bin/env python3
"""Compiles the kernels that differ between architectures for each that a release has code for, with
warnings as errors. Another build compiles for one architecture alone, or takes several times as long.

Usage: architectures.py BUILD [ARCHITECTURE...] (75 80 120; 80 means machine code of 8.0)

Chosen are the sources of kernels/ that ask for the architecture (__CUDA_ARCH__), and of every header that
does, one source that includes it. BUILD is a configured folder: its compile_commands.json has the options.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
INCLUDE = re.compile(r'#include "(kernels/[^"]+)"')
ASKS = "__CUDA_ARCH__"


def includes_of(source, seen):
    """The headers of kernels/ that a file includes, through others too."""
    for name in INCLUDE.findall(source.read_text()):
        header = ROOT / name
        if header.is_file() and header not in seen:
            seen.add(header)
            includes_of(header, seen)
    return seen


def chosen_sources():
    included = {source: includes_of(source, set()) for source in sorted((ROOT / "kernels").rglob("*.cu"))}
    chosen = [source for source in included if ASKS in source.read_text()]
    covered = set().union(*(included[source] for source in chosen))
    for header in sorted((ROOT / "kernels").rglob("*.cuh")):
        if ASKS not in header.read_text() or header in covered:
            continue
        users = [source for source in included if header in included[source]]
        if not users:
            raise SystemExit(f"architectures: {header.relative_to(ROOT)} is included by no source")
        smallest = min(users, key=lambda source: len(included[source]))
        chosen.append(smallest)
        covered |= included[smallest]
    return chosen


def compile_for(words, folder, architectures, output):
    """Complaints of the compiler, none where all is well."""
    kept = [word for word in words if not word.startswith("--generate-code=")]
    kept[kept.index("-o") + 1] = str(output)
    for number in architectures:
        kept.append(f"--generate-code=arch=compute_{number},code=[sm_{number}]")
    done = subprocess.run(kept, cwd=folder, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    return said if done.returncode or re.search(r"warning|C75\d\d", said) else ""


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    architectures = sys.argv[2:] or ["75", "80", "120"]
    commands = {pathlib.Path(entry["file"]): entry
                for entry in json.loads(pathlib.Path(sys.argv[1], "compile_commands.json").read_text())}
    jobs = []
    for source in chosen_sources():
        if source not in commands:
            raise SystemExit(f"architectures: {source.relative_to(ROOT)} is not compiled in {sys.argv[1]}")
        entry = commands[source]
        jobs.append((source, entry["command"].split(), entry["directory"]))
    failed = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(int(os.environ.get("DEV_JOBS", os.cpu_count()))) as pool:
        runs = [(source, pool.submit(compile_for, words, where, architectures, f"{folder}/{number}.o"))
                for number, (source, words, where) in enumerate(jobs)]
        for source, run in runs:
            said = run.result()
            failed += bool(said)
            print(f"{'FAILED' if said else 'ok    '} {source.relative_to(ROOT)}")
            print(said, end="", flush=True)
    print(f"{len(jobs)} sources for {', '.join(architectures)}: {failed} with complaints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
