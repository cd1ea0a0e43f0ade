"""tools/dev/layers/check_modules.py finds each kind of circle, and a full folder, planted in a small package."""

import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/dev/layers"))
import check_modules

SOUND = {
    "__init__.py": "from . import _core\nfrom ._low.a import f\nfrom .top import g\n",
    "top.py": "from ._low import a\nfrom ._high.c import h\n",
    "_low/__init__.py": "",
    "_low/a.py": "from .. import _core\nfrom .b import f\n",
    "_low/b.py": "import os\n",
    "_high/__init__.py": "",
    "_high/c.py": "def h():\n    from .._low import b\n",
}
FAULTS = {
    "at the top": ("_low/b.py", "from .a import f\n", "_low.a -> package._low.b -> package._low.a"),
    "in a function": ("_low/b.py", "def f():\n    from . import a\n", "modules that import"),
    "for types": ("_low/b.py", "if TYPE_CHECKING:\n    from .a import f\n", "modules that import"),
    "by its whole name": ("_low/b.py", "import package._low.a\n", "modules that import"),
    "by way of the package": ("_low/b.py", "from .. import f\n", "modules that import"),
    "of three": ("_low/b.py", "from ..top import g\n", "modules that import"),
    "of rooms alone": ("_low/d.py", "from .._high.c import h\n", "rooms that import"),
}


class Modules(unittest.TestCase):
    def setUp(self):
        self.package = pathlib.Path(tempfile.mkdtemp()) / "package"
        self.addCleanup(shutil.rmtree, self.package.parent)
        for name, text in SOUND.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_a_sound_package(self):
        self.assertEqual(check_modules.faults_of(self.package), [])

    def test_circles(self):
        for name, (path, text, message) in FAULTS.items():
            with self.subTest(name):
                self.write(path, text)
                faults = check_modules.faults_of(self.package)
                self.assertTrue(any(message in fault for fault in faults), faults)
                if path in SOUND:
                    self.write(path, SOUND[path])
                else:
                    (self.package / path).unlink()

    def test_full_folders(self):
        for number in range(check_modules.MOST_FILES - 3):
            self.write(f"_low/m{number}.py", "")
        self.assertEqual(check_modules.faults_of(self.package), [])
        self.write("_low/one_more.py", "")
        self.assertIn("27 files, expected at most 26", check_modules.faults_of(self.package)[0])


if __name__ == "__main__":
    unittest.main()
