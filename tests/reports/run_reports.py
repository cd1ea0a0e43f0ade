"""Runs the entries of the .toml files in this folder: run_reports.py COMMAND [NAME...].

README.md says what an entry is. NAME is a file without .toml; all without one. Needs Python 3.11 and nothing else.
"""

from __future__ import annotations

import base64
import math
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

SIX_DIGITS = 5e-7
KEYS = {"gist", "files", "files_base64", "run", "right"}
ANSWERS = {"edges", "summary", "note", "refused", "output", "silent"}


def texts(given: str | list[str]) -> list[str]:
    return [given] if isinstance(given, str) else given


def edges_of(output: str) -> dict[str, float]:
    """The statistic of each edge of a text result, by the two names."""
    lines = [line.split("\t") for line in output.splitlines()]
    return {f"{line[0]} {line[1]}": float(line[2]) for line in lines[1:]}


def complaints(report: dict, command: str) -> list[str]:
    """What is wrong with the answer to `report`, a line each."""
    right = report["right"]
    unknown = (report.keys() - KEYS) | (right.keys() - ANSWERS)
    if unknown or not right:
        return [f"not an entry: unknown {sorted(unknown)}, right {right}"]
    with tempfile.TemporaryDirectory() as folder:
        files = {name: text.encode() for name, text in report.get("files", {}).items()}
        for name, text in report.get("files_base64", {}).items():
            files[name] = base64.b64decode(text)
        for name, content in files.items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_bytes(content)
        done = subprocess.run(
            [command, *report["run"]], cwd=folder, capture_output=True, timeout=60, check=False
        )
    output, said = done.stdout.decode(), done.stderr.decode(errors="replace")
    wrong = []
    expected = (2, 3) if "refused" in right else (0,)
    if done.returncode not in expected:
        wrong.append(f"exit status {done.returncode}, expected one of {expected}")
    for key in ("refused", "summary", "note"):
        wrong += [f"stderr lacks {text!r}" for text in texts(right.get(key, [])) if text not in said]
    wrong += [f"stderr has {text!r}" for text in texts(right.get("silent", [])) if text in said]
    if "refused" in right and output:
        wrong.append("refused, but something was written to stdout")
    if "output" in right and output != right["output"]:
        wrong.append(f"stdout is not {right['output']!r}")
    if "edges" in right and not wrong:
        got, expected = edges_of(output), right["edges"]
        if got.keys() != expected.keys():
            wrong.append(f"edges {sorted(got)}, expected {sorted(expected)}")
        wrong += [
            f"edge {pair}: got {got[pair]}, expected {value}"
            for pair, value in expected.items()
            if pair in got and not math.isclose(got[pair], value, rel_tol=SIX_DIGITS, abs_tol=1e-12)
        ]
    if wrong:
        wrong += [f"stdout: {output!r}", f"stderr: {said!r}"]
    return wrong


def main() -> int:
    command = str(Path(sys.argv[1]).resolve())
    here = Path(__file__).resolve().parent
    names = sys.argv[2:] or sorted(path.stem for path in here.glob("*.toml"))
    ran = failed = 0
    for name in names:
        for report in tomllib.loads((here / f"{name}.toml").read_text())["report"]:
            ran += 1
            wrong = complaints(report, command)
            if wrong:
                failed += 1
                print(f"{name}: {report['gist']}", *wrong, sep="\n  ")
    print(f"{ran - failed} passed, {failed} failed")
    return failed > 0 or not ran


if __name__ == "__main__":
    sys.exit(main())
