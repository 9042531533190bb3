"""Forked processes: contents of arrays stay, and what needs the engine raises at once."""

from __future__ import annotations

import os

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

_SETUP = """
import os, pickle, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import sagax, sagax.numpy as snp

def forked(work):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)  # a hang ends by a signal
        try:
            print(work(), flush=True)
        except Exception as error:
            print(type(error).__name__, str(error).splitlines()[0], flush=True)
        sys.exit(3)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 3, status

double = sagax.jit(lambda x: snp.sin(x) * 2)
small = snp.arange(3.0)
matrix = snp.ones((1500, 1500))
total = sagax.jit(lambda a: (a @ a).sum())
double(small), total(matrix).block_until_ready()
"""


def test_every_use_of_the_engine_raises_at_once(run_python):
    script = """
compiled = double.lower(small).compile()
constant = sagax.jit(lambda: snp.arange(5)).lower().compile()
forked(lambda: float(total(matrix)))  # parallel: would need the threads of the engine
forked(lambda: double(small))
forked(lambda: sagax.jit(lambda x: x * 3)(np.float32(1)))  # would be compiled
forked(lambda: small + 1)
forked(lambda: snp.zeros(3))
forked(lambda: sagax.grad(lambda x: (x**2).sum())(small))
forked(lambda: sagax.random.bits(sagax.random.key(0)))
forked(lambda: sagax.devices())
forked(lambda: forked(lambda: double(small)))
forked(lambda: constant())
print(float(total(matrix)), np.asarray(compiled(small)).round(1).tolist() == [0, np.float32(1.7), np.float32(1.8)])
"""
    lines = run_python("-c", _SETUP + script).stdout.splitlines()
    refused = "ForkError this process was forked after sagax had started its engine, whose threads"
    assert len(lines) == 12
    assert all(line.startswith(refused) for line in lines[:9])
    assert lines[9] == "None"  # of the inner process, which has printed its refusal
    assert lines[10].startswith("ForkError this function was compiled by the process")
    assert lines[11] == "3374999808.0 True"


def test_arrays_keep_their_contents(run_python):
    script = """
computed = sagax.jit(lambda x: x * 2)(small)
forked(lambda: (small.tolist(), np.asarray(computed).tolist(), float(matrix[0, 0].item())))
forked(lambda: repr(computed))
forked(lambda: (float(np.asarray(matrix).sum()), computed.shape, len(matrix), pickle.loads(pickle.dumps(small))))
"""
    lines = run_python("-c", _SETUP + script).stdout.splitlines()
    assert lines == [
        "([0.0, 1.0, 2.0], [0.0, 2.0, 4.0], 1.0)",
        "Array([0., 2., 4.], dtype=float32)",
        "(2250000.0, (3,), 1500, Array([0., 1., 2.], dtype=float32))",
    ]


def test_unfinished_arrays_are_named(run_python):
    script = """
slow = sagax.jit(lambda a: sagax.lax.fori_loop(0, 30, lambda i, a: a @ a / 1500, a))
slow.lower(matrix).compile()
slow(matrix).block_until_ready()
pending = slow(matrix)
forked(lambda: np.asarray(pending)[0, 0])
print(np.asarray(pending)[0, 0])
"""
    first, second = run_python("-c", _SETUP + script).stdout.splitlines()
    assert first.startswith("ForkError this process was forked while") or first == "1.0"
    assert second == "1.0"


def test_locks_of_other_threads_are_free_in_a_child(run_python):
    script = """
def busy():
    while not stop:
        sagax.jit(lambda x: snp.cos(x) + time.perf_counter())(small)
stop = False
threads = [threading.Thread(target=busy) for _ in range(3)]
[t.start() for t in threads]
for n in range(8):
    time.sleep(0.03)
    forked(lambda: (sagax.make_jaxpr(lambda x: x + n)(np.float32(1)).out_avals, small.sum))
    forked(lambda: sagax.jit(lambda x: x + n)(np.float32(1)))
stop = True
[t.join() for t in threads]
"""
    lines = run_python("-c", _SETUP + script).stdout.splitlines()
    assert len(lines) == 16
    assert all(line.startswith("ForkError this process was forked") for line in lines[1::2])


def test_no_thread_begins_an_import_while_another_forks(run_python, tmp_path):
    (tmp_path / "slow_module.py").write_text("import time; time.sleep(1); value = 7")
    program = f"""
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {str(tmp_path)!r})
begin, began = threading.Event(), []
def late():  # registered before those of sagax, it runs after them
    begin.set()
    time.sleep(0.3)
os.register_at_fork(before=late)
import sagax
from sagax._src.lazy_import import _load
def load():
    begin.wait()
    began.append(time.monotonic())
    _load("slow_module")
thread = threading.Thread(target=load)
thread.start()
pid = os.fork()
if pid == 0:
    signal.alarm(15)  # the import lock of the other thread would never be released
    os._exit(_load("slow_module").value)
thread.join()
assert began and sys.modules["slow_module"].value == 7
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert run_python("-c", program).stdout.split() == ["7"]


def test_garbage_collection_leaves_the_engine_alone_in_a_child(run_python):
    """A thread of the engine may hold its lock during the fork, and does not run in the child."""
    script = """
import gc, os, sys
import sagax.numpy as snp
def collected():
    return sum(type(c).__name__ == "partial" for c in gc.callbacks)
def look():  # a hook that collects garbage before sagax has detached the child
    gc.collect()
    print("in the child", collected(), flush=True)
os.register_at_fork(after_in_child=look)
snp.ones(3).block_until_ready()
print(collected(), flush=True)
for _ in range(2):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    print(collected(), flush=True)
"""
    done = run_python("-c", script)
    assert done.stdout.split("\n") == ["1", "in the child 0", "1", "in the child 0", "1", ""]


def test_pools_of_processes(run_python, tmp_path):
    """Those that fork raise in the parent; others work."""
    (tmp_path / "program.py").write_text("""
import multiprocessing, sys
import sagax, sagax.numpy as snp
def work(n):
    return float(sagax.jit(lambda x: x.sum() + n)(snp.ones(3)))
if __name__ == "__main__":
    work(0)
    for method in ("fork", "forkserver", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            try:
                print(method, pool.map(work, range(3)))
            except Exception as error:
                print(method, type(error).__name__)
""")
    out = run_python("-W", "ignore", str(tmp_path / "program.py")).stdout.splitlines()
    assert out == ["fork ForkError", "forkserver [3.0, 4.0, 5.0]", "spawn [3.0, 4.0, 5.0]"]


def test_a_fork_before_the_first_use_works(run_python):
    script = (
        _SETUP[: _SETUP.index("small = ")]
        + """
forked(lambda: np.asarray(double(snp.arange(3.0))).round(2))
print(np.asarray(double(snp.arange(3.0))).round(2))
"""
    )
    out = run_python("-c", script).stdout.splitlines()
    assert out == ["[0.   1.68 1.82]"] * 2


def test_several_devices_are_refused_by_name(run_python):
    script = """
parts = sagax.device_put(small, sagax.NamedSharding(sagax.make_mesh((2,), ("i",)), sagax.P()))
forked(lambda: double(small + 1))
forked(lambda: small.tolist())
forked(lambda: np.asarray(parts))
"""
    out = run_python(
        "-c", _SETUP + script, env={"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    )
    lines = out.stdout.splitlines()
    assert lines[0].startswith("ForkError this process was forked after sagax had started")
    assert lines[1] == "[0.0, 1.0, 2.0]"
    assert lines[2].startswith("ForkError this process was forked, and the devices")
