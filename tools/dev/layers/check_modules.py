"""The modules of the Python package: none imports, by whatever way, one that imports it.

Usage: check_modules.py [PACKAGE] (python/gpu_similarity unless named). Imports in functions and those for type
checkers alone count as all others do. The rooms, which are the folders of the package, import each other in one
direction too, and no folder has more than 26 files. An import of a name that is no module is one of the module that
has it; that a module needs the folders above it to be imported does not count.
"""

import ast
import pathlib
import sys

MOST_FILES = 26


def modules_of(package):
    """Modules by name: package.room.module, of a folder that of its __init__.py."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = list(path.relative_to(package.parent).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(name, path, modules):
    """The modules of the package that one imports, by name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in modules}
        if not isinstance(node, ast.ImportFrom):
            continue
        base = node.module
        if node.level:
            above = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
            above = above[: len(above) - node.level + 1]
            base = ".".join(above + ([node.module] if node.module else []))
        for alias in node.names:
            whole = f"{base}.{alias.name}"
            # The compiled module has no file here, and imports nothing when it is loaded.
            if base in modules and alias.name != "_core":
                found.add(whole if whole in modules else base)
    return found - {name}


def room_of(name, modules):
    """The folder that a module is in."""
    return name if modules[name].name == "__init__.py" else name.rpartition(".")[0]


def circle_in(graph):
    """Nodes each of which leads to the next, the last to the first; None where there are none."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for other in sorted(graph[node]):
            if found := visit(other):
                return found
        path.pop()
        done.add(node)
        return None

    for node in sorted(graph):
        if found := visit(node):
            return found
    return None


def faults_of(package):
    modules = modules_of(package)
    graph = {name: imports_of(name, path, modules) for name, path in modules.items()}
    faults = []
    if found := circle_in(graph):
        faults.append("modules that import each other in a circle: " + " -> ".join(found))
    rooms = {}
    for name, others in graph.items():
        # What stands in the package itself is above and below the rooms: modules on their own.
        own = room_of(name, modules)
        own = name if own == package.name else own
        for other in others:
            room = room_of(other, modules)
            rooms.setdefault(own, set()).add(other if room == package.name else room)
    rooms = {room: others - {room} for room, others in rooms.items()}
    for room in set().union(*rooms.values()):
        rooms.setdefault(room, set())
    if found := circle_in(rooms):
        faults.append("rooms that import each other in a circle: " + " -> ".join(found))
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        files = [path for path in folder.iterdir() if path.is_file() and path.suffix != ".so"]
        if len(files) > MOST_FILES:
            faults.append(f"{folder}: {len(files)} files, expected at most {MOST_FILES}")
    return faults


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "python/gpu_similarity")
    if not (root / "__init__.py").is_file():
        sys.exit(f"check_modules.py: {root} is no package")
    faults = faults_of(root)
    for fault in faults:
        print(f"check_modules.py: {fault}", file=sys.stderr)
    print(f"{root}: {len(modules_of(root))} modules, {len(faults)} faults")
    sys.exit(bool(faults))
