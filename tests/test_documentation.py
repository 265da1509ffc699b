"""What the documentation shows is what the program takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import veridical
from veridical.suites.files import read_suite

ROOT = Path(__file__).parents[1]
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/README*.md")})


def test_the_suite_file_of_the_documentation_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "suite-files.md").read_text(encoding="utf-8")
    block = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert block
    file = tmp_path / "suite.jsonl"
    file.write_text(block[1], encoding="utf-8")
    suite = read_suite(file)
    assert (suite.name, len(suite.items), list(suite.grouping().sets())) == ("habits", 2, ["Ada"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), target


def test_answers_from_elsewhere_are_judged_as_the_readme_shows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [block for block in blocks if "vd.Response(" in block]
    shown: dict[str, object] = {"vd": veridical}
    exec(block, shown)  # the page's own code
    records = shown["judged"].records  # type: ignore[attr-defined]
    found = {one.measure: one.value for one in records if one.answerer == "model" and not one.slice and not one.against}
    assert found["pair_recovery"] == 0.0  # one answer to everything recovers no pair
    assert "mine" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "mine").iterdir()} == {"report.html", "measures.json"}


def test_each_python_block_of_the_readme_imports_what_it_uses() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in text.split("```python\n")[1:]]
    assert blocks
    assert all("import veridical as vd" in block for block in blocks if "vd." in block)
