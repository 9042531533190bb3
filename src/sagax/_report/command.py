"""Record the compiled functions of a script, and write the report."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

import sagax._report.page as page
from sagax._report.facts import collect_facts
from sagax._report.measured import Recorder
from sagax._src import config
from sagax._src.api import compile_log
from sagax._src.diagnostics.wording import in_users_language, localized


@contextlib.contextmanager
def write_report(path: str, script: str) -> Iterator[None]:
    """Write a page about the functions compiled and run in the block, even if it raises."""
    start = time.perf_counter()
    recorder = Recorder()
    # an executable from the disk may have the line numbers of an earlier text
    cached = config.current().enable_compilation_cache
    config.update("enable_compilation_cache", False)
    compile_log.retain_jaxprs(True, recorder.run)
    recorder.start()
    try:
        yield
    finally:
        seconds = time.perf_counter() - start
        compile_log.retain_jaxprs(False)
        recorder.stop()
        config.update("enable_compilation_cache", cached)
        title = in_users_language("{script}: where the time goes", script=os.path.basename(script))
        facts = collect_facts(compile_log.counters(), recorder.profiles)
        text = page.render_page(facts, title, seconds, recorder.memory)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(localized(f"sagax: the report is in {path}"), file=sys.stderr)
