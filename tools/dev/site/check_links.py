#!/usr/bin/env python3
"""Checks the Markdown pages of the project: every relative link names a file or folder and a heading
that are there, every path in backquotes that begins with a folder of the project is there, and
docs/index.md leads to every page that lies in docs/ itself.

Prints each violation and exits with 1 where there is one.
"""

import pathlib
import posixpath
import re
import subprocess
import sys

FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([A-Za-z0-9_./-]+)`")
FOLDERS = ("bench/", "cmake/", "docs/", "examples/", "include/", "kernels/", "python/", "src/",
           "tests/", "tools/")


def anchor_of(heading):
    """The anchor that Markdown makes of a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def paths_of_project():
    listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True)
    files = {f for f in listed.stdout.split("\n") if f and pathlib.Path(f).exists()}
    folders = {str(parent) for f in files for parent in pathlib.PurePosixPath(f).parents}
    return files, folders


def is_there(path, files, folders):
    """Whether `path` is a file, a folder, or a program that a source file of that name makes."""
    path = path.rstrip("/")
    return path in files or path in folders or any(path + s in files for s in (".cpp", ".cu"))


def check_page(page, text, anchors, files, folders):
    for link in LINK.findall(text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if target not in files and target not in folders:
            yield f"{page}: the link {link} leads nowhere"
        elif anchor and anchor not in anchors.get(target, ()):
            yield f"{page}: {target} has no heading for the link {link}"
    for path in CODE.findall(text):
        if path.startswith(FOLDERS) and "NAME" not in path and not is_there(path, files, folders):
            yield f"{page}: `{path}` is not in the project"


def main():
    files, folders = paths_of_project()
    pages = {f: FENCED.sub("", pathlib.Path(f).read_text()) for f in sorted(files)
             if f.endswith(".md") and f != "CHANGELOG.md"}
    anchors = {page: {anchor_of(h) for h in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
               for page, text in pages.items()}
    problems = [p for page, text in pages.items()
                for p in check_page(page, text, anchors, files, folders)]
    listed = {posixpath.normpath(posixpath.join("docs", link.partition("#")[0]))
              for link in LINK.findall(pages["docs/index.md"])}
    problems += [f"docs/index.md does not lead to {page}" for page in pages
                 if posixpath.dirname(page) == "docs" and page != "docs/index.md" and page not in listed]
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages, {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
