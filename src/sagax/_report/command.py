"""Record the compiled functions of a script, and write the report."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

import sagax._report.page as page
from sagax._report.facts import collect_facts
from sagax._src.api import compile_log
from sagax._src.diagnostics.wording import localized


@contextlib.contextmanager
def write_report(path: str, script: str) -> Iterator[None]:
    """Write a page about the functions compiled and run in the block, even if it raises."""
    start = time.perf_counter()
    compile_log.retain_jaxprs(True)
    try:
        yield
    finally:
        seconds = time.perf_counter() - start
        compile_log.retain_jaxprs(False)
        title = f"{os.path.basename(script)}: where the time goes"
        text = page.render_page(collect_facts(compile_log.counters()), title, seconds)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(localized(f"sagax: the report is in {path}"), file=sys.stderr)
