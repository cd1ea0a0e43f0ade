"""The page on modules: its examples, with the packages that are there."""

from __future__ import annotations

import doctest
import importlib.util
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "modules.md"
NEEDS = {"Connected": [], "Communities": ["igraph"], "Soft": ["scipy"], "Cytoscape": ["igraph"]}
NEEDS["scanpy"] = ["scanpy", "anndata", "igraph"]


@pytest.mark.parametrize("section", NEEDS)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_the_page_on_modules(section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in NEEDS[section]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    if not PAGE.exists():
        pytest.skip("the page is not part of what is tested")
    first, *others = PAGE.read_text().split("\n## ")
    text = first + "\n" + next(part for part in others if part.startswith(section))
    source = "\n".join("" if line.startswith("```") else line for line in text.splitlines())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build").mkdir()
    test = doctest.DocTestParser().get_doctest(source, {}, section, str(PAGE), 0)
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert results.failed == 0
    assert results.attempted > 7
