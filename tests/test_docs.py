"""Run the interactive sessions of the documentation, each page as one; check its imports, its paths and what it quotes."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator
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


# The pages that exist in both languages; beside these, all of the folders `faq` and `errors`.
IN_BOTH = {"index.md": "zh/index.md", "start/quickstart.md": "zh/quickstart.md"}
IN_BOTH |= {
    f"start/{name}.md": f"zh/start/{name}.md"
    for name in ("install", "transformations", "pytrees", "random", "jit", "derivatives")
}
IN_BOTH |= {
    f"{name}.md": f"zh/{name}.md"
    for name in (
        "debugging", "explain", "check", "editor", "eager_transforms", "devices_and_sharding", "from/jax",
        "from/numpy", "from/pytorch",
    )
}  # fmt: skip
IN_BOTH |= {
    path.relative_to(DOCS).as_posix(): f"zh/{path.relative_to(DOCS).as_posix()}"
    for folder in ("faq", "errors")
    for path in sorted((DOCS / folder).glob("*.md"))
}


def code_blocks(page: str) -> list[str]:
    """Return the blocks of code of a page, those between fences and those that are indented."""
    text = (DOCS / page).read_text(encoding="utf-8")
    fenced = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return fenced + re.findall(r"^    .*$", re.sub(r"(?ms)^```.*?^```", "", text), re.MULTILINE)


def outline(page: str) -> list[str]:
    """Return what a page has beside its words: headings by their depth, output, rows of tables, items, names."""
    text = (DOCS / page).read_text(encoding="utf-8")
    shown = re.findall(r"(?ms)^```(?:text|sh)\n(.*?)^```", text)
    marks = re.findall(r"^(#+|\||-)(?= )", re.sub(r"(?ms)^```.*?^```", "", text), re.MULTILINE)
    return shown + marks


@pytest.mark.parametrize("page", IN_BOTH)
def test_both_languages_show_the_same_code(page):
    chinese = IN_BOTH[page]
    assert code_blocks(page) == code_blocks(chinese)
    assert re.search("[\u4e00-\u9fff]{4}", (DOCS / chinese).read_text(encoding="utf-8"))
    if page not in ("index.md", "start/quickstart.md"):  # these two are shorter in Chinese
        assert outline(page) == outline(chinese)
        quoted = [re.findall(r"`[^`\n]+`", (DOCS / p).read_text("utf-8")) for p in (page, chinese)]
        assert sorted(quoted[0]) == sorted(quoted[1])


def test_each_chinese_page_has_an_english_one():
    found = {path.relative_to(DOCS).as_posix() for path in (DOCS / "zh").rglob("*.md")}
    assert found == set(IN_BOTH.values())
    assert len(found) > 70


MAINTAINERS = ("architecture.md", "glossary.md", "limits.md")
PLACES = [ROOT, ROOT / "src/sagax", ROOT / "src/sagax/_src", ROOT / "tests"]


@pytest.mark.parametrize("name", MAINTAINERS)
def test_paths_exist(name):
    """Paths that maintainers look up, such as `core/trace.py`, `tests/ui` and `runtime/`."""
    quoted = re.findall(r"`([\w./-]+)`", (DOCS / name).read_text(encoding="utf-8"))
    paths = [q for q in quoted if "/" in q and "..." not in q]
    missing = [p for p in paths if not any((place / p).exists() for place in PLACES)]
    assert paths and missing == []


# Readers of a page that mixes `np` for NumPy with `np` for sagax cannot tell which array they have.
ALIASES = {"numpy": "np", "sagax.numpy": "snp", "matplotlib.pyplot": "plt"}
OF_JAX = (
    "from/jax.md",
    "examples/digits_jax.py",
    "sagax/as_jax.py",
)  # show how the imports of jax are replaced
TEXTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.py")),
    *(p for p in sorted((ROOT / "src/sagax").rglob("*.py")) if ">>> " in p.read_text("utf-8")),
]
IMPORT = r"import [\w., ]+?(?: as \w+)?(?:, [\w.]+(?: as \w+)?)*"


def imports(path: Path) -> Iterator[str]:
    """Yield the plain import statements that a reader sees: in sessions, in blocks of code, in examples."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py" and "examples" not in path.parts:
        yield from re.findall(rf"^ *>>> ({IMPORT})$", text, re.MULTILINE)
    else:
        yield from re.findall(rf"^ *(?:>>> )?({IMPORT})(?:  .*)?$", text, re.MULTILINE)


def wrong_import(statement: str) -> bool:
    try:
        (found,) = ast.parse(statement).body
    except SyntaxError:  # a sentence that begins with "import"
        return False
    assert isinstance(found, ast.Import)
    ours = any(alias.name.split(".")[0] == "sagax" for alias in found.names)
    return (ours and len(found.names) > 1) or any(
        alias.name.startswith("jax") or alias.asname != ALIASES.get(alias.name, alias.asname)
        for alias in found.names
    )


def test_imports_have_one_style():
    """`import sagax`, `import sagax.numpy as snp` and `import numpy as np`, a line for each."""
    found = {
        f"{path.relative_to(ROOT)}: {statement}"
        for path in TEXTS
        if not path.as_posix().endswith(OF_JAX)
        for statement in imports(path)
        if wrong_import(statement)
    }
    assert found == set()
    seen = {statement for path in TEXTS for statement in imports(path)}
    assert {"import sagax", "import sagax.numpy as snp", "import numpy as np"} <= seen


@pytest.mark.parametrize(
    "statement",
    [
        "import sagax.numpy as np",
        "import sagax, os",
        "import jax.numpy as jnp",
        "import numpy as onp",
    ],
)
def test_other_styles_are_found(statement, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"```python\n>>> {statement}\n```\n", encoding="utf-8")
    assert [wrong_import(x) for x in imports(page)] == [True]


@pytest.mark.process
def test_pages_quote_what_explain_prints(run_python):
    """The start page and the README show the output of one command, as it is now."""
    script = "examples/broken/branch.py"
    printed = run_python("-m", "sagax", "explain", script, cwd=ROOT, status=1).stdout.strip()
    assert f"```text\n{printed}\n```" in (DOCS / "index.md").read_text(encoding="utf-8")
    indented = "\n".join(f"    {line}".rstrip() for line in printed.splitlines())
    assert f"{script}) it prints:\n\n{indented}\n\n" in (ROOT / "README.md").read_text("utf-8")
