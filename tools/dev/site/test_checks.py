"""Shows that the checks of the site find what they are there for: a site with one fault each."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f64540"
    "0000000049454e44ae426082")
HEAD = '<html><head><link rel="icon" href="data:,"></head><body>'
SOUND = HEAD + """<h1 id="here">a</h1><a href="b/">b</a> <a href="b/#there">c</a>
<a href="#here">d</a> <img src="pixel.png" alt="a pixel"> <a href="https://example.org/">e</a></body></html>"""
SECOND = HEAD + '<h2 id="there">b</h2><a href="../">up</a></body></html>'
CHECKOUT = TOOLS.parents[2]

FAULTS = {
    '<a href="nowhere/">x</a>': "nowhere/ leads nowhere",
    '<a href="b/#gone">x</a>': "no place 'gone'",
    '<a href="#gone">x</a>': "no place 'gone'",
    '<img src="gone.png" alt="x">': "gone.png leads nowhere",
    '<img src="pixel.png">': "has no text in its place",
    '<script src="https://example.org/x.js"></script>': "is loaded from another server",
    '<link rel="stylesheet" href="gone.css">': "gone.css leads nowhere",
    '<a href="../../outside">x</a>': "leads nowhere",
    f"<p>{CHECKOUT}</p>": "holds the path of this checkout",
    '<a href="file:///etc/hosts">x</a>': "is a file of one machine",
}


class Site(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, planted="", second=SECOND):
        (self.folder / "b").mkdir(exist_ok=True)
        (self.folder / "index.html").write_text(SOUND.replace("</body>", planted + "</body>"))
        (self.folder / "b/index.html").write_text(second)
        (self.folder / "pixel.png").write_bytes(PIXEL)

    def run_tool(self, tool, *arguments):
        return subprocess.run([sys.executable, TOOLS / tool, str(self.folder), *arguments],
                              capture_output=True, text=True, check=False)


class Words(unittest.TestCase):
    """What check_words.py finds, and does not find, in pages and in what the library says."""

    def findings(self, page="", source="", header=""):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {"README.md": "a", "CONTRIBUTING.md": "a", "docs/a.md": page, "src/a.cpp": source,
                               "include/a.hpp": header}.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            answer = subprocess.run([sys.executable, TOOLS / "check_words.py", root], capture_output=True, text=True,
                                    check=False)
        self.assertEqual(answer.returncode == 0, answer.stdout.startswith("0 phrases"), answer.stdout)
        return answer.stdout.splitlines()[:-1]

    def test_phrases_of_pages(self):
        for phrase in ("It lies beside it.", "Rows, of which two are equal.", "All but for one.", "A in place of B.",
                       "p is that\nof t.", "It is no list.", "Of one table it is true.", "The proof stands in a file."):
            self.assertEqual(len(self.findings(page=f"# A\n\n{phrase}\n")), 1, phrase)

    def test_what_is_plain_or_code(self):
        self.assertEqual(self.findings(page="There is no list.\nIt is no longer here.\n\n```\nbeside\n```\n`in place of`\n"), [])

    def test_comments_of_headers(self):
        self.assertEqual(len(self.findings(header="/// The table,\n/// but\n/// for one row.\nint a;  ///< It is no row.\n")), 2)
        self.assertEqual(self.findings(header="int a;  ///< Of the rows.\nconst char b[] = \"beside\";\n"), [])

    def test_literals(self):
        self.assertEqual(len(self.findings(source='fail("{} is no "\n     "file");\n')), 1)
        self.assertEqual(self.findings(source='// beside\nfail("a file");  // in place of\n'), [])


class Callouts(unittest.TestCase):
    def test_a_warning_becomes_an_admonition(self):
        sys.path.insert(0, str(TOOLS))
        import hooks

        made = hooks.CALLOUT.sub(hooks.admonition, "a\n\n> [!WARNING]\n> one `x`\n> two\n\n> a quotation\n")
        self.assertEqual(made, "a\n\n!!! warning\n\n    one `x`\n    two\n\n> a quotation\n")


class Crawler(Site):
    def test_a_sound_site_passes(self):
        self.write()
        answer = self.run_tool("check_site.py")
        self.assertEqual(answer.returncode, 0, answer.stdout)
        self.assertIn("2 pages, 5 targets within the site, 1 addresses of other sites, 0 broken",
                      answer.stdout)

    def test_each_planted_fault_is_found(self):
        for planted, message in FAULTS.items():
            with self.subTest(planted):
                self.write(planted)
                answer = self.run_tool("check_site.py")
                self.assertEqual(answer.returncode, 1, answer.stdout)
                self.assertIn(message, answer.stdout)
                self.assertIn(", 1 broken", answer.stdout)

    def test_a_page_that_nothing_leads_to_is_found(self):
        self.write()
        (self.folder / "lost.html").write_text(SECOND)
        answer = self.run_tool("check_site.py")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("lost.html cannot be reached", answer.stdout)

    def test_a_folder_without_a_site_is_refused(self):
        self.assertEqual(self.run_tool("check_site.py").returncode, 2)


class Browser(Site):
    """The faults that only a browser sees. --only leaves the search of the real site out."""

    def test_what_a_browser_sees(self):
        self.write()
        answer = self.run_tool("look_at_site.py", "--only", "html")
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        (self.folder / "broken.png").write_bytes(PIXEL[:30])
        self.write('<img src="broken.png" alt="x">'
                   '<script>document.title = nothing.at_all</script>'
                   '<div style="width: 3000px">wide</div>')
        answer = self.run_tool("look_at_site.py", "--only", "html")
        self.assertEqual(answer.returncode, 1, answer.stdout + answer.stderr)
        for message in ("the picture broken.png does not show", "nothing is not defined",
                        "pixels wider than the window"):
            self.assertIn(message, answer.stdout)


if __name__ == "__main__":
    unittest.main()
