"""The interactive sessions of the documentation, each page as one session."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
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
