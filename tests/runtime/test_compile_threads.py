"""Work on a thread of its own; programs are compiled so."""

from __future__ import annotations

import contextvars
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sagax._src.runtime.compile_threads import run_on_worker

SOURCE = Path(__file__).resolve().parents[2] / "src"


def test_it_sees_the_context_and_gives_its_result():
    known = contextvars.ContextVar("known", default=0)
    known.set(7)
    here = threading.get_ident()
    assert run_on_worker(lambda: (known.get(), threading.get_ident() == here)) == (7, False)
    assert run_on_worker(lambda: None) is None


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_its_exception_is_raised_itself(kind):
    failure = kind("of the work")

    def fail() -> None:
        raise failure

    with pytest.raises(kind) as caught:
        run_on_worker(fail)
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


def test_threads_are_kept_and_not_shared():
    first = run_on_worker(threading.get_ident)
    assert run_on_worker(threading.get_ident) == first
    assert (
        len(set(run_on_worker(lambda: (threading.get_ident(), run_on_worker(threading.get_ident)))))
        == 2
    )
    together = threading.Barrier(2, timeout=60)
    found: list[int] = []

    def work() -> None:
        together.wait()
        found.append(threading.get_ident())

    callers = [threading.Thread(target=run_on_worker, args=(work,)) for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(set(found)) == 2


def ends(code: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    return done.returncode, done.stdout.strip() or done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_threads_of_its_own():
    code = """
import os
from sagax._src.runtime.compile_threads import run_on_worker
assert run_on_worker(os.getpid) == os.getpid()
child = os.fork()
if child == 0:
    os._exit(7 if run_on_worker(os.getpid) == os.getpid() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), run_on_worker(os.getpid) == os.getpid())
"""
    assert ends(code) == (0, "7 True")


def test_what_an_interrupt_left_at_work_is_finished_before_the_end():
    code = """
import signal, threading, time
from sagax._src.runtime.compile_threads import run_on_worker
signal.signal(signal.SIGINT, signal.default_int_handler)  # where processes in the background ignore it
def interrupt():
    time.sleep(0.3)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
def work():
    threading.Thread(target=interrupt).start()
    time.sleep(1.0)
    print("finished", flush=True)
try:
    run_on_worker(work)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    assert ends(code) == (0, "interrupted\nfinished")


def test_an_exception_of_a_signal_handler_is_raised_itself(run_python):
    """Also where it arrives in the start of a thread."""
    script = """
import signal
from sagax._src.runtime import compile_threads
class Interrupt(BaseException): pass
def interrupt(*_): raise Interrupt
signal.signal(signal.SIGALRM, interrupt)
arrived = 0
for i in range(300):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0002 + i * 1e-6)
        while True:
            compile_threads._idle.clear()
            assert compile_threads.run_on_worker(lambda: 1) == 1
    except Interrupt:
        arrived += 1
print(arrived, compile_threads.run_on_worker(lambda: 2))
"""
    done = run_python("-c", script)
    assert (done.stdout.strip(), done.stderr) == ("300 2", "")
