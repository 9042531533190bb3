"""Garbage collection of the engine's objects: interrupts during it are never lost."""

from __future__ import annotations

import gc
import weakref

import numpy as np

import sagax


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
