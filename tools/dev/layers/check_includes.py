#!/usr/bin/env python3
"""Holds every #include of the project to the table of layers in tools/dev/layers/layers.txt, and the
namespaces that a file opens to tools/dev/layers/namespaces.txt.

Beside the tables it checks that rooms do not include each other in a circle, that no file outside
kernels/ includes device code (.cuh), that public headers are included as <gpu/...>, that an include
with quotes names a file of the project, that no public header names a file that is not installed,
that no folder of sources holds more than 26 files, that no function of src/api has a loop, and that
docs/architecture.md shows the same table.

Usage: check_includes.py [ROOT]. Prints each violation and exits with 1 where there is one.
"""

import collections
import itertools
import pathlib
import re
import subprocess
import sys

SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu", ".h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
TWO_LEVELS = {"cli", "cpu", "cuda", "io", "kernels"}
NAMESPACE = re.compile(r"^namespace (gpu\b[\w: ]*?)\s*\{", re.MULTILINE)
MOST_FILES = 26
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
NOT_INSTALLED = re.compile(r"\b(?:bench|cmake|docs|examples|kernels|python|src|tests|tools)/[\w./*-]+|"
                           r"[\w./-]+\.(?:cpp|cuh?|md|py|sh)\b")
PUBLIC_HEADER = re.compile(r"\bgpu/[\w/]+\.hpp\b")
MADE_HEADERS = {"gpu/export.hpp", "gpu/version.hpp"}
LOOP = re.compile(r"\b(for|while|do|goto|parallel_for|(?:std::)?(?:ranges::)?(?:for_each|transform|accumulate|reduce|"
                  r"sort|stable_sort|copy_n|generate))\s*[({]")


def read_table(text):
    """Room -> the names that its line lists."""
    table = {}
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line:
            room, _, names = line.partition(":")
            table[room.strip()] = names.split()
    return table


def room_of(path, table):
    """The room of a file of the project: 'cpu/pairs' of src/cpu/pairs/loops/kernels.hpp, unless a
    folder further down has a line of its own."""
    parts = path.parts[1:] if path.parts[0] == "src" else path.parts
    folders = parts[:-1]
    for depth in range(len(folders), 1, -1):
        if "/".join(folders[:depth]) in table:
            return "/".join(folders[:depth])
    return "/".join(folders[:2]) if folders[0] in TWO_LEVELS else folders[0]


def matches(room, name):
    return room == name or (name.endswith("/*") and room.startswith(name[:-1]))


def allowed_rooms(table, room):
    if room in table:
        return table[room]
    pattern = room.split("/")[0] + "/*"
    return table.get(pattern)


def check_namespaces(root, table, namespaces, file):
    """A room has a namespace, and its files open no other."""
    if file.parts[0] not in ("include", "src", "kernels"):
        return
    room = room_of(file, table)
    allowed = allowed_rooms(namespaces, room)
    for opened in NAMESPACE.findall((root / file).read_text()):
        name = opened.replace("::inline v0", "")
        inner = name.removeprefix("gpu").removeprefix("::") or "."
        if allowed is None:
            yield f"{file}: the room '{room}' has no line in tools/dev/layers/namespaces.txt"
            return
        if not any(inner == a or inner.startswith(a + "::") for a in allowed):
            yield f"{file}: opens {name}: {room} has " + ", ".join(allowed)


def resolve(root, file, name):
    """The file of the project that a quoted include of `file` names, or None."""
    if ".." in name.split("/"):
        return None  # paths start at src/, at the root, or in the folder of the file
    own_root = [file.parts[0]] if file.parts[0] in ("tests", "bench", "examples") else []
    own_root += ["python/src"] if file.parts[0] == "python" else []
    for folder in [str(file.parent), *own_root, "src", ""]:
        candidate = pathlib.PurePosixPath(folder) / name
        if (root / candidate).is_file():
            return pathlib.PurePosixPath(candidate)
    return None


