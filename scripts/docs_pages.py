"""Generate pages of the documentation: changelog, contributing, gallery, public modules, and the index of errors.

This is a hook of mkdocs. The page of a module lists its public names; names that several modules share
are described on the first page. Pages of the folder `zh` are those in Chinese: a link at the top of each page leads
to the same page in the other language.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from docs_categories import PAGES, category
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
MODULES = (
    "sagax", "sagax.numpy", "sagax.numpy.linalg", "sagax.numpy.fft", "sagax.lax", "sagax.lax.linalg",
    "sagax.random", "sagax.nn", "sagax.nn.initializers", "sagax.scipy.special", "sagax.tree", "sagax.tree_util",
    "sagax.sharding", "sagax.distributed", "sagax.export", "sagax.debug", "sagax.errors", "sagax.dtypes",
    "sagax.scipy.stats", "sagax.scipy.linalg", "sagax.image", "sagax.ops", "sagax.ffi", "sagax.profiler", "sagax.stages", "sagax.dlpack",
    "sagax.custom_batching", "sagax.custom_derivatives", "sagax.flatten_util", "sagax.experimental", "sagax.experimental.checkify",
)  # fmt: skip

MOST_OVERLOADS = 4

ASSUMED = "Examples assume `import numpy as np`, `import sagax`, `import sagax.numpy as snp`, and modules such as `lax` by their names."


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """List the public names of a module that have a description of their own."""
    for name in sorted(set(getattr(module, "__all__", dir(module))), key=str.lower):
        value = getattr(module, name)
        described = callable(value) and (inspect.getdoc(value) or "")
        if not name.startswith("_") and described and not inspect.ismodule(value):
            yield name, value


def signature(value: Any) -> str:
    try:
        found = inspect.signature(value)
    except (ValueError, TypeError):
        return "(...)"
    plain = [
        p.replace(annotation=inspect.Parameter.empty)
        if p.default is p.empty or isinstance(p.default, (int, float, str, tuple, type(None)))
        else p.replace(annotation=inspect.Parameter.empty, default="...")
        for p in found.parameters.values()
    ]
    return str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


@functools.cache
def stub(name: str) -> dict[str, list[ast.FunctionDef]]:
    """Return the definitions in the stub of a module, by name."""
    path = (ROOT / "stubs").joinpath(*name.split("."))
    path = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
    found: dict[str, list[ast.FunctionDef]] = {}
    if path.exists():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, []).append(node)
    return found


def signatures(name: str, member: str, value: Any) -> list[str]:
    """Write how a member is called, with types where the stub has them: a line for each overload, if they are few."""
    found = stub(name).get(member, [])
    if not 0 < len(found) <= MOST_OVERLOADS:
        kind = "class " if inspect.isclass(value) else ""
        return [f"{kind}{member}{signature(value)}"]
    lines = []
    for node in found:
        result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        lines.append(f"{member}({ast.unparse(node.args)}){result}")
    return lines


def source(value: Any) -> str:
    """Name the file and line that define a value, or nothing where they are not known."""
    try:
        path = Path(inspect.getsourcefile(inspect.unwrap(value)) or "")
        line = inspect.getsourcelines(inspect.unwrap(value))[1]
    except (TypeError, OSError):
        return ""
    inside = path.is_relative_to(ROOT)
    return f"Defined in `{path.relative_to(ROOT).as_posix()}`, line {line}." if inside else ""


def api_index() -> str:
    """Write the list of modules, each with its first line."""
    lines = ["# API reference", "", ASSUMED, "", "| module | |", "|---|---|"]
    for name in MODULES:
        first = (inspect.getdoc(importlib.import_module(name)) or "").partition("\n")[0]
        lines.append(f"| [`{name}`]({name}.md) | {first} |")
    return "\n".join(lines) + "\n"


def by_category(name: str, members: list[tuple[str, Any]]) -> list[str]:
    """Write a table of names by category, in reading order, if the page has many."""
    groups: dict[str, list[str]] = {title: [] for title in PAGES.get(name, ())}
    for member, value in members:
        if title := category(name, member, value):
            groups[title].append(f"[`{member}`](#{member.lower()})")
    rows = [f"| {title} | {', '.join(names)} |" for title, names in groups.items() if names]
    return ["| category | names |", "|---|---|", *rows, ""] if rows else []


def page(name: str, seen: dict[int, str]) -> str:
    """Write the page of a module, as Markdown."""
    module = importlib.import_module(name)
    lines = [f"# {name}", "", *paragraphs(inspect.getdoc(module) or ""), "", ASSUMED, ""]
    members = list(public(module))
    lines += by_category(name, members)
    for member, value in members:
        home = seen.setdefault(id(value), f"{name}.{member}")
        lines += [f"## {member}", ""]
        if home != f"{name}.{member}":
            lines += [f"The same as `{home}`.", ""]
            continue
        lines += ["```python", *signatures(name, member, value), "```", "", source(value), ""]
        own = not getattr(value, "_is_protocol", False)  # typing may have written its docstring
        lines += [*paragraphs((own and inspect.getdoc(value)) or ""), ""]
    return "\n".join(lines)


def paragraphs(text: str) -> list[str]:
    """Convert a docstring to Markdown: examples become code blocks, arguments become lists."""
    lines: list[str] = []
    block: list[str] = []

    def close() -> None:
        if block:
            while not block[-1].strip():
                block.pop()
            lines.extend(["", "```pycon" if block[0].startswith(">>>") else "```text"])
            lines.extend([*block, "```", ""])
            block.clear()

    for line in text.splitlines():
        if line.startswith(">>>") or block and line.strip():
            block.append(line)
        elif line.rstrip().endswith(":") and line.split(":")[0] in ("Args", "Raises", "Returns"):
            close()
            lines.extend(["", f"**{line.rstrip()}**", ""])
        elif line.startswith("  "):
            text_of = line.strip()
            name, colon, rest = text_of.partition(": ")
            if colon and not line.startswith("    ") and " " not in name.replace(", ", ""):
                lines.append(f"- `{name}`: {rest}")
            else:
                lines.append(f"  {text_of}")
        else:
            close()
            lines.append(line)
    close()
    return lines


def of_the_project(name: str) -> str:
    """Read a page of the root folder; replace links to files that are no pages by their names."""
    text = (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"\]\((?:docs/)([^)]+)\)", r"](\1)", text)
    text = re.sub(r"\]\((CHANGELOG|CONTRIBUTING)\.md\)", lambda m: f"]({m[1].lower()}.md)", text)
    return re.sub(r"\[([^\]]+)\]\((?:examples|benchmarks|tests|LICENSE)[^)]*\)", r"`\1`", text)


def add_primitive() -> str:
    """Take the tutorial about primitives out of the page for contributors."""
    text = of_the_project("CONTRIBUTING.md")
    start = text.index("## Tutorial: add a primitive")
    body = text[start : text.index("## Tutorial: add a fix")]
    return body.replace("## Tutorial: add a primitive", "# Add a primitive")


GALLERY = ROOT / "docs" / "gallery"


def gallery_page(program: Path) -> str:
    """Write the page of a program: what it does, its picture, its figures beside jax's, its code."""
    text = program.read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, _, rest = (ast.get_docstring(tree) or "").partition("\n\n")
    code = text.split('"""\n\n', 1)[1].rstrip()
    name = program.stem
    index = (GALLERY / "index.md").read_text(encoding="utf-8")
    rows = re.findall(rf"^\| \[[^]]*\]\({name}\.md\) (\|.*)$", index, re.MULTILINE)
    heading = re.search(rf"\*\*\[([^]]*)\]\({name}\.md\)\*\*", index)
    if heading is None or not rows:
        raise ValueError(f"docs/gallery/index.md lacks {name}: run scripts/gallery.py")
    lines = [f"# {heading[1]}", "", title, rest, "", f"![Picture of {heading[1]}]({name}.png)", ""]
    lines += ["| figure | sagax | jax |", "|---|---|---|", *rows, ""]
    lines += [f"`examples/gallery/{program.name}`:", "", "```python", code, "```", ""]
    return "\n".join(lines)


