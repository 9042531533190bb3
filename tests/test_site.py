"""Build the documentation as `make docs` does, and follow the links inside of it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mkdocs") is None, reason="the extra `docs` is not installed"
)


class Page(HTMLParser):
    """Collect the anchors and the links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors.add(found.get("id") or "")
        link = found.get("href") if tag in ("a", "link") else found.get("src")
        if link:
            self.links.append(link)


def test_site_has_no_dead_link(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    pages = {path: Page(path) for path in tmp_path.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 100
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchors = pages[target].anchors if target in pages else None
            if not target.exists() or (
                parts.fragment and anchors is not None and unquote(parts.fragment) not in anchors
            ):
                dead.append(f"{path.relative_to(tmp_path)}: {link}")
    assert not dead, dead[:20]
