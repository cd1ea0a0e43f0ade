#!/usr/bin/env python3
"""Looks for phrases that cost a second reading: in the pages of docs/, README.md and CONTRIBUTING.md, in what the
library and the command say (help texts and messages: the string literals of src/ and python/src), and in the
comments of the public headers, which are the reference.

Usage: check_words.py [ROOT]   (this checkout unless named)

Code and links in a page do not count. A place where a phrase is right is listed in RIGHT. Prints each finding with
plain words for it, and exits with 1 where there is one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[3]
PHRASES = [  # what to look for, plain words
    (r"\bbeside\b", "besides, next to, compared with"),
    (r"\bof which\b", "say it in two sentences"),
    (r"\bbut for\b(?! which\b)", "except"),
    (r"\bin place of\b", "instead of"),
    (r"\b(?:is|are|was|were) (?:that|those) of\b", "name the thing again"),
    (r"\b(?:that|those) of \S+ (?:that|those) of\b", "name the things"),
    (r"(?<!here )\b(?:is|are|was|were) no (?!longer\b|more\b)(?=\w)", "is not a"),
    (r"\bwhat is of\b", "name the thing"),
    (r"\bfor the first\b(?! time\b)", "the first"),
    (r"(?:^|[.;:] |- |\| )Of (?=[a-z`])", "begin with the subject"),
    (r"\b(?:stands?|stood) (?:in|on|for|behind|beside|there|nowhere|alone)\b", "is"),
    (r"\bgo(?:es)? neither with\b", "cannot be combined with"),
]
RIGHT: tuple[str, ...] = ()  # words around a phrase that is right where it stands
CODE = re.compile(r"^```.*?^```|^(?: {4}|\t)\S.*?$|``.*?``|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\([^)\s]*\)")
BLOCK = re.compile(r"\n\s*\n|\n(?=- |\d\. |\||#|> )")
LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
COMMENTS = re.compile(r"(?:^[ \t]*//.*\n)+|//.*", re.MULTILINE)


def paragraphs_of_page(text):
    """Each with its first line."""
    text = CODE.sub(lambda m: "x" + "\n" * m[0].count("\n"), text)
    first = 1
    for part in re.split(f"({BLOCK.pattern})", LINK.sub("]", text)):
        yield first, part
        first += part.count("\n")


def literals(text):
    """Adjacent ones as one; without those of #include and of linkage."""
    for found in LITERALS.finditer(COMMENTS.sub(lambda m: "\n" * m[0].count("\n"), text)):
        yield text.count("\n", 0, found.start()) + 1, re.sub(r'"\s*"', "", found[0]).strip('"')


def comments(text):
    for found in COMMENTS.finditer(text):
        words = re.sub(r"^\s*///?<?", "", found[0], flags=re.MULTILINE)
        # A label of a member may begin so.
        yield text.count("\n", 0, found.start()) + 1, re.sub(r"^\s*Of ", "", words)


def texts():
    """(name, line, text) of all that is read."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    sources = [p for folder in ("src", "python/src") for p in sorted((ROOT / folder).rglob("*.?pp"))]
    headers = sorted((ROOT / "include").rglob("*.hpp"))
    for paths, parts in ((pages, paragraphs_of_page), (sources, literals), (headers, comments)):
        for path in paths:
            for line, text in parts(path.read_text()):
                yield path.relative_to(ROOT), line, re.sub(r"\s+", " ", text).strip()


def findings():
    for name, line, text in texts():
        for phrase, plain in PHRASES:
            for found in re.finditer(phrase, text, 0 if "Of (" in phrase else re.IGNORECASE):
                around = text[max(0, found.start() - 60):found.end() + 60]
                if not any(words in around for words in RIGHT):
                    yield f"{name}:{line}: '{found[0].strip()}' ({plain}): ...{around}..."


def main():
    found = list(findings())
    print("\n".join([*found, f"{len(found)} phrases that cost a second reading"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
