#!/usr/bin/env python3
"""The version is written in CMakeLists.txt, the address of the repository in pyproject.toml; what repeats
them has to agree.

Usage: check_release.py              holds every file to them
       check_release.py --set 1.2.3  writes the version everywhere, and closes the top section of
                                     CHANGELOG.md under it with the date of today
       check_release.py --notes      prints the section of CHANGELOG.md for the version
"""

import datetime
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ("CMakeLists.txt", r"project\(gpu_similarity VERSION ([0-9.]+)")
# What repeats the version: file, and the pattern around it.
COPIES = [
    ("CITATION.cff", r"^version: ([0-9.]+)$"),
    ("packaging/vcpkg/gpu-similarity/vcpkg.json", r'"version": "([0-9.]+)"'),
    ("packaging/conda-forge/recipe.yaml", r'^  version: "([0-9.]+)"$'),
]
# What repeats its first two numbers: the name of the shared library's package, find_package's example.
SERIES_COPIES = [
    ("docs/install.md", r"`libgpu-similarity([0-9.]+)`"),
    ("tests/package/find_package/CMakeLists.txt", r"find_package\(gpu_similarity ([0-9.]+) "),
]
# An address of the project on its host; others' repositories are not meant.
ADDRESS = re.compile(r"https://(?:github|raw\.githubusercontent)\.com/[\w.-]+/gpu-similarity\b")


def found(file, pattern):
    match = re.search(pattern, (ROOT / file).read_text(), re.MULTILINE)
    if match is None:
        raise SystemExit(f"{file}: nothing like '{pattern}'")
    return match


def series_of(version):
    return ".".join(version.split(".")[:2])


def check():
    version = found(*SOURCE)[1]
    for file, pattern in COPIES:
        if found(file, pattern)[1] != version:
            yield f"{file}: version {found(file, pattern)[1]}, CMakeLists.txt has {version}"
    for file, pattern in SERIES_COPIES:
        if found(file, pattern)[1] != series_of(version):
            yield f"{file}: {found(file, pattern)[1]}, CMakeLists.txt has {version}"
    repository = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Repository"]
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], check=True, capture_output=True, text=True)
    for file in filter(None, listed.stdout.split("\0")):
        path = ROOT / file
        if path.suffix in (".npy", ".gz", ".png") or not path.is_file() or file.startswith("tests/fuzz/corpus"):
            continue
        text = path.read_text(errors="ignore")
        raw = repository.replace("//github.com/", "//raw.githubusercontent.com/")
        for address in sorted(set(ADDRESS.findall(text)) - {repository, raw}):
            yield f"{file}: {address}, pyproject.toml has {repository}"


def write(version):
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"check_release.py: '{version}' is no version like 1.2.3")
    for number, copies in ((version, [SOURCE, *COPIES]), (series_of(version), SERIES_COPIES)):
        for file, pattern in copies:
            start, end = found(file, pattern).span(1)
            text = (ROOT / file).read_text()
            (ROOT / file).write_text(text[:start] + number + text[end:])
    log = ROOT / "CHANGELOG.md"
    today = datetime.date.today().isoformat()
    text = log.read_text()
    if text.count("## Unreleased\n") != 1:
        raise SystemExit("CHANGELOG.md: expected one section '## Unreleased'")
    log.write_text(text.replace("## Unreleased\n", f"## Unreleased\n\n## {version} ({today})\n", 1))


def notes():
    version = found(*SOURCE)[1]
    match = re.search(rf"^## {re.escape(version)} .*?\n(.*?)(?=^## |\Z)",
                      (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE | re.DOTALL)
    if match is None:
        raise SystemExit(f"CHANGELOG.md: no section for {version}")
    return match[1].strip()


def main():
    arguments = sys.argv[1:]
    if arguments == ["--notes"]:
        print(notes())
        return 0
    if len(arguments) == 2 and arguments[0] == "--set":
        write(arguments[1])
    elif arguments:
        print(__doc__, file=sys.stderr)
        return 2
    problems = list(check())
    for problem in problems:
        print(problem)
    print(f"version {found(*SOURCE)[1]}, {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
