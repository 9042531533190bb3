"""Running a program with an eye on its functions."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

import sagax._report.page as page
from sagax._report.facts import gather
from sagax._src.api import compile_log

__all__ = ["reporting"]


@contextlib.contextmanager
def reporting(path: str, script: str) -> Iterator[None]:
    """Write a page about what is compiled and run inside of the block, also when that fails."""
    start = time.perf_counter()
    compile_log.keep_programs(True)
    try:
        yield
    finally:
        seconds = time.perf_counter() - start
        compile_log.keep_programs(False)
        title = f"{os.path.basename(script)}: where the time goes"
        text = page.write(gather(compile_log.counters()), title, seconds)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"sagax: the report is in {path}", file=sys.stderr)
