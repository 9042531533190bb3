"""Forked processes: a new engine for one device, contents of arrays, and errors where neither is possible."""

from __future__ import annotations

import os

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

_SETUP = """
import os, signal, sys, threading, time, warnings
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
            print(type(error).__name__, error.args[0] if error.args else "", flush=True)
        sys.exit(3)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 3, status

double = sagax.jit(lambda x: snp.sin(x) * 2)
small = snp.arange(3.0)
matrix = snp.ones((1500, 1500))
total = sagax.jit(lambda a: (a @ a).sum())
double(small), total(matrix).block_until_ready()
"""


def test_every_call_works_in_a_child(run_python):
    script = """
    forked(lambda: float(total(matrix)))  # parallel: needs the threads of the engine
    forked(lambda: double(small).round(2))
    forked(lambda: (small + 1, snp.linalg.inv(snp.eye(2) * 2).tolist()))
    forked(lambda: float(sagax.grad(lambda x: (x**2).sum())(small)[2]))
    forked(lambda: sagax.random.bits(sagax.random.key(0)).item() == bits)
    forked(lambda: forked(lambda: float(total(matrix))))
    print(float(total(matrix)))
    """.replace("\n    ", "\n")
    out = run_python(
        "-c", _SETUP + "bits = sagax.random.bits(sagax.random.key(0)).item()\n" + script
    )
    expected = ["3375000000.0", "[0.   1.68 1.82]"]
    lines = out.stdout.splitlines()
    assert lines[:2] == expected
    assert lines[2] == "(Array([1., 2., 3.], dtype=float32), [[0.5, 0.0], [0.0, 0.5]])"
    assert lines[3:] == ["4.0", "True", "3375000000.0", "None", "3375000000.0"]


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
    forked(lambda: sagax.jit(lambda x: x + n)(np.float32(1)).item())
stop = True
[t.join() for t in threads]
"""
    out = run_python("-c", _SETUP + script)
    assert out.stdout.split() == [f"{1.0 + n}" for n in range(8)]


def test_pools_of_processes_work(run_python):
    script = """
import multiprocessing
def work(n): return float(total(matrix)) + n
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, range(3)))
"""
    out = run_python("-c", _SETUP + script)
    assert out.stdout.strip() == "[3375000000.0, 3375000001.0, 3375000002.0]"


def test_what_only_the_parent_can_use_raises(run_python):
    script = """
compiled = double.lower(small).compile()
forked(lambda: compiled(small))
slow = sagax.jit(lambda a: sagax.lax.fori_loop(0, 30, lambda i, a: a @ a / 1500, a))
slow.lower(matrix).compile()
slow(matrix).block_until_ready()
pending = slow(matrix)
forked(lambda: pending[0, 0].item())
print(pending[0, 0].item())
"""
    out = run_python("-c", _SETUP + script)
    lines = out.stdout.splitlines()
    assert lines[0].startswith("ForkError this function was compiled ahead of time")
    assert lines[1].startswith("ForkError this process was forked while") or lines[1] == "1.0"
    assert lines[2] == "1.0"


def test_several_devices_are_refused_by_name(run_python):
    script = """
forked(lambda: double(small + 1))
forked(lambda: small.tolist())
"""
    out = run_python(
        "-c", _SETUP + script, env={"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    )
    lines = out.stdout.splitlines()
    assert lines[0].startswith("ForkError this process was forked after sagax had started")
    assert lines[1] == "[0.0, 1.0, 2.0]"
