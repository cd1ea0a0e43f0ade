"""Runs the examples of a Markdown page: what stands behind >>> in its fenced blocks.

Usage: python_tutorial.py PAGE...; the current directory is the root of the checkout. Fences become
blank lines, so that doctest sees where an expected output ends. Later blocks see what earlier ones
made.
"""

import doctest
import pathlib
import sys


def run(page: str) -> int:
    lines = pathlib.Path(page).read_text().splitlines()
    source = "\n".join("" if line.startswith("```") else line for line in lines)
    test = doctest.DocTestParser().get_doctest(source, {}, page, page, 0)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.DocTestRunner(optionflags=flags).run(test)
    print(f"{page}: {results.attempted} examples, {results.failed} failed")
    return results.failed if results.attempted else 1


if __name__ == "__main__":
    sys.exit(any([run(page) for page in sys.argv[1:]]))
