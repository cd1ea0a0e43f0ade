#!/usr/bin/env python3
"""The version is written in CMakeLists.txt, the address of the repository in pyproject.toml; what repeats
them has to agree.

Usage: check_release.py              holds every file to them
       check_release.py --set 1.2.3  writes the version everywhere, and closes the top section of
                                     CHANGELOG.md under it with the date of today
       check_release.py --set 1.2.3 --date 2000-12-31   with that date
       check_release.py --notes      prints the section of CHANGELOG.md for the version
"""

import datetime
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCE = ("CMakeLists.txt", r"project\(gpu_similarity VERSION ([0-9.]+)")
# What repeats the version: file, and the pattern around it.
COPIES = [
    ("CITATION.cff", r"^version: ([0-9.]+)$"),
    ("packaging/vcpkg/gpu-similarity/vcpkg.json", r'"version": "([0-9.]+)"'),
    ("packaging/conda-forge/recipe.yaml", r'^  version: "([0-9.]+)"$'),
    ("docs/command.md", r'^  "version": "([0-9.]+)",$'),
    ("docs/parts.md", r'^  "version": "([0-9.]+)",$'),
]
# What repeats its first two numbers: names of the shared library and of its package, find_package's example.
SERIES_COPIES = [
    ("docs/install.md", r"`libgpu-similarity([0-9.]+)`"),
    ("docs/guarantees.md", r"version \(([0-9]+\.[0-9]+)\.1\) does not"),
    ("docs/guarantees.md", r"`libgpu_similarity\.so\.([0-9.]+)`"),
    ("tests/package/find_package/CMakeLists.txt", r"find_package\(gpu_similarity ([0-9.]+) "),
]
# A date belongs to a version.
DATE = ("CITATION.cff", r"^date-released: ([0-9-]+)$")
# An address of the project on its host; others' repositories are not meant.
ADDRESS = re.compile(r"https://(?:(?:github|raw\.githubusercontent)\.com/[\w.-]+|[\w-]+\.github\.io)/gpu-similarity\b")


def found(file, pattern):
    match = re.search(pattern, (ROOT / file).read_text(), re.MULTILINE)
    if match is None:
        raise SystemExit(f"{file}: nothing like '{pattern}'")
    return match


# The parts of a section, in this order; each at most once.
PARTS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
# The sections of earlier versions keep theirs.
SONAME = re.compile(r"(?<=`libgpu_similarity\.so\.)[0-9.]+(?=`)")


def section(title):
    """Where the text of a section of CHANGELOG.md begins and ends, or None."""
    text = (ROOT / "CHANGELOG.md").read_text()
    match = re.search(rf"^## {re.escape(title)}(?: \([^)\n]*\))?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return match and match.span(1)


def series_of(version):
    return ".".join(version.split(".")[:2])


def parts_of_sections():
    """Violations of Keep a Changelog in CHANGELOG.md."""
    for title, text in re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", (ROOT / "CHANGELOG.md").read_text(),
                                  re.MULTILINE | re.DOTALL):
        parts = re.findall("^### (.*)$", text, re.MULTILINE)
        if parts != [part for part in PARTS if part in parts]:
            yield f"CHANGELOG.md, {title}: {', '.join(parts)}; expected of {', '.join(PARTS)} each at most once, in order"


def check():
    version = found(*SOURCE)[1]
    for file, pattern in COPIES:
        if found(file, pattern)[1] != version:
            yield f"{file}: version {found(file, pattern)[1]}, CMakeLists.txt has {version}"
    for file, pattern in SERIES_COPIES:
        if found(file, pattern)[1] != series_of(version):
            yield f"{file}: {found(file, pattern)[1]}, CMakeLists.txt has {version}"
    for title in ("Unreleased", version):
        start, end = section(title) or (0, 0)
        for named in SONAME.findall((ROOT / "CHANGELOG.md").read_text()[start:end]):
            if named != series_of(version):
                yield f"CHANGELOG.md, {title}: SONAME {named}, CMakeLists.txt has {version}"
    yield from parts_of_sections()
    closed = re.search(rf"^## {re.escape(version)} \(([0-9-]+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    if closed and found(*DATE)[1] != closed[1]:
        yield f"{DATE[0]}: released on {found(*DATE)[1]}, CHANGELOG.md has {closed[1]}"
    repository = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Repository"]
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], check=True, capture_output=True, text=True)
    for file in filter(None, listed.stdout.split("\0")):
        path = ROOT / file
        if path.suffix in (".npy", ".gz", ".png") or not path.is_file() or file.startswith("tests/fuzz/corpus"):
            continue
        text = path.read_text(errors="ignore")
        raw = repository.replace("//github.com/", "//raw.githubusercontent.com/")
        site = "https://{}.github.io/{}".format(*repository.split("/")[-2:])
        for address in sorted(set(ADDRESS.findall(text)) - {repository, raw, site}):
            yield f"{file}: {address}, pyproject.toml has {repository}"


def write(version, today):
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"check_release.py: '{version}' is no version like 1.2.3")
    for number, copies in ((version, [SOURCE, *COPIES]), (series_of(version), SERIES_COPIES)):
        for file, pattern in copies:
            start, end = found(file, pattern).span(1)
            replace(file, start, end, number)
    replace(DATE[0], *found(*DATE).span(1), today)
    log = ROOT / "CHANGELOG.md"
    text = log.read_text()
    if text.count("## Unreleased\n") != 1:
        raise SystemExit("CHANGELOG.md: expected one section '## Unreleased'")
    start, end = section("Unreleased")
    closed = SONAME.sub(series_of(version), text[start:end])
    log.write_text(text[:start] + f"\n## {version} ({today})\n" + closed + text[end:])


def replace(file, start, end, new):
    text = (ROOT / file).read_text()
    (ROOT / file).write_text(text[:start] + new + text[end:])


def notes():
    version = found(*SOURCE)[1]
    place = section(version)
    if place is None:
        raise SystemExit(f"CHANGELOG.md: no section for {version}")
    return (ROOT / "CHANGELOG.md").read_text()[slice(*place)].strip()


def main():
    arguments = sys.argv[1:]
    if arguments == ["--notes"]:
        print(notes())
        return 0
    today = datetime.date.today().isoformat()
    if len(arguments) == 4 and arguments[2] == "--date":
        today = datetime.date.fromisoformat(arguments[3]).isoformat()
        arguments = arguments[:2]
    if len(arguments) == 2 and arguments[0] == "--set":
        write(arguments[1], today)
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
