"""Writes the C++ reference as Markdown out of doxygen's XML: one page for each public header.

A page is reference/cpp/HEADER.md and an entity's anchor is its name (`pair_sinks.md#edge_sink`, a
member `pair_sinks.md#edge_sink.keep`), so that an address lasts as long as the name does.

Left out are functions that are deleted, defaulted, or that do not read an argument: a parameter
without a name is how the headers write an overload that exists in order not to compile.
"""

import pathlib
import re
import xml.etree.ElementTree as ElementTree

COMPOUND_KINDS = {"class", "struct", "concept"}
SECTIONS = {"return": "Returns", "note": "Note", "see": "See", "pre": "Before", "post": "After",
            "remark": "Remark", "warning": "Warning"}
LISTS = {"param": "Parameters", "exception": "Throws", "templateparam": "Template parameters",
         "retval": "Returns"}
WIDEST_LINE = 92


def text_of(element):
    return "" if element is None else re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def plain_name(name):
    """Without the inline namespace, which no user writes."""
    return name.replace("gpu::v0::", "gpu::")


def in_code(text):
    """A type or expression as people write it: doxygen puts blanks beside every bracket."""
    text = plain_name(text)
    text = re.sub(r"<\s+", "<", text)
    text = re.sub(r"(?<=[\w>])\s+>", ">", text)
    return re.sub(r"(\S)\s+([&*]+)(?=[\w&]|$)", r"\1\2 ", text).strip()


class Describer:
    """Doxygen's description elements as Markdown."""

    def __init__(self, places):
        self.places = places  # id of doxygen, or name -> address of the page with its anchor
        self.page = ""

    def escaped(self, text):
        """Plain text for Markdown; names of the library become code, with a link where they have one."""
        parts = re.split(r"(gpu::\w+(?:::\w+)*)", re.sub(r"\s+", " ", text or ""))
        for i, part in enumerate(parts):
            if i % 2:
                parts[i] = self.link(f"`{part}`", part)
            else:
                part = re.sub(r"([\\`*_\[\]])", r"\\\1", part)
                parts[i] = part.replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;")
        return "".join(parts)

    def link(self, label, target):
        place = self.places.get(target)
        if place is None:
            return label
        page, _, anchor = place.partition("#")
        return f"[{label}]({'' if page == self.page else page}#{anchor})" if anchor else (
            f"[{label}]({page})")

    def inline(self, element):
        parts = [self.escaped(element.text)]
        for child in element:
            parts.append(self.inline_child(child))
            parts.append(self.escaped(child.tail))
        return "".join(parts)

    def inline_child(self, child):
        kind = child.tag
        if kind == "ref":
            label = f"`{plain_name(text_of(child))}`"
            return self.link(label, child.get("refid"))
        if kind == "computeroutput":
            targets = [c.get("refid") for c in child.iter("ref")]
            label = f"`{plain_name(text_of(child))}`"
            return self.link(label, targets[0]) if len(targets) == 1 else label
        if kind in ("emphasis", "bold"):
            mark = "*" if kind == "emphasis" else "**"
            return f"{mark}{self.inline(child).strip()}{mark}"
        if kind == "ulink":
            return f"[{self.inline(child)}]({child.get('url')})"
        if kind == "linebreak":
            return "  \n"
        signs = {"ndash": "–", "mdash": "—", "sp": " ", "nonbreakablespace": " "}
        if kind in signs:
            return signs[kind]
        return self.inline(child)

    def blocks(self, element):
        """The blocks of a description or of a list item, each without a blank line inside a list."""
        found = []
        for child in element if element is not None else []:
            if child.tag == "para":
                found += self.paragraph(child)
            elif child.tag == "title":
                found.append(f"**{self.inline(child)}**")
            elif child.tag.startswith("sect"):
                found += self.blocks(child)
        return [block for block in found if block.strip()]

    def paragraph(self, para):
        blocks, line = [], [self.escaped(para.text)]

        def end_line():
            if "".join(line).strip():
                blocks.append("".join(line).strip())
            line.clear()

        for child in para:
            block = self.block_child(child)
            if block is None:
                line.append(self.inline_child(child))
            else:
                end_line()
                blocks += block
            line.append(self.escaped(child.tail))
        end_line()
        return blocks

    def block_child(self, child):
        if child.tag in ("itemizedlist", "orderedlist"):
            return ["\n".join(self.item(i, "-" if child.tag == "itemizedlist" else "1.")
                              for i in child.findall("listitem"))]
        if child.tag == "parameterlist":
            rows = [f"**{LISTS[child.get('kind')]}**"]
            items = []
            for entry in child.findall("parameteritem"):
                names = ", ".join(f"`{plain_name(text_of(n))}`" for n in entry.iter("parametername"))
                what = " ".join(self.blocks(entry.find("parameterdescription")))
                items.append(f"- {names}: {what}")
            return [*rows, "\n".join(items)]
        if child.tag == "simplesect":
            label = SECTIONS.get(child.get("kind"))
            if label is None:
                raise ValueError(f"a section of kind '{child.get('kind')}' is not known here")
            return [f"**{label}:** " + " ".join(self.blocks(child))]
        if child.tag in ("programlisting", "verbatim"):
            lines = ([text_of(c) for c in child.iter("codeline")] if child.tag == "programlisting"
                     else (child.text or "").strip("\n").split("\n"))
            return ["```cpp\n" + "\n".join(lines) + "\n```"]
        return None

    def item(self, element, mark):
        first, *rest = self.blocks(element)
        lines = [f"{mark} {first}"]
        lines += ["    " + line for block in rest for line in ["", *block.split("\n")]]
        return "\n".join(lines)

    def describe(self, element):
        return (self.blocks(element.find("briefdescription"))
                + self.blocks(element.find("detaileddescription")))