# Areas of error codes, by the first code of each.
AREAS = (
    (1, "All errors", "Base classes."),
    (
        100,
        "Tracing and types",
        "Operations on values that are not known while tracing, keys, and dtypes.",
    ),
    (201, "Devices and processes", "Backends, donation, shardings and processes."),
    (241, "Captured values and control flow", "Stale values, and what `autojit` cannot convert."),
    (401, "Warnings", "Mistakes that run, and give a wrong or a slow result."),
)


AREAS_IN_CHINESE = (
    (1, "所有错误", "基类。"),
    (100, "追踪和类型", "对追踪时尚未知的值的运算、密钥和数据类型。"),
    (201, "设备和进程", "后端、捐赠、分片和进程。"),
    (241, "捕获的值和控制流", "陈旧的值，以及 `autojit` 无法转换的内容。"),
    (401, "警告", "能够运行，但结果错误或缓慢的情形。"),
)
# The folder of the pages, heading, introduction, head of tables, areas, and where the first sentence ends.
INDEXES = {
    "errors": (
        "# Error codes", "`sagax explain SX0102` prints one of these pages.", "| code | class | meaning |", AREAS,
        r"(?<=[.:]) |\n\n",
    ),
    "zh/errors": (
        "# 错误编号", "`SAGAX_LANG=zh sagax explain SX0102` 打印其中的一页。", "| 编号 | 类 | 含义 |", AREAS_IN_CHINESE,
        r"(?<=[。：；])|(?<=[。：]) ",
    ),
}  # fmt: skip


