"""The pages of the R reference, out of the roxygen comments of r/R: a page for each topic, and an index.

The comments are Markdown. A topic is what one help page of R is: functions that name the same
@rdname or @name. A link to a topic that does not exist fails the build.
"""

import re

BLOCK = re.compile(r"((?:^#'.*\n)+)((?:.*\n)*?)(?=^#'|\Z)", re.MULTILINE)
TAG = re.compile(r"^@(\w+) ?(.*)$")
LINK = re.compile(r"\[`?(\w+)(\(\))?`?\](?!\()")
# Topic -> heading of the index, in the order of the index.
GROUPS = {
    "All pairs": ["cor_edges", "cor_top", "cor_counts", "cor_dense", "cor_stream", "plan_cor", "cor_observations",
                  "merge_parts", "part_cut", "tanimoto"],
    "Networks, groups and permutation": ["soft_threshold", "tom", "cor_diff", "max_t"],
    "Each variable": ["rows"],
    "As in other packages": ["faces"],
    "Options and results": ["options", "results", "as_igraph", "backends"],
}


def usage_of(code, name):
    """The signature of a function, as it stands in the source."""
    found = re.search(rf"^{re.escape(name)} <- function(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))", code, re.MULTILINE)
    return name + re.sub(r"\n {2,}", "\n    ", found[1]) if found else ""


def blocks(text):
    """(tags, code) of every roxygen comment; what stands before the first tag is "intro"."""
    for comment, code in BLOCK.findall(text):
        tags, name, lines = [], "intro", []
        for line in comment.splitlines():
            line = line[2:].removeprefix(" ")
            if found := TAG.match(line):
                tags.append((name, "\n".join(lines).strip()))
                name, lines = found[1], [found[2]]
            else:
                lines.append(line)
        tags.append((name, "\n".join(lines).strip()))
        yield tags, code


def parameters_of(tags):
    """Name or names -> text of the @param of a block."""
    given = (text.split(None, 1) for name, text in tags if name == "param")
    return {names: " ".join(text.split()) for names, text in given}


def topics(root):
    out = {}
    for source in sorted((root / "r/R").glob("*.R")):
        text = source.read_text()
        for tags, code in blocks(text):
            named = dict(tags)
            function = re.match(r"(\w+) <- function", code)
            name = named.get("rdname") or named.get("name") or (function[1] if function else None)
            if name is None or "export" not in named and "name" not in named:
                continue
            if function is None and "name" not in named or not (named["intro"] or named.get("rdname")):
                continue
            topic = out.setdefault(name, {"usage": [], "tags": [], "parameters": {}})
            topic["tags"] += tags
            topic["parameters"] |= parameters_of(tags)
            if function:
                topic["usage"].append(usage_of(text, function[1]))
    return out


def page(name, topic, known, shared):
    tags = topic["tags"]
    intros = [text for tag, text in tags if tag == "intro" and text]
    title, _, description = intros[0].partition("\n")
    lines = [f"# {title}", "", description.strip(), ""]
    if topic["usage"]:
        lines += ["```r", "\n".join(topic["usage"]), "```", ""]
    for text in (text for tag, text in tags if tag == "section"):
        heading, _, body = text.partition(":\n")
        lines += [f"## {heading}", "", re.sub(r"\n  (?=\S)", "\n  ", body), ""]
    parameters = dict(topic["parameters"])
    if any(tag == "inheritParams" for tag, _ in tags):
        own = {one for names in parameters for one in names.split(",")}
        arguments = re.findall(r"\b([\w.]+)(?= =|,|\))", topic["usage"][0].partition("(")[2])
        parameters |= {one: text for one, text in shared.items() if one in arguments + ["..."] and one not in own}
    if parameters:
        lines += ["**Arguments**", ""]
        lines += [f"- `{names.replace(',', '`, `')}`: {text}" for names, text in parameters.items()] + [""]
    for text in (text for tag, text in tags if tag == "return"):
        lines += ["**Value**", "", text, ""]
    for text in (text for tag, text in tags if tag == "examples"):
        lines += ["```r", text, "```", ""]

    def linked(found):
        if found[1] not in known:
            raise ValueError(f"tools/dev/site/r_reference.py: {name} names [{found[1]}], which is no topic")
        return f"[`{found[1]}{found[2] or ''}`]({known[found[1]]}.md)"

    parts = re.split(r"(```.*?```|`[^`\n]+`)", "\n".join(lines), flags=re.DOTALL)
    return "".join(part if part.startswith("`") else LINK.sub(linked, part) for part in parts)


def pages(root):
    found = topics(root)
    shown = [name for names in GROUPS.values() for name in names]
    if sorted(shown) != sorted(found):
        raise ValueError(f"tools/dev/site/r_reference.py: topics without a page, or pages without a topic: "
                         f"{sorted(set(shown) ^ set(found))}")
    # The page of every function: its own, or that of its topic.
    known = {name: name for name in found}
    for name, topic in found.items():
        known |= {usage.partition("(")[0]: name for usage in topic["usage"]}
    out = {f"{name}.md": page(name, topic, known, found["cor_edges"]["parameters"]) for name, topic in found.items()}
    index = ["# R reference", "", "The help pages of the package `gpusimilarity`; see docs/r.md.", ""]
    for heading, names in GROUPS.items():
        index += [f"## {heading}", ""]
        for name in names:
            functions = ", ".join(f"`{usage.partition('(')[0]}`" for usage in found[name]["usage"])
            title = next(text for tag, text in found[name]["tags"] if tag == "intro" and text).partition("\n")[0]
            index.append(f"- [{title}]({name}.md)" + (f": {functions}" if functions else ""))
        index.append("")
    return out | {"index.md": "\n".join(index)}
