#!/usr/bin/env python3
"""Follows every address of a built site: links, anchors, images, scripts and style sheets.

Usage: check_site.py FOLDER. Prints each broken target and exits with 1 where there is one. Checked:
  - an address within the site leads to a file, and its anchor to an element of that page;
  - every page can be reached from index.html, and every picture has a text in its place;
  - no page loads a picture, script or style sheet of another server;
  - no page, and no address, holds the path of this checkout.
Addresses of other sites are counted, not asked for.
"""

import html.parser
import pathlib
import posixpath
import sys
import urllib.parse

# Attribute that holds an address, by element. What is loaded has to be of this site.
LINKS = {"a": ["href"], "area": ["href"], "form": ["action"]}
LOADED = {"img": ["src"], "script": ["src"], "source": ["src"], "iframe": ["src"], "object": ["data"],
          "video": ["src"], "audio": ["src"], "embed": ["src"]}
LOADED_RELATIONS = {"stylesheet", "icon", "preload", "manifest"}


class Page(html.parser.HTMLParser):
    """The ids and addresses of one page."""

    def __init__(self):
        super().__init__()
        self.ids = set()
        self.links = []   # addresses
        self.loaded = []  # addresses of what the page shows or runs
        self.without_text = []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.ids.add(values["id"])
        if tag == "a" and values.get("name"):
            self.ids.add(values["name"])
        self.links += [values[a] for a in LINKS.get(tag, []) if values.get(a) is not None]
        self.loaded += [values[a] for a in LOADED.get(tag, []) if values.get(a)]
        if tag in ("img", "source") and values.get("srcset"):
            self.loaded += [part.split()[0] for part in values["srcset"].split(",") if part.strip()]
        if tag == "link" and values.get("href"):
            relations = set((values.get("rel") or "").split())
            (self.loaded if relations & LOADED_RELATIONS else self.links).append(values["href"])
        if tag == "img" and not values.get("alt"):
            self.without_text.append(values.get("src"))

    handle_startendtag = handle_starttag


def read_pages(root):
    pages = {}
    for path in sorted(root.rglob("*.html")):
        page = Page()
        page.feed(path.read_text())
        pages[path.relative_to(root).as_posix()] = page
    return pages


def resolved(page, address):
    """(path within the site, anchor) of an address of `page`; None for another site's."""
    parts = urllib.parse.urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    path = urllib.parse.unquote(parts.path)
    if path.startswith("/"):
        target = path.lstrip("/")
    elif path:
        target = posixpath.join(posixpath.dirname(page), path)
    else:
        target = page
    return posixpath.normpath(target) if target else ".", urllib.parse.unquote(parts.fragment)


def file_of(root, target):
    """The file that a server answers with."""
    if target.startswith(".."):
        return None
    path = root / target
    if path.is_dir():
        path = path / "index.html"
    return path.relative_to(root).as_posix() if path.is_file() else None


def check_page(root, name, page, pages, found):
    for address in page.links + page.loaded:
        if address.startswith("data:"):
            continue
        place = resolved(name, address)
        if place is None:
            found["other sites"].add(address)
            if address.startswith("file:"):
                yield f"{name}: {address} is a file of one machine"
            elif address in page.loaded:
                yield f"{name}: {address} is loaded from another server"
            continue
        target, anchor = place
        file = file_of(root, target)
        found["targets"] += 1
        if file is None:
            yield f"{name}: {address} leads nowhere"
        elif anchor and file in pages and anchor not in pages[file].ids | {"top"}:
            yield f"{name}: {address}: that page has no place '{anchor}'"
        elif file in pages and address in page.links:
            found["reached"].setdefault(name, set()).add(file)
    for source in page.without_text:
        yield f"{name}: the picture {source} has no text in its place (alt)"


def unreachable(pages, reached):
    seen, open_pages = {"index.html"}, ["index.html"]
    while open_pages:
        for target in reached.get(open_pages.pop(), ()):
            if target not in seen:
                seen.add(target)
                open_pages.append(target)
    return sorted(set(pages) - seen - {"404.html"})


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1], "index.html").is_file():
        print("usage: check_site.py FOLDER, the folder of a built site with its index.html",
              file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1]).resolve()
    checkout = str(pathlib.Path(__file__).resolve().parents[3])
    pages = read_pages(root)
    found = {"targets": 0, "other sites": set(), "reached": {}}
    problems = [p for name, page in pages.items() for p in check_page(root, name, page, pages, found)]
    problems += [f"{name} cannot be reached from index.html" for name in
                 unreachable(pages, found["reached"])]
    problems += [f"{path.relative_to(root)} holds the path of this checkout"
                 for path in sorted(root.rglob("*"))
                 if path.suffix in (".html", ".json", ".xml") and checkout in path.read_text()]
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages, {found['targets']} targets within the site, "
          f"{len(found['other sites'])} addresses of other sites, {len(problems)} broken")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
