"""What mkdocs does beside its settings: pages that are made, and links that leave docs/.

Pages that are made: the C++ reference (out of doxygen's XML), the Python reference (a page for each
group of python_groups.py), the R reference (out of the comments of r/R), and the contributing and change pages, which lie at the root of the
checkout. A link to a file that has no page leads to that file in the repository; a link to nothing
fails the build.
"""

import pathlib
import posixpath
import re
import sys

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import cpp_reference  # noqa: E402
import python_reference  # noqa: E402
import r_reference  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Pages that lie outside docs/: their file in the checkout and their name on the site.
ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md",
              "SECURITY.md": "security.md", "CODE_OF_CONDUCT.md": "code_of_conduct.md"}
# How comments of the sources name a page.
NAMED = re.compile(r"\bdocs/(\w+\.md)\b")
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCED = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
# A warning, written as hosts of repositories show it: > [!WARNING], then its lines.
CALLOUT = re.compile(r"^> \[!(NOTE|TIP|WARNING)\]\n((?:>.*\n?)+)", re.MULTILINE)


def on_files(files, config):
    made = {f"reference/cpp/{name}": text
            for name, text in cpp_reference.pages(ROOT / "build/docs/xml").items()}
    made |= {f"reference/python/{name}": text for name, text in python_reference.pages(ROOT).items()}
    made |= {f"reference/r/{name}": text for name, text in r_reference.pages(ROOT).items()}
    made |= {name: (ROOT / source).read_text() for source, name in ROOT_PAGES.items()}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def source_of(page):
    """The path in the checkout of a page of the site."""
    for source, name in ROOT_PAGES.items():
        if page == name:
            return source
    return f"docs/{page}"


def target_on_site(link, page, repository):
    """What a relative link of `page` is on the site."""
    path, _, anchor = link.partition("#")
    if "://" in link or link.startswith("mailto:") or not path or page.startswith("reference/"):
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(page)), path))
    anchor = f"#{anchor}" if anchor else ""
    if target in ROOT_PAGES:
        return posixpath.relpath(ROOT_PAGES[target], posixpath.dirname(page) or ".") + anchor
    if target.startswith("docs/"):
        return posixpath.relpath(target[len("docs/"):], posixpath.dirname(page) or ".") + anchor
    if not (ROOT / target).exists():
        raise PluginError(f"{source_of(page)}: the link {link} leads nowhere")
    kind = "tree" if (ROOT / target).is_dir() else "blob"
    return f"{repository}/{kind}/main/{target}{anchor}"


def title_of(page):
    """The heading of a page of docs/."""
    source = ROOT / "docs" / page
    if not source.exists():
        raise PluginError(f"the reference names docs/{page}, which does not exist")
    return source.read_text().split("\n", 1)[0].removeprefix("# ")


def linked(markdown, page):
    """The pages of docs/ that a text of the reference names, as links."""
    folder = posixpath.dirname(page)
    return NAMED.sub(lambda m: f"[{title_of(m[1])}]({posixpath.relpath(m[1], folder)})", markdown)


def admonition(callout):
    """The same as the theme's extension has it."""
    lines = (f"    {line[1:].strip()}\n" for line in callout[2].splitlines())
    return f"!!! {callout[1].lower()}\n\n{''.join(lines)}"


def on_page_markdown(markdown, page, config, files):
    del files
    repository = config["extra"]["repository"]
    here = page.file.src_uri
    parts = FENCED.split(CALLOUT.sub(admonition, markdown))
    for i in range(0, len(parts), 2):  # between the blocks of code
        parts[i] = LINK.sub(
            lambda m: m[1] + target_on_site(m[2], here, repository) + m[3], parts[i])
        if here.startswith("reference/"):
            parts[i] = linked(parts[i], here)
    # In a table, hosts of repositories want a bar in code escaped; here the backslash would be shown.
    parts[1::2] = [part if part.startswith("```") else part.replace("\\|", "|") for part in parts[1::2]]
    return "".join(parts)


def on_config(config):
    """The headers and groups of the references take their place in the side bar."""
    cpp = sorted(cpp_reference.pages(ROOT / "build/docs/xml"))
    python = list(python_reference.pages(ROOT))
    r = list(r_reference.pages(ROOT))

    def section(folder, names):
        return [f"reference/{folder}/index.md",
                *(f"reference/{folder}/{n}" for n in names if n != "index.md")]

    for entry in config["nav"]:
        for items in entry.values():
            for item in items if isinstance(items, list) else []:
                if isinstance(item, dict):
                    for title, value in item.items():
                        if value == "reference/cpp/":
                            item[title] = section("cpp", cpp)
                        elif value == "reference/python/":
                            item[title] = section("python", python)
                        elif value == "reference/r/":
                            item[title] = section("r", r)
    return config
