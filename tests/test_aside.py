"""Work on a thread of its own; programs are compiled so."""

from __future__ import annotations

import contextvars
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sagax._src.runtime.aside import aside

SOURCE = Path(__file__).resolve().parents[1] / "src"


def test_it_sees_the_context_and_gives_its_result():
    known = contextvars.ContextVar("known", default=0)
    known.set(7)
    here = threading.get_ident()
    assert aside(lambda: (known.get(), threading.get_ident() == here)) == (7, False)
    assert aside(lambda: None) is None


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_its_exception_is_raised_itself(kind):
    failure = kind("of the work")

    def fail() -> None:
        raise failure

    with pytest.raises(kind) as caught:
        aside(fail)
    assert caught.value is failure


def test_programs_can_be_compiled_while_the_interpreter_ends():
    code = """
import atexit, sagax
atexit.register(lambda: print(float(sagax.jit(lambda x: 2 * x + 1)(3.0))))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={
            **os.environ,
            "PYTHONPATH": str(SOURCE),
            "SAGAX_ENABLE_COMPILATION_CACHE": "0",
        },
    )
    assert (done.returncode, done.stdout.strip()) == (0, "7.0"), done.stderr
