"""Pages that sagax writes, in a browser: Chromium, headless, driven by a script put into a copy of the page.

Skipped where no Chromium is installed: the structure of the pages is tested without one in `report/test_report.py`.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sagax
import sagax.numpy as snp

SOURCE = Path(__file__).resolve().parents[2] / "src"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --virtual-time-budget=5000"
).split()

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed here")

PROGRAM = """
import sagax
import sagax.numpy as np

@sagax.jit
def quick(x):
    return x + 1

@sagax.jit
def slow(x):
    for _ in range(60):
        x = np.tanh(x @ x)
    return x

quick(np.ones(3))
for _ in range(3):
    slow(np.ones((200, 200)))
"""


def seen(tmp_path, page, script):
    """What a script that runs in the page, once it is laid out, makes: an object, as the browser has it."""
    driver = (
        "<script>addEventListener('load', async () => {"
        f"const found = await (async () => {{ {script} }})();"
        "const out = document.createElement('pre'); out.id = 'found';"
        "out.textContent = JSON.stringify(found); document.body.append(out); });</script>"
    )
    copy = tmp_path / "driven.html"
    copy.write_text(page.replace("</body>", driver + "</body>"), encoding="utf-8")
    command = [
        CHROMIUM,
        *FLAGS,
        f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom",
        copy.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    told = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert told is not None, done.stderr[-2000:]
    return json.loads(html.unescape(told[1]))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    script, out = folder / "program.py", folder / "out.html"
    script.write_text(PROGRAM)
    subprocess.run(
        [sys.executable, "-m", "sagax", "run", "--report", str(out), str(script)],
        check=True,
        capture_output=True,
        env={"PYTHONPATH": str(SOURCE), "HOME": str(folder)},
    )
    return out.read_text(encoding="utf-8")


def test_the_slow_function_is_first_and_open_and_a_click_closes_it(tmp_path, report):
    found = seen(
        tmp_path,
        report,
        """
        const functions = [...document.querySelectorAll('details.function')];
        const names = functions.map(f => f.querySelector('.name').textContent);
        const tops = functions.map(f => f.getBoundingClientRect().top);
        const table = functions[0].querySelector('table.lines');
        const visible = () => table.checkVisibility() && table.getBoundingClientRect().height > 0;
        const before = visible();
        functions[0].querySelector('summary .name').click();
        const closed = !visible(), others = functions.slice(1).some(f => f.open);
        functions[0].querySelector('summary .name').click();
        const folded = table.innerText;
        table.querySelector('details summary').click();
        const text = table.innerText;
        const wide = document.documentElement.scrollWidth > innerWidth;
        return {names, tops, before, closed, others, folded, text, opened: visible(), wide};
        """,
    )
    assert found["names"] == ["slow", "quick"]
    assert found["tops"] == sorted(found["tops"])
    assert [found[name] for name in ("before", "closed", "opened", "others")] == [True] * 3 + [
        False
    ]
    assert "dot_general" not in found["folded"]
    assert "np.tanh(x @ x)" in found["text"] and "dot_general" in found["text"]
    assert not found["wide"]


def test_the_page_fetches_nothing(tmp_path, report):
    found = seen(
        tmp_path, report, "return performance.getEntriesByType('resource').map(r => r.name);"
    )
    assert found == []


def test_an_explanation_in_a_notebook(tmp_path):
    def loss(x):
        if x < 1 and x > "</pre><b id='hole'>":
            return x
        return -x

    with pytest.raises(TypeError) as caught:
        sagax.jit(loss)(snp.float32(2.0))
    shown = sagax.explain(caught.value)
    page = f"<!DOCTYPE html><html><body>{shown._repr_html_()}</body></html>"
    found = seen(
        tmp_path,
        page,
        """
        const all = document.querySelector('pre.sagax-diagnostic');
        const inks = [...all.querySelectorAll('span')].map(s => getComputedStyle(s).color);
        return {text: all.innerText, inks: new Set(inks).size, hole: document.getElementById('hole')};
        """,
    )
    assert found["text"].removeprefix("error[SX0102] ") == str(shown)
    assert found["hole"] is None
    assert found["inks"] >= 4
