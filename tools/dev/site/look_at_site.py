#!/usr/bin/env python3
"""Opens every page of a built site in headless Chromium, as a reader would.

Usage: look_at_site.py SITE [--pictures FOLDER] [--only PART]

Fails where a picture does not show, a request fails or leaves this machine, the console reports an
error, a page is wider than the window of a desktop or of a phone, or searching for a word finds
nothing. --pictures keeps a picture of every page, light and dark; --only looks at the pages whose
address holds PART. Chromium is CHROMIUM, that of the system, or what `playwright install` brought.
"""

import argparse
import functools
import http.server
import os
import pathlib
import shutil
import sys
import threading

from playwright.sync_api import TimeoutError, sync_playwright

BROKEN_PICTURES = """() => [...document.images]
  .filter(i => !(i.complete && i.naturalWidth > 0)).map(i => i.getAttribute('src'))"""
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
WINDOWS = {"desktop": (1280, 900), "phone": (390, 844)}
# The site's own search has to find these.
WORDS = ["spearman_edges", "edge_sink", "bonferroni"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}/"


def look(page, address, base, notes):
    """What is wrong with one page in the window of now."""
    notes.clear()
    page.goto(base + address, wait_until="load")
    # Pictures below the window may be loaded lazily.
    page.evaluate("() => document.images.length && window.scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("() => [...document.images].every(i => i.complete)")
    yield from notes
    for source in page.evaluate(BROKEN_PICTURES):
        yield f"the picture {source} does not show"
    wider = page.evaluate(OVERFLOW)
    if wider > 0:
        yield f"{wider} pixels wider than the window"


def search(page, base):
    """The index is built behind the page, which takes its time on a busy machine."""
    page.goto(base, wait_until="load")
    box = page.locator("input[name=query]")
    for word in WORDS:
        box.focus()
        box.fill("")
        box.press_sequentially(word)  # the search listens to keys
        marked = page.locator(".md-search-result__item mark", has_text=word)
        try:
            marked.first.wait_for(state="attached", timeout=60000)
        except TimeoutError:
            yield f"searching for '{word}' finds nothing"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    names = sorted(p.relative_to(arguments.site).as_posix() for p in arguments.site.rglob("*.html"))
    names = [n for n in names if arguments.only in n and n != "404.html"]
    if not names:
        sys.exit(f"look_at_site.py: {arguments.site} has no page with '{arguments.only}'")
    server, base = serve(arguments.site)
    problems = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for window, (width, height) in WINDOWS.items():
            scheme = "light" if window == "desktop" else "dark"
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            notes = []
            page.on("console", lambda m, n=notes: n.append(f"console: {m.text}") if m.type == "error" else None)
            page.on("pageerror", lambda e, n=notes: n.append(f"script: {e}"))
            # What the next page interrupts, as the search's worker on a busy machine, has not failed.
            page.on("requestfailed", lambda r, n=notes: None if r.failure == "net::ERR_ABORTED" else
                    n.append(f"request failed: {r.url}"))
            page.on("request", lambda r, n=notes: None if r.url.startswith((base, "data:", "blob:")) else
                    n.append(f"asks another server: {r.url}"))
            for name in names:
                problems += [f"{name} ({window}): {p}" for p in look(page, name, base, notes)]
                if arguments.pictures:
                    arguments.pictures.mkdir(parents=True, exist_ok=True)
                    page.evaluate("() => window.scrollTo(0, 0)")
                    file = name.replace("/", "_").removesuffix(".html") + f"_{window}.png"
                    page.screenshot(path=arguments.pictures / file, animations="disabled")
            if not arguments.only and window == "desktop":
                problems += list(search(page, base))
            page.close()
        browser.close()
    server.shutdown()
    for problem in problems:
        print(problem)
    print(f"{len(names)} pages in {len(WINDOWS)} windows, {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