def parameters_of(member):
    for param in member.findall("param"):
        kind = text_of(param.find("type"))
        if kind and kind != "void":
            name = text_of(param.find("declname"))
            value = text_of(param.find("defval"))
            yield in_code(kind), name, in_code(value)


def compiles_when_called(member):
    arguments = member.findtext("argsstring") or ""
    if re.search(r"=\s*(delete|default)\s*$", arguments):
        return False
    return all(name for _, name, _ in parameters_of(member))


def template_head(element):
    head = element.find("templateparamlist")
    if head is None:
        return ""
    items = []
    for param in head.findall("param"):
        item = in_code(text_of(param.find("type")))
        name = text_of(param.find("declname"))
        value = text_of(param.find("defval"))
        if "detail::" in item:
            continue
        value = "..." if "detail::" in value else value
        items.append(item + (f" {name}" if name else "") + (f" = {in_code(value)}" if value else ""))
    return f"template <{', '.join(items)}>\n"


def signature(member):
    head = template_head(member)
    requires = text_of(member.find("requiresclause"))
    head += f"  requires {in_code(requires)}\n" if requires and "detail::" not in requires else ""
    name = text_of(member.find("name"))
    result = in_code(text_of(member.find("type")))
    start = (f"{result} " if result else "") + name + "("
    items = [f"{kind} {n}".strip() + (f" = {value}" if value else "")
             for kind, n, value in parameters_of(member)]
    tail = ")" + (" const" if member.get("const") == "yes" else "")
    tail += " noexcept" if "noexcept" in (member.findtext("argsstring") or "") else ""
    line = start + ", ".join(items) + tail + ";"
    if len(line) > WIDEST_LINE:
        line = start + "\n    " + ",\n    ".join(items) + tail + ";"
    return head + line


