"""Run the interactive sessions of the documentation, each page as one, and look up the paths it names."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if ">>>" in p.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(DOCS).as_posix())
def test_page(page, capsys, request):
    if "8 virtual CPU devices" in page.read_text(encoding="utf-8"):
        request.getfixturevalue("eight_devices")
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    found = doctest.testfile(
        str(page), module_relative=False, optionflags=options, encoding="utf-8"
    )
    assert found.attempted > 0
    assert found.failed == 0, capsys.readouterr().out


MAINTAINERS = ("architecture.md", "glossary.md", "limits.md")
PLACES = [ROOT, ROOT / "src/sagax", ROOT / "src/sagax/_src", ROOT / "tests"]


@pytest.mark.parametrize("name", MAINTAINERS)
def test_paths_exist(name):
    """Paths that maintainers look up, such as `core/trace.py`, `tests/ui` and `runtime/`."""
    quoted = re.findall(r"`([\w./-]+)`", (DOCS / name).read_text(encoding="utf-8"))
    paths = [q for q in quoted if "/" in q and "..." not in q]
    missing = [p for p in paths if not any((place / p).exists() for place in PLACES)]
    assert paths and missing == []
