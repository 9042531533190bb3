"""Run scripts in processes of their own, for what only a run tells."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["RunError", "compilations", "explain"]

_SECONDS = 300.0


class RunError(Exception):
    """A script could not be run to its end; the message tells why."""


async def explain(path: str) -> dict[str, Any] | None:
    """Return what `sagax explain --json` finds, None if there is nothing to explain."""
    status, out, err = await _run("-m", "sagax", "explain", "--json", path, within=path)
    if not out.strip():
        if status == 0:
            return None
        raise RunError(err.strip().rpartition("\n")[2] or f"sagax explain ended with {status}")
    found = json.loads(out.strip().rpartition("\n")[2])
    return found if found.get("primary") is not None or found.get("headline") else None


async def compilations(path: str) -> list[dict[str, Any]]:
    """Run a script; return the functions that it compiled."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "compilations.json")
        status, _, err = await _run("-m", "sagax._lsp.compilations", path, out, within=path)
        if not os.path.exists(out):
            last = err.strip().rpartition("\n")[2]
            raise RunError(last or f"the script ended with {status}")
        return json.loads(Path(out).read_text(encoding="utf-8"))


async def _run(*arguments: str, within: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=os.path.dirname(os.path.abspath(within)),
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), _SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise RunError(f"it did not end within {_SECONDS:.0f} seconds") from None
    status = process.returncode
    assert status is not None
    return status, out.decode(errors="replace"), err.decode(errors="replace")
