"""Attacks: what may happen to a process at any moment, from a seed. Nothing may abort, hang or give wrong bits.

Each attack is a generator. It yields once for each try, and raises where something is wrong. `make attack` runs all
of them for minutes, each in a process of its own; the tests run a few tries of each.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src.runtime.distributed import messages
from sagax._src.runtime.distributed.coordination import (
    ClusterTerms,
    CoordinationClient,
    CoordinationServer,
    EventLoopThread,
)

Attack = Callable[[random.Random], Iterator[None]]


class Interrupt(BaseException):
    """What the signal handler of a user raises."""


def _calculation() -> list[float]:
    """Return the result of a small program that traces, compiles, differentiates, maps and runs."""

    def f(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, c: snp.sin(c) * x + i, x).sum()

    x = snp.linspace(0.1, 1.0, 7)
    grads = sagax.jit(sagax.grad(f))(x)
    return [float(f(x)), *np.asarray(grads, float), *np.asarray(sagax.vmap(f)(x), float)]


# --- interrupts -----------------------------------------------------------------------------------


def _traces_long() -> None:
    def chain(x: Any) -> Any:
        for _ in range(1500):
            x = snp.sin(x) + 1
        return x

    sagax.make_jaxpr(sagax.grad(lambda x: chain(x).sum()))(snp.ones(3))


def _compiles() -> None:
    scale = time.perf_counter()
    sagax.jit(lambda x: snp.linalg.inv(snp.cos(x) @ x * scale))(snp.ones((4, 4)))


def _runs_long() -> None:
    _loop(snp.ones((200, 200)), 400).block_until_ready()


@sagax.jit
def _loop(a: Any, n: Any) -> Any:
    return lax.fori_loop(0, n, lambda i, a: a @ a / 200, a)


def _calls_back() -> None:
    def slow(x: Any) -> Any:
        time.sleep(0.02)
        return x

    shape = sagax.ShapeDtypeStruct((3,), np.float32)
    _ = np.asarray(sagax.jit(lambda x: sagax.pure_callback(slow, shape, x))(snp.ones(3)))


def _runs_eagerly() -> None:
    x = snp.arange(5.0)
    for _ in range(300):
        x = snp.where(x > 2, x * 0.5, x + 1)


def _collects_garbage() -> None:
    for _ in range(300):
        gc.collect(0)


INTERRUPTED = (_traces_long, _compiles, _runs_long, _calls_back, _runs_eagerly, _collects_garbage)
_LATENCY = 1.0  # seconds from a signal to its handler, in what runs


def _seconds_without_processor() -> float:
    """Return how long this thread was ready to run, and the system ran others; 0 where it does not say."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _repeat(work: Callable[[], None], until: float) -> None:
    # a function of its own: `try` of Python 3.13 does not cover the jump back of a `while` that it ends with
    while time.monotonic() < until:
        work()


def interrupts(rng: random.Random) -> Iterator[None]:
    """Raise in a signal handler at any time: it arrives soon, as itself, and the next call is right."""
    expected = _calculation()
    arrived_at = waited = 0.0

    def interrupt(*_: Any) -> None:
        nonlocal arrived_at, waited
        arrived_at = time.monotonic()
        waited = _seconds_without_processor() - waited
        raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        while True:
            work = rng.choice(INTERRUPTED)
            delay = rng.uniform(0.0005, 0.3)
            start, arrived_at, waited = time.monotonic(), 0.0, _seconds_without_processor()
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                _repeat(work, start + 30)
            except Interrupt:
                pass
            # not counted: what this thread waited, since the signal, for a processor that ran others
            late = arrived_at - start - delay - max(0.0, waited - delay)
            assert arrived_at, f"the signal in {work.__name__} never arrived"
            assert late < _LATENCY, f"the signal in {work.__name__} arrived {late:.2f} s late"
            assert _calculation() == expected, work.__name__
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --- forks ----------------------------------------------------------------------------------------

