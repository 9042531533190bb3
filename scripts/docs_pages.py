"""Generate pages of the documentation: README and its like, and one page per public module.

This is a hook of mkdocs. The page of a module lists its public names; names that several modules share
are described on the first page.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
MODULES = (
    "sagax", "sagax.numpy", "sagax.numpy.linalg", "sagax.numpy.fft", "sagax.lax", "sagax.lax.linalg",
    "sagax.random", "sagax.nn", "sagax.nn.initializers", "sagax.scipy.special", "sagax.tree", "sagax.tree_util",
    "sagax.sharding", "sagax.distributed", "sagax.export", "sagax.debug", "sagax.errors", "sagax.dtypes",
    "sagax.scipy.stats", "sagax.scipy.linalg", "sagax.image", "sagax.ops", "sagax.ffi", "sagax.profiler", "sagax.stages", "sagax.dlpack",
    "sagax.custom_batching", "sagax.custom_derivatives", "sagax.flatten_util", "sagax.experimental", "sagax.experimental.checkify",
)  # fmt: skip

ASSUMED = "Examples assume `import numpy as np, sagax, sagax.numpy as snp`, and modules such as `lax` by their names."


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


def page(name: str, seen: dict[int, str]) -> str:
    """Write the page of a module, as Markdown."""
    module = importlib.import_module(name)
    lines = [f"# {name}", "", *paragraphs(inspect.getdoc(module) or ""), "", ASSUMED, ""]
    for member, value in public(module):
        home = seen.setdefault(id(value), f"{name}.{member}")
        lines += [f"## {member}", ""]
        if home != f"{name}.{member}":
            lines += [f"The same as `{home}`.", ""]
            continue
        kind = "class " if inspect.isclass(value) else ""
        lines += ["```python", f"{kind}{member}{signature(value)}", "```", ""]
        lines += [*paragraphs(inspect.getdoc(value) or ""), ""]
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


def on_config(config: Any) -> Any:
    """Append the pages of modules and of error codes to the navigation."""
    codes = sorted(path.name for path in (ROOT / "docs" / "errors").glob("SX*.md"))
    config.nav.append({"API": [{name: f"api/{name}.md"} for name in MODULES]})
    config.nav.append({"Error codes": [f"errors/{name}" for name in codes]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages to those of the folder."""
    for name, path in (
        ("README", "index"),
        ("CHANGELOG", "changelog"),
        ("CONTRIBUTING", "contributing"),
    ):
        page_of = of_the_project(f"{name}.md")
        files.append(File.generated(config, f"{path}.md", content=page_of))
    seen: dict[int, str] = {}
    for name in MODULES:
        path = f"api/{name}.md"
        files.append(File.generated(config, path, content=page(name, seen)))
    return files