def error_index(folder: str = "errors") -> str:
    """Write the index of error codes, grouped by area, with the first sentence of each page."""
    heading, introduction, head, areas, end = INDEXES[folder]
    lines = [heading, "", introduction, ""]
    starts = {first: [f"## {title}", "", text, "", head, "|---|---|---|"] for first, title, text in areas}  # fmt: skip
    area = 0
    for path in sorted((ROOT / "docs" / folder).glob("SX*.md")):
        heading, _, body = path.read_text(encoding="utf-8").partition("\n")
        code, _, name = heading.removeprefix("# ").partition(": ")
        current = max(first for first in starts if first <= int(code[2:]))
        if current != area:
            lines += ["", *starts[current]]
            area = current
        meaning = re.split(end, " ".join(body.strip().split("\n\n")[0].split()))[0]
        lines.append(f"| [{code}]({path.name}) | `{name}` | {meaning.rstrip(':.。：；')} |")
    return "\n".join(lines) + "\n"


def on_config(config: Any) -> Any:
    """Append the pages of modules and of error codes to the navigation."""
    codes = sorted(path.name for path in (ROOT / "docs" / "errors").glob("SX*.md"))
    config.nav.append({"API": ["api/index.md", *({name: f"api/{name}.md"} for name in MODULES)]})
    config.nav.append({"Errors": ["errors/index.md", *(f"errors/{name}" for name in codes)]})
    chinese = next(part["中文"] for part in config.nav if "中文" in part)
    chinese.append({"错误": ["zh/errors/index.md", *(f"zh/errors/{name}" for name in codes)]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages to those of the folder."""
    for name in ("CHANGELOG", "CONTRIBUTING"):
        page_of = of_the_project(f"{name}.md")
        files.append(File.generated(config, f"{name.lower()}.md", content=page_of))
    files.append(File.generated(config, "add_primitive.md", content=add_primitive()))
    for folder in INDEXES:
        files.append(File.generated(config, f"{folder}/index.md", content=error_index(folder)))
    files.append(File.generated(config, "api/index.md", content=api_index()))
    for program in sorted((ROOT / "examples" / "gallery").glob("*.py")):
        path = f"gallery/{program.stem}.md"
        files.append(File.generated(config, path, content=gallery_page(program)))
    seen: dict[int, str] = {}
    for name in MODULES:
        path = f"api/{name}.md"
        files.append(File.generated(config, path, content=page(name, seen)))
    return files


CHINESE = "zh/"
# Pages in Chinese that are in another folder in English.
MOVED = {"zh/quickstart.md": "start/quickstart.md"}


def in_other_language(source: str) -> str:
    """Return the source of the same page in the other language, whether or not there is one."""
    if source.startswith(CHINESE):
        return MOVED.get(source, source.removeprefix(CHINESE))
    back = {english: chinese for chinese, english in MOVED.items()}
    return back.get(source, CHINESE + source)


def on_page_context(context: Any, page: Any, config: Any, nav: Any) -> Any:
    """Let the switch of languages lead to the same page, or else to the start page; word the theme as the page."""
    source = page.file.src_uri
    other = in_other_language(source)
    chinese = source.startswith(CHINESE)
    pages = {found.file.src_uri: found.file.url for found in nav.pages}
    target = pages.get(other, "./" if chinese else CHINESE)
    here = page.file.url
    links = {"en": target if chinese else here, "zh": here if chinese else target}
    for entry in config.extra["alternate"]:
        entry["link"] = links[entry["lang"]]
    config.theme["language"] = "zh" if chinese else "en"
    return context