_FORK_PROGRAM = """
import faulthandler, os, random, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")
import numpy as np, sagax, sagax.numpy as snp
rng = random.Random({seed})
x = snp.arange(5.0)
f = sagax.jit(lambda x: snp.sin(x) * 2)
uses = [
    lambda: f(x), lambda: x + 1, lambda: sagax.jit(lambda x: x * rng.random())(x), lambda: snp.zeros(3),
    lambda: sagax.grad(lambda x: (x * x).sum())(x), lambda: sagax.random.normal(sagax.random.key(0)),
    lambda: np.asarray(x), lambda: repr(x), lambda: sagax.devices(), lambda: x.sum(), lambda: sagax.clear_caches(),
    lambda: sagax.make_jaxpr(f)(np.ones(3)), lambda: snp.linalg.inv(np.eye(3)), lambda: x[1:], lambda: hash(f),
]
before = rng.sample(uses, rng.randrange(4))
[use() for use in before]
stop = False
def busy():
    while not stop:
        sagax.jit(lambda x: snp.cos(x) * time.perf_counter())(x)
threads = [threading.Thread(target=busy, daemon=True) for _ in range(rng.randrange(3))]
[t.start() for t in threads]
for _ in range(4):
    time.sleep(rng.random() * 0.02)
    pid = os.fork()
    if pid == 0:
        faulthandler.dump_traceback_later(15)  # where a child stands that hangs
        signal.alarm(20)
        code = 3
        for use in rng.sample(uses, 5):
            try:
                use()
            except sagax.errors.ForkError:
                pass
            except BaseException as error:
                print(type(error), error, flush=True)
                code = 4
        os._exit(code)
    rng.random()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 3, status
stop = True
[t.join() for t in threads]
assert np.asarray(f(x))[0] == 0
"""


def forks(rng: random.Random) -> Iterator[None]:
    """Fork at any time: each use in the child works or raises ForkError."""
    while True:
        _run_program(_FORK_PROGRAM.format(seed=rng.randrange(1 << 30)), 0)
        yield


def _run_program(program: str, status: int, seconds: float = 120) -> str:
    """Run a program in a process of its own; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == status, (done.returncode, done.stdout[-500:], done.stderr[-2000:])
    assert "terminate called" not in done.stderr
    return done.stdout


# --- the end of a process ---------------------------------------------------------------------------

_EXIT_PROGRAM = """
import random, sys, threading, time
import numpy as np, sagax, sagax.numpy as snp
rng = random.Random({seed})
x = snp.ones((300, 300))
loop = sagax.jit(lambda a, n: sagax.lax.fori_loop(0, n, lambda i, a: a @ a / 300, a))
loop(x, 1).block_until_ready()
def compiles():
    while True:
        sagax.jit(lambda x: snp.cos(x) * time.perf_counter())(x)
def prints():
    sagax.debug.print("printed {{}}", x[0, 0])
    sagax.jit(lambda x: sagax.debug.print("traced {{}}", x[0, 0]))(x)
def calls_back():
    sagax.jit(lambda x: sagax.debug.callback(lambda v: time.sleep(0.2), x[0, 0]))(x)
ends = [
    lambda: loop(x, 300), lambda: threading.Thread(target=compiles, daemon=True).start(), calls_back,
    lambda: threading.Thread(target=lambda: loop(x, 200).block_until_ready(), daemon=True).start(),
]
for end in rng.sample(ends, rng.randrange(4)):
    end()
prints()
time.sleep(rng.random() * 0.05)
print("last line", time.time())
way = {way}
if way == 1:
    raise ValueError("the user's")