def check_file(root, table, file):
    room = room_of(file, table)
    allowed = allowed_rooms(table, room)
    if allowed is None:
        yield f"{file}: the room '{room}' has no line in tools/dev/layers/layers.txt"
        return
    for bracket, name in INCLUDE.findall((root / file).read_text()):
        if bracket == "<":
            if room == "include" and name.startswith(("cuda", "cub", "thrust", "omp")):
                yield f"{file}: a public header includes <{name}>"
            continue
        target = resolve(root, file, name)
        if target is None:
            yield f'{file}: "{name}" is no file of the project; other headers take <>'
            continue
        if target.parts[0] == "include":
            yield f'{file}: "{name}" is a public header: write <{name}>'
            continue
        if target.suffix == ".cuh" and file.parts[0] != "kernels":
            yield f'{file}: "{name}" is device code, which only kernels/ includes'
        target_room = room_of(target, table)
        if target_room != room and not any(matches(target_room, a) for a in allowed):
            yield f'{file}: "{name}": {room} may not include {target_room}'


def not_installed(root, files):
    """Of the project, public headers alone are installed, two of them made by the build."""
    for file in files:
        if file.parts[0] != "include":
            continue
        for number, line in enumerate((root / file).read_text().split("\n"), 1):
            named = {name.rstrip(".") for name in NOT_INSTALLED.findall(line)}
            named |= {name for name in PUBLIC_HEADER.findall(line)
                      if name not in MADE_HEADERS and not (root / "include" / name).is_file()}
            for name in sorted(named):
                yield f"{file}:{number}: '{name}' is not installed"


def includes_of_rooms(root, table, files):
    """Room -> other rooms -> a file that includes one of theirs."""
    graph = collections.defaultdict(dict)
    for file in files:
        room = room_of(file, table)
        for bracket, name in INCLUDE.findall((root / file).read_text()):
            target = resolve(root, file, name) if bracket == '"' else None
            if target is not None and target.parts[0] != "include":
                other = room_of(target, table)
                if other != room:
                    graph[room].setdefault(other, file)
    return graph


def circles(graph):
    """Every circle that a walk over the rooms meets, as a line that names its rooms and files."""
    done = set()

    def walk(room, path):
        if room in path:
            circle = [*path[path.index(room):], room]
            steps = [f"{b} ({graph[a][b]})" for a, b in itertools.pairwise(circle)]
            yield f"rooms in a circle: {room} -> " + " -> ".join(steps)
            return
        if room in done:
            return
        for other in sorted(graph.get(room, ())):
            yield from walk(other, [*path, room])
        done.add(room)

    for room in sorted(graph):
        yield from walk(room, [])


def loops_of_api(root, files):
    """src/api checks, asks one backend and maps errors: whatever walks over data is elsewhere."""
    for file in files:
        if file.parts[:2] != ("src", "api"):
            continue
        text = COMMENT_OR_TEXT.sub(
            lambda found: "\n" * found[0].count("\n"), (root / file).read_text())
        for loop in LOOP.finditer(text):
            line = text.count("\n", 0, loop.start()) + 1
            yield f"{file}:{line}: '{loop[1]}': src/api holds no loops"


def full_folders(files):
    counts = collections.Counter(str(f.parent) for f in files if f.parts[0] in ("src", "kernels"))
    for folder, count in sorted(counts.items()):
        if count > MOST_FILES:
            yield f"{folder}: holds {count} files, at most {MOST_FILES} are allowed"


def drawing_differs(root, table):
    """The block ```layers of docs/architecture.md, where there is such a page, held to the table."""
    page = root / "docs/architecture.md"
    if not page.is_file():
        return
    drawn = re.search(r"^```layers\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    shown = read_table(drawn[1]) if drawn else {}
    for room in sorted({*table, *shown}):
        if table.get(room) != shown.get(room):
            yield f"docs/architecture.md: its line of '{room}' is not that of tools/dev/layers/layers.txt"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    table = read_table((root / "tools/dev/layers/layers.txt").read_text())
    namespaces = read_table((root / "tools/dev/layers/namespaces.txt").read_text())
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard",
         "include", "src", "kernels", "examples", "tests", "bench", "python"],
        check=True, capture_output=True, text=True).stdout.split("\n")
    files = [pathlib.PurePosixPath(f) for f in listed
             if pathlib.PurePosixPath(f).suffix in SUFFIXES and (root / f).is_file()]
    problems = [p for f in files for p in check_file(root, table, f)]
    problems += [p for f in files for p in check_namespaces(root, table, namespaces, f)]
    problems += circles(includes_of_rooms(root, table, files))
    problems += loops_of_api(root, files)
    problems += not_installed(root, files)
    problems += full_folders(files)
    problems += drawing_differs(root, table)
    for problem in problems:
        print(problem)
    print(f"{len(files)} files, {len(problems)} violations of the tables in tools/dev/layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
