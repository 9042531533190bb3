"""Write the table of exportable operations in docs/export.md from the rows that the tests run.

python scripts/export_table.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from export_operations import REFUSED, ROWS  # noqa: E402


def table() -> str:
    """The rows as Markdown."""
    lines = ["| operation | shapes of the arguments |", "|---|---|"]
    for row in ROWS:
        shapes = "; ".join(f"({spec.partition(':')[0]})" for spec in row.specs)
        where = f", {', '.join(row.constraints)}" if row.constraints else ""
        lines.append(f"| {row.name} | {shapes}{where} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with the table and the list of refused operations brought up to date."""
    text = re.sub(
        r"(compares with the function itself\.\n\n).*?(\n\nThese need)",
        lambda m: m[1] + table() + m[2],
        text,
        flags=re.S,
    )
    refused = "; ".join(row.name for row in REFUSED)
    return re.sub(
        r"(between them \(.*?\), and raise otherwise: ).*?(; `bitcast)",
        lambda m: m[1] + refused + m[2],
        text,
    )


if __name__ == "__main__":
    path = ROOT / "docs" / "export.md"
    path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")