sys.exit(way)
"""


def exits(rng: random.Random) -> Iterator[None]:
    """End a process that still computes: its own exit status, all that was printed, within seconds."""
    while True:
        way = rng.choice([0, 1, 7])
        out = _run_program(_EXIT_PROGRAM.format(seed=rng.randrange(1 << 30), way=way), way)
        ended = time.time() - float(out.split("last line")[1].split()[0])
        assert "printed 1.0" in out and "traced 1.0" in out, out
        assert ended < 6, f"the process ended {ended:.1f} s after its last line"
        yield


# --- threads --------------------------------------------------------------------------------------


def _programs() -> list[Callable[[], list]]:
    """Return small programs with results that never change."""
    x = np.linspace(0, 1, 11, dtype=np.float32)

    def raises() -> list:
        try:
            sagax.jit(lambda x: x if x > 0 else -x)(1.0)
        except sagax.errors.TracerBoolConversionError:
            return [1]
        return [0]

    def with_settings() -> list:
        with sagax.enable_x64(True):
            return [
                str(snp.asarray(1.5).dtype),
                str(sagax.jit(lambda: snp.arange(3) * 0.5)().dtype),
            ]

    def with_pytree() -> list:
        kind = type("Pair", (), {})
        sagax.tree_util.register_pytree_node(
            kind, lambda p: ((p.x,), None), lambda _, x: _pair(kind, x)
        )
        return np.asarray(sagax.jit(lambda p: p.x * 2)(_pair(kind, (x,)))).tolist()

    def clears() -> list:
        sagax.clear_caches()
        return []

    return [
        _calculation,
        lambda: np.asarray(sagax.jit(lambda x: snp.cumsum(snp.exp(x)))(x)).tolist(),
        lambda: np.asarray(sagax.jacfwd(lambda x: snp.sin(x) @ x)(x)).tolist(),
        lambda: np.asarray(sagax.hessian(lambda x: (x**3).sum())(x[:3])).tolist(),
        lambda: np.asarray(sagax.random.normal(sagax.random.key(3), (4,))).tolist(),
        lambda: np.asarray(snp.sort(-snp.asarray(x)) + 1).tolist(),
        lambda: [str(sagax.make_jaxpr(lambda x: lax.scan(lambda c, v: (c + v, c), x, x))(x))],
        raises,
        with_settings,
        with_pytree,
        clears,
    ]


def _pair(kind: Any, leaves: Any) -> Any:
    pair = kind()
    (pair.x,) = leaves
    return pair


def threads(rng: random.Random) -> Iterator[None]:
    """Run programs in 16 threads: each gives the bits that it gives alone."""
    programs = _programs()
    expected = [program() for program in programs]
    while True:
        failures: list[str] = []
        orders = [[rng.randrange(len(programs)) for _ in range(6)] for _ in range(16)]

        def work(order: list[int], failures: list[str] = failures) -> None:
            for i in order:
                try:
                    found = programs[i]()
                except BaseException as error:
                    failures.append(f"program {i}: {error!r}")
                else:
                    if found != expected[i]:
                        failures.append(f"program {i}: {found} instead of {expected[i]}")

        running = [threading.Thread(target=work, args=(order,), daemon=True) for order in orders]
        for thread in running:
            thread.start()
        end = time.monotonic() + 120
        for thread in running:
            thread.join(max(0.0, end - time.monotonic()))
        assert not any(thread.is_alive() for thread in running), "threads hang"
        assert not failures, failures[:3]
        yield


# --- files ----------------------------------------------------------------------------------------


def caches(rng: random.Random) -> Iterator[None]:
    """Damage the files of the compilation cache: the results stay."""
    expected = _calculation()
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.ExitStack() as settings:
            old = sagax.config.jax_compilation_cache_dir
            settings.callback(sagax.config.update, "jax_compilation_cache_dir", old)
            sagax.config.update("jax_compilation_cache_dir", folder)
            while True:
                sagax.clear_caches()
                assert _calculation() == expected
                files = sorted(p for p in Path(folder).rglob("*") if p.is_file())
                for path in rng.sample(files, min(len(files), 3)):
                    _damage(rng, path)
                yield


def _damage(rng: random.Random, path: Path) -> None:
    data = bytearray(path.read_bytes())
    kind = rng.randrange(5)
    if kind == 0:
        path.unlink()
    elif kind == 1:
        path.write_bytes(data[: rng.randrange(len(data) + 1)])
    elif kind == 2 and data:
        for _ in range(rng.randrange(1, 9)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
    elif kind == 3:
        path.write_bytes(data + rng.randbytes(100))
    else:
        when = time.time() + rng.uniform(-1e8, 1e8)
        os.utime(path, (when, when))


# --- strangers at the port of the coordinator -------------------------------------------------------


def coordinator(rng: random.Random) -> Iterator[None]:
    """Send changed messages to process 0, a hundred for each try: the job begins, works and ends."""
    while True:
        loop = EventLoopThread()
        server = CoordinationServer(ClusterTerms(2, 60.0, 60.0), "\0nowhere")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        loop.run(server.listen("127.0.0.1", port))
        members = [CoordinationClient(i, ClusterTerms(2, 60.0, 60.0)) for i in range(2)]
        address = f"127.0.0.1:{port}"
        first = loop.submit(members[0].join("127.0.0.1", port, address))
        while 0 not in server.connections:
            time.sleep(0.001)
        open_ones: list[socket.socket] = []
        for _ in range(100):
            stranger = socket.create_connection(("127.0.0.1", port))
            with contextlib.suppress(OSError):
                stranger.sendall(_mutated(rng))
            open_ones.append(stranger)
            if rng.random() < 0.8:
                open_ones.pop(rng.randrange(len(open_ones))).close()
        loop.run(members[1].join("127.0.0.1", port, address), 30)
        first.result(30)
        points = [loop.submit(m.wait_at_barrier("a")) for m in members]
        assert [p.result(30) for p in points] == [None, None]
        for done in [loop.submit(m.leave()) for m in members]:
            done.result(30)
        for stranger in open_ones:
            stranger.close()
        loop.run(server.stop())
        loop.close()
        yield


def _mutated(rng: random.Random) -> bytes:
    """Return a message with a value, a byte or its length changed; never the one that process 1 sends."""
    number = rng.choice([0, 2, 5, -1, 2**31, 2**70])
    message: dict[str, Any] = {"say": rng.choice([*messages.REQUESTS, "", "welcome", "x" * 100])}
    message.update(version=messages.VERSION, process=number, count=2, proof="")
    odd = [None, True, -1, 1.5, 2**64, "", "x" * 9000, [], {}, [[]] * 50, float("nan")]
    for _ in range(rng.randrange(3)):
        message[rng.choice([*message, "at", "calls", "text", "\0"])] = rng.choice(odd)
    if message["process"] is True:
        message["process"] = 2
    line = bytearray(json.dumps(message).encode() + b"\n")
    for _ in range(rng.randrange(3)):
        line[rng.randrange(len(line))] = rng.choice(b'[]{}",:\n\0\xff9e')
    if rng.random() < 0.05:
        line[:] = b"[" * rng.randrange(70_000) + b"\n"
    return bytes(line[: rng.randrange(len(line))] if rng.random() < 0.2 else line)


# --- deep programs ----------------------------------------------------------------------------------


@contextlib.contextmanager
def _recursion_limit(limit: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _nested(kind: str, depth: int) -> Any:
    """Return a function that adds 1 in each of `depth` nested functions of a kind."""

    def wrap(f: Any) -> Any:
        def function(x: Any) -> Any:
            return f(x) + 1

        if kind == "scan":
            return lambda x: sagax.lax.scan(lambda c, _: (function(c), None), x, None, length=1)[0]
        if kind == "custom":
            found = sagax.custom_jvp(function)
            found.defjvps(lambda t, out, x: t)
            return found
        return sagax.jit(function) if kind == "jit" else sagax.checkpoint(function)

    f = lambda x: x  # noqa: E731
    for _ in range(depth):
        f = wrap(f)
    return sagax.jit(f)


def deep(rng: random.Random) -> Iterator[None]:
    """Trace, differentiate and run programs that are long or deeply nested."""
    while True:
        n = rng.choice([300, 3000, 20_000])
        x = np.float32(rng.randrange(1, 9))

        def chain(x: Any, n: int = n) -> Any:
            for _ in range(n):
                x = x + 1
            return x

        assert len(sagax.make_jaxpr(chain)(x).eqns) == n
        if n <= 3000:
            assert float(sagax.grad(chain)(x)) == 1.0

        def nested(x: Any, depth: int) -> Any:
            return x + 1 if depth == 0 else sagax.jit(lambda x: nested(x, depth - 1))(x)

        depth = rng.choice([5, 50, 100])
        assert float(nested(x, depth)) == x + 1

        kind = rng.choice(["jit", "remat", "custom", "scan"])
        with _recursion_limit(50_000):
            depth = 120 if kind == "scan" else 500  # the engine compiles nested loops slowly
            assert float(_nested(kind, depth)(x)) == x + depth
            assert str(sagax.make_jaxpr(_nested(kind, 500))(x)).count("add") == 500

        def powers(x: Any) -> Any:
            return x**9 / 362880

        order = rng.randrange(1, 9)
        slope = powers
        for _ in range(order):
            slope = sagax.grad(slope)
        wanted = np.prod(np.arange(10 - order, 10.0)) / 362880
        assert abs(float(slope(1.0)) / wanted - 1) < 1e-5
        yield


ATTACKS: dict[str, Attack] = {
    f.__name__: f for f in (interrupts, forks, exits, threads, caches, coordinator, deep)
}
