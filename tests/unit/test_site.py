"""The documentation: reference pages are as the code makes them, and the site is built without a warning."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.docs import PAGES
from tests.patience import PATIENT

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_as_the_code_makes_it(name: str):
    assert (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") == PAGES[name](), "make docs"


def test_every_link_to_a_file_leads_to_one():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    links = [
        (page, link)
        for page in pages
        for link in re.findall(r"\]\((?!https:)([^)# ]+)", page.read_text(encoding="utf-8"))
    ]
    assert len(links) > 60
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


@pytest.mark.long
def test_the_site_is_built_without_a_warning(tmp_path: Path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", "-d", tmp_path / "cache"]
    done = subprocess.run([*command, ".", tmp_path / "site"], cwd=ROOT, capture_output=True, text=True, timeout=PATIENT)
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "site" / "docs" / "contents.html").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        own = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert own == "contents.html" or f'href="{own}"' in home
