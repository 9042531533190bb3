"""Build the documentation as `make docs` does, follow the links inside of it, and open pages in a browser.

The browser is Chromium, headless. Without one its test is skipped; links and anchors are tested on the HTML itself.
"""

from __future__ import annotations

import functools
import html
import http.server
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
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


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_site_has_no_dead_link(site):
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
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
                dead.append(f"{path.relative_to(site)}: {link}")
    assert not dead, dead[:20]


SWITCHED = {
    "": "zh/",
    "start/quickstart/": "zh/quickstart/",
    "faq/where/": "zh/faq/where/",
    "errors/": "zh/errors/",
    "errors/SX0102/": "zh/errors/SX0102/",
}


def switch(site: Path, page: str) -> dict[str, str]:
    """Return where the switch of languages on a page leads, by language."""
    text = (site / page / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'<a href="([^"]*)" hreflang="(\w+)" class="md-select__link">', text)
    here = site / page
    return {
        lang: (here / link).resolve().relative_to(site.resolve()).as_posix() for link, lang in links
    }


@pytest.mark.parametrize("english", SWITCHED)
def test_the_switch_of_languages_leads_to_the_same_page(site, english):
    both = {
        "en": Path(english).as_posix(),
        "zh": Path(SWITCHED[english]).as_posix(),
    }
    assert switch(site, english) == both
    assert switch(site, SWITCHED[english]) == both
    assert '<html lang="zh"' in (site / SWITCHED[english] / "index.html").read_text("utf-8")
    assert '<html lang="en"' in (site / english / "index.html").read_text("utf-8")


def test_the_switch_leads_to_the_start_page_where_there_is_no_other(site):
    assert switch(site, "performance/") == {"en": "performance", "zh": "zh"}


def test_signatures_show_no_addresses(site):
    """Defaults such as a sentinel print as `...`, not as `<object object at 0x7f...>`."""
    pages = list((site / "api").rglob("*.html"))
    assert len(pages) > 30
    shown = [p for p in pages if re.search(r"object at 0x|&lt;object", p.read_text("utf-8"))]
    assert shown == []


CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --virtual-time-budget=60000 --enable-logging=stderr --dump-dom"
).split()
LOOKED_AT = (
    "", "start/quickstart/", "start/install/", "from/pytorch/", "gallery/", "gallery/hmc/", "architecture/",
    "zh/", "zh/quickstart/", "zh/faq/control_flow/", "zh/errors/", "zh/errors/SX0102/", "api/sagax.numpy/", "api/sagax/", "errors/", "errors/SX0102/", "changelog/",
)  # fmt: skip
WIDTHS = (1280, 420)

# Opens each page at each width in a frame, and writes what the browser has there.
DRIVER = """<!DOCTYPE html><body><script>
const found = [];
async function open(page, width) {
  const frame = document.createElement('iframe');
  frame.style.width = width + 'px';
  frame.style.height = '900px';
  const loaded = new Promise(done => frame.onload = done);
  frame.src = page;
  document.body.append(frame);
  await loaded;
  await new Promise(done => setTimeout(done, 300));
  const seen = frame.contentDocument;
  const broken = [...seen.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src);
  const outside = frame.contentWindow.performance.getEntriesByType('resource')
    .map(r => r.name).filter(name => !name.startsWith(location.origin));
  const heading = seen.querySelector('h1');
  found.push({page, width, heading: heading && heading.innerText, broken, outside,
    overflow: seen.documentElement.scrollWidth - width});
  frame.remove();
}
addEventListener('load', async () => {
  for (const page of PAGES) for (const width of WIDTHS) await open(page, width);
  const out = document.createElement('pre');
  out.id = 'found';
  out.textContent = JSON.stringify(found);
  document.body.append(out);
});
</script></body>"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serve files without a line for each request."""

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.mark.process
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed here")
def test_pages_in_a_browser(site, tmp_path):
    assert CHROMIUM is not None
    names = json.dumps([f"/{page}" for page in LOOKED_AT])
    driver = DRIVER.replace("PAGES", names).replace("WIDTHS", json.dumps(WIDTHS))
    (site / "driver.html").write_text(driver, encoding="utf-8")
    handler = functools.partial(QuietHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/driver.html"
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        server.shutdown()
    told = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert told is not None, done.stderr[-2000:]
    found = json.loads(html.unescape(told[1]))
    assert len(found) == len(LOOKED_AT) * len(WIDTHS)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    for page in found:
        assert page["heading"], page
        assert page["broken"] == page["outside"] == [], page
        assert page["overflow"] <= 0, page
