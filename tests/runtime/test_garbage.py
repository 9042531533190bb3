"""Garbage collection of the engine's objects: interrupts during it are never lost."""

from __future__ import annotations

import gc
import signal
import sys
import weakref

import numpy as np
import pytest

import sagax
from sagax._src.xla.load import load


def test_interrupts_during_garbage_collection_arrive(run_python):
    script = """
import gc, signal
import sagax.numpy as snp
class Interrupt(BaseException): pass
def interrupt(*_): raise Interrupt
snp.ones(3).block_until_ready()
signal.signal(signal.SIGALRM, interrupt)
arrived = 0
for i in range(60):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005 + i % 37 * 1e-5)
        for _ in range(200_000):
            gc.collect(0)
    except Interrupt:
        arrived += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
print(arrived)
"""
    done = run_python("-c", script)
    assert (done.stdout.strip(), done.stderr) == ("60", "")


def test_objects_that_the_engine_releases_are_freed():
    """An array shared with the engine, whose last user is a thread of the engine."""
    host = np.arange(1 << 20, dtype=np.float32)
    alive = weakref.ref(host)
    x = sagax.device_put(host)
    (x + 1).block_until_ready()
    del x, host
    gc.collect()
    assert alive() is None


def test_interrupts_leave_imports_of_the_engine_alone(tmp_path, monkeypatch):
    """An extension that defines its classes as a handler raises would abort the process."""
    body = (
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGALRM)\ntime.sleep(0.1)\ndone = 1\n"
    )
    (tmp_path / "sends_a_signal.py").write_text(body)
    monkeypatch.syspath_prepend(tmp_path)

    class InterruptError(Exception):
        pass

    def interrupt(*_):
        raise InterruptError

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(InterruptError):
            load("sends_a_signal")
        assert load("sends_a_signal").done == 1  # the import went on: there is no second signal
    finally:
        signal.signal(signal.SIGALRM, before)
        sys.modules.pop("sends_a_signal", None)


def test_errors_of_imports_are_those_of_the_module(tmp_path, monkeypatch):
    (tmp_path / "divides_by_zero.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ZeroDivisionError):
        load("divides_by_zero")
    with pytest.raises(ModuleNotFoundError, match="not_there"):
        load("not_there")
