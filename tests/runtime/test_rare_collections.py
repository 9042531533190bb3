"""Full garbage collections are rarer while programs are traced and lowered, and as usual afterwards."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import sagax
import sagax.numpy as snp

USUAL = (900, 11, 12)
RARE = (900, 11, 1200)


@pytest.fixture(autouse=True)
def limits():
    before = gc.get_threshold()
    gc.set_threshold(*USUAL)
    yield
    gc.set_threshold(*before)


def test_tracing_and_lowering_make_full_collections_rarer():
    seen = []

    def f(x):
        seen.append(gc.get_threshold())
        sagax.jit(lambda y: y + 1)(x)  # a program within this one
        seen.append(gc.get_threshold())
        return x * 2

    traced = sagax.jit(f).trace(1.0)
    assert seen == [RARE, RARE]
    assert gc.get_threshold() == USUAL
    lowered = traced.lower()
    assert gc.get_threshold() == USUAL
    assert lowered.compile()(1.0) == 2.0
    assert sagax.grad(lambda x: sagax.jit(f)(x))(1.0) == 2.0
    assert seen == [RARE] * len(seen)
    assert gc.get_threshold() == USUAL


def test_lowering_rules_meet_the_rarer_limits(monkeypatch):
    from sagax._src.runtime import compile as compiling

    seen = []
    prepared = compiling.passes.prepared

    def noting(*args):
        seen.append(gc.get_threshold())
        return prepared(*args)

    monkeypatch.setattr(compiling.passes, "prepared", noting)
    sagax.jit(lambda x: x * 3)(snp.ones(4)).block_until_ready()
    assert seen == [RARE]
    assert gc.get_threshold() == USUAL


def test_errors_put_the_limits_back():
    def fails(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sagax.jit(fails)(1.0)
    assert gc.get_threshold() == USUAL


def test_limits_that_the_function_sets_stay():
    def f(x):
        gc.set_threshold(500, 5, 5)
        return x + 1

    sagax.jit(f)(1.0)
    assert gc.get_threshold() == (500, 5, 5)
    sagax.jit(lambda x: x - 1)(1.0)
    assert gc.get_threshold() == (500, 5, 5)


def test_collections_of_all_still_happen_on_request():
    class Node:
        me: object = None

    died = []

    def f(x):
        import weakref

        node = Node()
        node.me = node
        weakref.finalize(node, died.append, True)
        del node
        gc.collect()
        return x + 1

    sagax.jit(f)(1.0)
    assert died == [True]


def test_the_last_of_several_threads_puts_the_limits_back():
    inside, leave = threading.Barrier(3), threading.Event()

    def f(x):
        inside.wait(30)
        leave.wait(30)
        return x + 1

    threads = [threading.Thread(target=sagax.jit(lambda x: f(x)), args=(1.0,)) for _ in range(2)]
    for t in threads:
        t.start()
    inside.wait(30)
    sagax.jit(lambda x: x * 2)(1.0)  # ends while the others wait
    assert gc.get_threshold() == RARE
    leave.set()
    for t in threads:
        t.join()
    assert gc.get_threshold() == USUAL


def test_interrupts_leave_no_limits_behind(run_python):
    script = """
import gc, signal
import sagax
from sagax._src import garbage_collector
class Interrupt(BaseException): pass
def interrupt(*_): raise Interrupt
before = gc.get_threshold()
sagax.jit(lambda x: x + 1).trace(1.0).lower()
signal.signal(signal.SIGALRM, interrupt)
arrived = 0
for i in range(300):
    f = sagax.jit(lambda x, i=i: x * i + 1)
    try:
        signal.setitimer(signal.ITIMER_REAL, 2e-5 + i % 61 * 1e-5)
        while True:
            f.trace(1.0 * i).lower()
            f = sagax.jit(lambda x, i=i: x * i + 1)
    except Interrupt:
        arrived += 1
    assert not garbage_collector._waiting, i
sagax.jit(lambda x: x - 1).trace(1.0)
print(arrived, gc.get_threshold() == before)
"""
    done = run_python("-c", script)
    assert (done.stdout.strip(), done.stderr) == ("300 True", "")


def test_a_fork_forgets_the_threads_of_its_parent(run_python):
    script = """
import gc, os, threading
import sagax
before = gc.get_threshold()
inside, leave = threading.Event(), threading.Event()
def f(x):
    inside.set()
    leave.wait(30)
    return x
thread = threading.Thread(target=sagax.jit(f).trace, args=(1.0,))
thread.start()
inside.wait(30)
pid = os.fork()
if pid == 0:
    os._exit(0 if gc.get_threshold() == before else 1)
status = os.waitpid(pid, 0)[1]
rare = gc.get_threshold() != before
leave.set()
thread.join()
print(os.waitstatus_to_exitcode(status), rare, gc.get_threshold() == before)
"""
    done = run_python("-W", "ignore::DeprecationWarning", "-c", script)
    assert (done.stdout.strip(), done.stderr) == ("0 True True", "")


def test_a_large_program_is_lowered_without_a_full_collection():
    functions = [sagax.jit(lambda x, i=i: x * i + 1) for i in range(2000)]

    def program(x):
        for f in functions:
            x = f(x)
        return x

    gc.set_threshold(700, 2, 1)  # some 50 full ones otherwise
    full = []

    def note(phase, info):
        full.append(phase == "start" and info["generation"] == 2)

    gc.callbacks.append(note)
    try:
        lowered = sagax.jit(program).trace(np.float32(1.0)).lower()
    finally:
        gc.callbacks.remove(note)
    assert lowered.as_text().count("call @") == 2000
    assert len(full) > 100
    assert sum(full) <= 3
