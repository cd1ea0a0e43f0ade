"""The fenced blocks of Markdown pages."""

import pathlib
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    page: str  # relative to the root of the checkout
    line: int  # of the first line of the text, from 1
    language: str
    text: str


def pages(root: pathlib.Path) -> list[pathlib.Path]:
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def blocks_of(page: pathlib.Path, root: pathlib.Path) -> list[Block]:
    found, language, first, text = [], None, 0, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = re.match(r"```(\w*)$", line)
        if fence and language is None:
            language, first, text = fence[1], number + 1, []
        elif line == "```":
            found.append(Block(str(page.relative_to(root)), first, language or "", "\n".join(text) + "\n"))
            language = None
        elif language is not None:
            text.append(line)
    if language is not None:
        raise SystemExit(f"{page}:{first}: a block that does not end")
    return found


def blocks(root: pathlib.Path, *languages: str) -> list[Block]:
    """The blocks of README.md and docs/ in these languages, in their order."""
    return [block for page in pages(root) for block in blocks_of(page, root) if block.language in languages]