class Reference:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.trees = {path.stem: ElementTree.parse(path).getroot().find("compounddef")
                      for path in self.folder.glob("*.xml") if path.stem != "index"
                      and path.stem != "Doxyfile"}
        self.trees = {k: v for k, v in self.trees.items() if v is not None}
        self.headers = {}  # page -> entities with their lines
        self.files = {}
        self.places = {}
        for tree in self.trees.values():
            self.collect(tree)
        self.describer = Describer(self.places)

    @staticmethod
    def page_of(element):
        location = element.find("location")
        file = location.get("file", "") if location is not None else ""
        return pathlib.PurePosixPath(file).stem + ".md" if file.endswith(".hpp") else None

    def collect(self, tree):
        kind = tree.get("kind")
        if kind == "file":
            page = pathlib.PurePosixPath(tree.findtext("compoundname")).stem + ".md"
            self.files[page] = tree
            self.headers.setdefault(page, [])
            self.places[tree.get("id")] = page
        elif kind in COMPOUND_KINDS:
            name = tree.findtext("compoundname").split("::")[-1]
            self.enter(tree, name)
            for member in tree.iter("memberdef"):
                member_name = member.findtext("name")
                self.places[member.get("id")] = f"{self.page_of(tree)}#{name}.{member_name}"
                self.enter_enumerators(member, f"{self.page_of(tree)}#{name}.{member_name}")
        elif kind == "namespace":
            for member in tree.iter("memberdef"):
                if member.get("kind") == "function" and not compiles_when_called(member):
                    continue
                if (self.page_of(member) or "").startswith("export"):
                    continue
                self.enter(member, member.findtext("name"))
                self.enter_enumerators(member, f"{self.page_of(member)}#{member.findtext('name')}")

    def enter(self, element, name):
        page = self.page_of(element)
        if page is None or "detail" in element.find("location").get("file"):
            return
        # A name that stands in two headers is one entity a header: overloads.
        self.headers.setdefault(page, []).append(
            (int(element.find("location").get("line")), name, element))
        self.places[element.get("id")] = f"{page}#{name}"
        full_name = element.findtext("qualifiedname") or element.findtext("compoundname")
        self.places.setdefault(plain_name(full_name), f"{page}#{name}")

    def enter_enumerators(self, member, place):
        for value in member.findall("enumvalue"):
            self.places[value.get("id")] = f"{place}.{value.findtext('name')}"

    def described_members(self, owner, elements):
        for element in elements:
            name = element.findtext("name")
            if element.get("kind") == "function":
                code = signature(element).replace("\n    ", " ").replace("\n", " ").rstrip(";")
            elif element.tag == "enumvalue":
                code = name + " " + text_of(element.find("initializer"))
            else:
                value = text_of(element.find("initializer"))
                code = f"{in_code(text_of(element.find('type')))} {name} {in_code(value)}"
            blocks = self.describer.describe(element) or [""]
            lines = [f'<a id="{owner}.{name}"></a>`{code.strip()}`', ""]
            body = "\n\n".join(blocks)
            lines[1] = ":   " + body.replace("\n", "\n    ") if body else ":   \u00a0"
            yield "\n".join(lines)

    def compound(self, name, tree):
        kind = tree.get("kind")
        if kind == "concept":
            code = in_code(text_of(tree.find("initializer")))
            return [f"```cpp\n{code}\n```", *self.describer.describe(tree)]
        bases = [plain_name(text_of(b)).split("::")[-1] for b in tree.findall("basecompoundref")
                 if b.get("prot") == "public" and "detail" not in text_of(b)]
        head = f"{template_head(tree)}{kind} {name}" + (f" : {', '.join(bases)}" if bases else "")
        blocks = [f"```cpp\n{head}\n```", *self.describer.describe(tree)]
        members = [m for section in tree.findall("sectiondef") for m in section.findall("memberdef")
                   if m.get("prot") == "public" and m.get("kind") in ("function", "variable", "enum",
                                                                      "typedef")
                   and (m.get("kind") != "function" or compiles_when_called(m))]
        members.sort(key=lambda m: int(m.find("location").get("line")))
        return blocks + list(self.described_members(name, members))

    def member(self, name, element):
        kind = element.get("kind")
        if kind == "enum":
            head = [f"```cpp\nenum class {name}\n```", *self.describer.describe(element)]
            return head + list(self.described_members(name, element.findall("enumvalue")))
        if kind == "function":
            code = signature(element)
        elif kind == "typedef":
            code = f"{template_head(element)}using {name} = {in_code(text_of(element.find('type')))};"
        else:
            value = text_of(element.find("initializer"))
            code = (f"{template_head(element)}{in_code(text_of(element.find('type')))} {name} "
                    f"{in_code(value)};")
        return [f"```cpp\n{code}\n```", *self.describer.describe(element)]

    def page(self, page):
        self.describer.page = page
        header = page.removesuffix(".md")
        # The umbrella's anchors are the pages themselves.
        blocks = [f"# gpu/{header}.hpp", f"```cpp\n#include <gpu/{header}.hpp>\n```"]
        blocks += self.describer.describe(self.files[page]) if page in self.files else []
        entities = sorted(self.headers[page], key=lambda e: e[0])
        order = list(dict.fromkeys(name for _, name, _ in entities))
        for name in order:
            same = [element for _, n, element in entities if n == name]
            blocks.append(f"## {name.replace('_', chr(92) + '_')} {{#{name}}}")
            for element in same:
                blocks += (self.compound(name, element) if element.get("kind") in COMPOUND_KINDS
                           else self.member(name, element))
        return "\n\n".join(blocks) + "\n"

    def brief(self, page):
        if page not in self.files:
            return ""
        self.describer.page = page
        return " ".join(self.describer.blocks(self.files[page].find("briefdescription"))) or (
            self.describer.blocks(self.files[page].find("detaileddescription")) or [""])[0]


def pages(xml_folder):
    """Name of each page -> its Markdown; index.md lists the headers."""
    reference = Reference(xml_folder)
    found = {page: reference.page(page) for page in sorted(reference.headers)}
    if not found:
        raise ValueError(f"{xml_folder} holds no header: was doxygen run?")
    lines = ["# C++ reference", "",
             "Every public header. `gpu/similarity.hpp` includes all of them.", "",
             "| header | what it declares |", "|---|---|"]
    for page in found:
        lines.append(f"| [gpu/{page.removesuffix('.md')}.hpp]({page}) | {reference.brief(page)} |")
    # The header gpu/index.hpp keeps its name; the list of headers is the page of the folder.
    if "index.md" in found:
        found["index_hpp.md"] = found.pop("index.md")
        lines = [line.replace("(index.md)", "(index_hpp.md)") for line in lines]
        found = {page: text.replace("](index.md", "](index_hpp.md") for page, text in found.items()}
    found["index.md"] = "\n".join(lines) + "\n"
    return found
