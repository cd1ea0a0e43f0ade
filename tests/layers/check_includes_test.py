"""tools/dev/layers/check_includes.py finds each kind of violation that is planted in a small tree."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]

CLEAN = {
    "include/gpu/index.hpp": "#pragma once\n#include <cstdint>\n",
    "src/base/parallel.hpp": "#pragma once\n#include <gpu/index.hpp>\n"
    "namespace gpu::inline v0::detail {\n}\nnamespace gpu::inline v0 {\n}\n",
    "src/cpu/rank/rank.hpp": '#pragma once\n#include "base/parallel.hpp"\n',
    "src/cpu/pairs/rows/rows.hpp": '#pragma once\n#include "cpu/rank/rank.hpp"\n',
    "kernels/common/launch.cuh": "#pragma once\n",
    "kernels/rank/kernels.hpp": '#pragma once\n#include "base/parallel.hpp"\n',
    "kernels/rank/sort.cu": '#include "kernels/common/launch.cuh"\n',
    "src/cuda/rank/rank.cpp": '#include "kernels/rank/kernels.hpp"\n',
    "src/cpu/rank/wide.cpp": "namespace gpu::cpu::avx2 {\n}\nnamespace other {\n}\n",
    "src/cli/main.cpp": "#include <gpu/index.hpp>\n",
    "src/api/call.cpp": '// for (each call)\nconst char* what = "do (this) for (that)";\n',
}

# What is planted, and a part of the message that must name it.
PLANTED = [
    ("src/base/up.hpp", '#include "cpu/rank/rank.hpp"\n', "base may not include cpu/rank"),
    ("src/plan/up.hpp", '#include "cpu/rank/rank.hpp"\n', "plan may not include cpu/rank"),
    ("src/cpu/rank/up.hpp", '#include "cpu/pairs/rows/rows.hpp"\n',
     "cpu/rank may not include cpu/pairs"),
    ("src/cpu/rank/side.cpp", '#include "kernels/rank/kernels.hpp"\n',
     "cpu/rank may not include kernels/rank"),
    ("src/cli/deep.cpp", '#include "cpu/rank/rank.hpp"\n', "cli may not include cpu/rank"),
    ("src/cuda/rank/device.cpp", '#include "kernels/common/launch.cuh"\n', "is device code"),
    ("src/base/quoted.hpp", '#include "../include/gpu/index.hpp"\n', "is no file of the project"),
    ("include/gpu/cuda.hpp", "#include <cuda_runtime_api.h>\n", "a public header includes"),
    ("include/gpu/page.hpp", "// See docs/rank.md.\n", "page.hpp:1: 'docs/rank.md' is not installed"),
    ("include/gpu/gone.hpp", "// As gpu/lost.hpp.\n", "gone.hpp:1: 'gpu/lost.hpp' is not installed"),
    ("src/nowhere/x.hpp", "#pragma once\n", "has no line"),
    ("src/api/walk.cpp", "// for (ever)\nint sum(int n) {\n  int s = 0;\n"
     "  for (int i = 0; i < n; ++i) s += i;\n  return s;\n}\n", "walk.cpp:4: 'for': src/api holds no loops"),
    ("src/api/wait.cpp", "void wait() {\n  while (true) {\n  }\n}\n", "wait.cpp:2: 'while'"),
    ("src/api/each.cpp", "void f() { std::transform(a, b, c, d); }\n", "'std::transform'"),
    ("src/cpu/rank/far.hpp", "#pragma once\nnamespace gpu::cuda {\n}\n", "opens gpu::cuda: cpu/rank has cpu"),
    ("src/stats/own.hpp", "#pragma once\nnamespace gpu::inline v0::validate {\n}\n", "opens gpu::validate: stats has stats"),
    ("src/cpu/rank/public.cpp", "namespace gpu::inline v0 {\n}\n", "opens gpu: cpu/rank has cpu"),
    ("docs/architecture.md", "```layers\nbase: cpu/rank\n```\n", "its line of 'base' is not that of"),
]


# A circle of three rooms, each of whose steps a line allows.
CIRCLE_LINES = "cpu/rank: base cpu/sort\ncpu/sort: cpu/walk\ncpu/walk: cpu/rank\n"
CIRCLE = {
    "src/cpu/rank/down.cpp": '#include "cpu/sort/sort.hpp"\n',
    "src/cpu/sort/sort.hpp": '#pragma once\n#include "cpu/walk/walk.hpp"\n',
    "src/cpu/walk/walk.hpp": "#pragma once\n",
}
CLOSES_CIRCLE = {"src/cpu/walk/up.cpp": '#include "cpu/rank/rank.hpp"\n'}


def run_on(files, more_lines=""):
    """The exit code and output of the check on a tree of these files, with more lines of rooms."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        (root / "tools/dev/layers").mkdir(parents=True)
        for table in ("layers.txt", "namespaces.txt"):
            shutil.copy(SOURCE / "tools/dev/layers" / table, root / "tools/dev/layers")
        with (root / "tools/dev/layers/layers.txt").open("a") as table:
            table.write(more_lines)
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        run = subprocess.run(
            [sys.executable, str(SOURCE / "tools/dev/layers/check_includes.py"), str(root)],
            capture_output=True, text=True)
        return run.returncode, run.stdout


def main():
    failures = 0
    code, output = run_on(CLEAN)
    if code != 0:
        failures += 1
        print("a clean tree is refused:", output)
    for name, text, message in PLANTED:
        code, output = run_on({**CLEAN, name: text})
        if code == 0 or message not in output:
            failures += 1
            print(f"planted in {name}: expected '{message}', got exit {code}:\n{output}")
    code, output = run_on({**CLEAN, **CIRCLE}, CIRCLE_LINES)
    if code != 0:
        failures += 1
        print("rooms in a row are refused:", output)
    code, output = run_on({**CLEAN, **CIRCLE, **CLOSES_CIRCLE}, CIRCLE_LINES)
    wanted = "rooms in a circle: cpu/rank -> cpu/sort (src/cpu/rank/down.cpp) -> cpu/walk"
    if code == 0 or wanted not in output or "1 violations" not in output:
        failures += 1
        print(f"a circle passes, or is not all that is found; exit {code}:\n{output}")
    crowded = {f"src/base/file_{k}.hpp": "#pragma once\n" for k in range(40)}
    code, output = run_on({**CLEAN, **crowded})
    if code == 0 or "holds 41 files" not in output:
        failures += 1
        print("a crowded folder passes:", output)
    print(f"{len(PLANTED) + 4} trees, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
