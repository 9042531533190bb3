"""Join the other processes, wait for them, and survive their failure.

While a program runs on devices of several processes, the calling thread never waits inside the
engine: the engine would wait for a dead process for ever. It looks again and again whether the
results are there, and raises when a process is lost that was needed for them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sagax._src import config, xla
from sagax._src.diagnostics.errors import ArgumentValueError, SagaxError
from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING:
    from sagax._src.runtime.distributed.coordination import Host, Loop, Member


@lazy_imports
def _() -> None:
    global coordination, queue, secrets, socket
    import queue
    import secrets
    import socket

    from sagax._src.runtime.distributed import coordination


class DistributedError(SagaxError, RuntimeError):
    """Processes that should work together do not come together, or one of them is lost.

    `processes` are the numbers of those that are missing, as far as that is known.
    """

    code = "SX0220"

    def __init__(
        self, message: str | None = None, /, *, processes: Sequence[int] = (), **facts: Any
    ) -> None:
        super().__init__(message, **facts)
        self.processes = tuple(processes)


DistributedError.__module__ = "sagax.errors"  # its public home

_RESULTS_ON_THE_WAY = 1.0  # seconds that results may still come after a process was lost
_NEWS = 5.0  # seconds that news of a lost process may come later than the engine's error
# The engine's own watch over processes ends them all; in its place stands that of the meeting.
_NEVER = 100_000_000
# What the engine says when another process has closed its connection.
_BROKEN = re.compile(r"Gloo|NCCL|[Cc]onnection (closed|reset|refused)|Socket closed|Broken pipe")


class Session:
    """What this process has while it works with others: its seat in the meeting, and the engine's store."""

    def __init__(
        self, member: Member, loop: Loop, host: Host | None, store: tuple[Any, ...]
    ) -> None:
        self.member = member
        self.loop = loop
        self.host = host
        self.service, self.client = store
        self.visible_devices: list[int] | None = None
        self._worker: _Worker | None = None
        self._one_at_a_time = threading.Lock()
        self._notices_sigterm = False
        self._connections: set[str] = set()
        self._connections_since: set[str] | None = None

    @property
    def process_id(self) -> int:
        return self.member.number

    @property
    def num_processes(self) -> int:
        return self.member.terms.count

    # -- waiting ----------------------------------------------------------------------------------

    def check(self, since: float | None = None) -> None:
        """Raises DistributedError if a process is lost, or has left although we wait for it.

        `since` is when the waiting began; None: nothing has begun that could still be completed.
        """
        member = self.member
        if not member.lost and not member.leaving:
            return
        now = time.monotonic()
        if member.lost and (since is None or now - member.lost_since > _RESULTS_ON_THE_WAY):
            raise self.loss()
        if since is not None and member.leaving:
            gone = [
                i
                for i, at in member.leaving.items()
                if i != member.number and now - max(at, since) > member.terms.silence
            ]
            if gone:
                raise DistributedError(
                    f"this process waits for {coordination.numbers(gone)} of {self.num_processes}, which "
                    f"{'has' if len(gone) == 1 else 'have'} reached the end of the program",
                    processes=gone,
                    fix="let all processes run the same programs on shared arrays, in the same order",
                )

    def loss(self) -> DistributedError:
        """The error that names the lost processes."""
        lost = self.member.lost
        reasons = sorted(set(lost.values()))
        text = f"{coordination.numbers(lost)} of {self.num_processes} {'was' if len(lost) == 1 else 'were'} lost"
        return DistributedError(
            f"{text}: {'; '.join(reasons)}",
            processes=sorted(lost),
            fix=f"look for the error of {coordination.numbers(lost)}, then start all processes again from the last checkpoint",
        )

    def wait(self, buffers: Sequence[Any]) -> None:
        """Waits until the buffers are made or have failed. Raises DistributedError."""
        since, pause = time.monotonic(), 20e-6
        for buffer in buffers:
            while not (xla.is_deleted(buffer) or xla.is_ready(buffer)):
                self.check(since)
                time.sleep(pause)
                pause = min(1.5 * pause, 2e-3)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """The function's result, from another thread, that a lost process does not keep us from leaving."""
        if self._worker is None:
            self._worker = _Worker()
        return self._worker.call(self.check, function, *args)

    def begin(self) -> set[str]:
        """To be called before a program opens connections to other processes, and `end` after it."""
        known = _open_sockets()
        self._connections_since = (
            known if self._connections_since is None else self._connections_since
        )
        return known

    def end(self, known: set[str]) -> None:
        self._connections |= _open_sockets() - known
        self._connections_since = None

    def let_go(self) -> None:
        """Frees the worker from a program that waits for a lost process, by closing its connections.

        A thread of Python's may not return from the engine while the interpreter ends: that aborts
        the process. And it would return when the other processes end.
        """
        if self._worker is None or self._worker.idle.wait(0.1):
            return
        ours = self._connections
        if self._connections_since is not None:
            ours = ours | (_open_sockets() - self._connections_since)
        for name in ours & _open_sockets():
            number = int(name.partition(" ")[0])
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as connection:
                connection.shutdown(socket.SHUT_RDWR)
        self._worker.idle.wait(_NEWS)

    def explain(self, error: BaseException) -> BaseException:
        """The error to raise where the engine failed: one about a lost process, if that was the reason."""
        if not isinstance(error, xla.EngineError) or not _BROKEN.search(str(error)):
            return error
        end = time.monotonic() + _NEWS
        while not self.member.lost and time.monotonic() < end:
            time.sleep(0.01)
        return self.loss() if self.member.lost else error

    # -- the engine -------------------------------------------------------------------------------

    def cpu_client(self, num_devices: int | None) -> Any:
        """The engine's client of this machine's CPU, together with the other processes'."""
        collectives = None
        if self.num_processes > 1 and config.current().cpu_collectives_implementation == "gloo":
            collectives = xla.distributed.gloo_collectives(self.client, self.member.local_address)
        return self._start(
            lambda: xla.client.make_cpu_client(
                num_devices,
                distributed=self.client,
                node_id=self.process_id,
                num_nodes=self.num_processes,
                collectives=collectives,
            )
        )

    def cuda_client(self, options: dict[str, Any]) -> Any:
        """The engine's client of this machine's GPUs, together with the other processes'."""
        options = {**options, "node_id": self.process_id, "num_nodes": self.num_processes}
        if self.visible_devices is not None:
            options["visible_devices"] = self.visible_devices
        return self._start(lambda: xla.cuda.make_client(options, distributed=self.client))

    def _start(self, make: Callable[[], Any]) -> Any:
        client = self.call(make)
        # To be freed, it would wait for programs that a lost process keeps from ending.
        xla.distributed.never_free(client)
        return client

    # -- meeting ----------------------------------------------------------------------------------

    def barrier(self, name: str) -> dict[int, str] | None:
        """Waits until all processes are here; the names they gave, by process, if these differ.

        Raises DistributedError if a process is lost or reaches the end of the program instead.
        """
        self.check()
        since = time.monotonic()
        with self._one_at_a_time:
            future = self.loop.submit(self.member.arrive(name))
            while True:
                try:
                    names = future.result(0.05)
                    break
                except TimeoutError:
                    self.check(since)
        return {int(i): other for i, other in names.items()} if names else None

    def sync(self, name: str) -> None:
        """As `barrier`, but different names are a DistributedError."""
        names = self.barrier(name)
        if names:
            here = names[self.process_id]
            others = [i for i, other in names.items() if other != here]
            raise DistributedError(
                f"the processes have come to different points: {coordination.numbers(others)} to {names[others[0]]!r}, "
                f"process {self.process_id} to {here!r}",
                processes=others,
                fix="let all processes make the same calls, with arrays of the same types, in the same order",
            )

    def preemption_point(self) -> bool:
        """Whether all processes should save at this call, since one of them was told to end."""
        if not self._notices_sigterm:
            self._notices_sigterm = True
            earlier = signal.getsignal(signal.SIGTERM)

            def on_sigterm(number: int, frame: Any) -> None:
                signal.signal(signal.SIGTERM, earlier)  # a second one has its usual effect
                self.loop.submit(self.member.say_preempted())

            signal.signal(signal.SIGTERM, on_sigterm)
        member, since = self.member, time.monotonic()
        with member.lock:
            member.calls += 1
            call = member.calls
        while member.asked and member.save_at is None:
            self.check(since)
            time.sleep(1e-3)
        return call == member.save_at


def _open_sockets() -> set[str]:
    """The sockets of this process, as a number and what identifies it."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # closed meanwhile
            found.add(f"{number} {os.readlink(f'/proc/self/fd/{number}')}")
    return {name for name in found if " socket:" in name}


class _Worker:
    """A thread that runs one function after the other while its caller looks after other things."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self.idle = threading.Event()
        threading.Thread(target=self._run, name="sagax-worker", daemon=True).start()

    def _run(self) -> None:
        while True:
            self.idle.set()
            function, args, result, done = self._work.get()
            self.idle.clear()
            try:
                result["value"] = function(*args)
            except BaseException as error:  # handed to the caller
                result["error"] = error
            done.set()
            del function, args, result, done  # nothing of one call is kept alive until the next

    def call(self, check: Callable[[float | None], None], function: Any, *args: Any) -> Any:
        result: dict[str, Any] = {}
        done = threading.Event()
        self._work.put((function, args, result, done))
        since = time.monotonic()
        while not done.wait(0.05):
            check(since)
        if "error" in result:
            raise result["error"]
        return result["value"]


_session: Session | None = None


def session() -> Session | None:
    """The session of this process, or None while it works alone."""
    return _session


def _quiet_at_first(run: Callable[..., Any]) -> Callable[..., Any]:
    """`run` of a program on several devices of this process, among which gloo makes connections too."""
    begun = False

    def run_here(buffers: Sequence[Any]) -> Any:
        nonlocal begun
        if begun:
            return run(buffers)
        with xla.distributed.mute_cpp_stdout():
            outs = run(buffers)
            for b in outs:
                if isinstance(b, xla.Buffer):
                    b.block_until_ready()
        begun = True
        return outs

    return run_here


def watched(run: Callable[..., Any], devices: Sequence[Any]) -> Callable[..., Any]:
    """`run` of a program on the devices, made to raise when another process that it needs is lost."""
    here = _session
    if here is None:
        return run
    others = {d.process_index for d in devices} - {here.process_id}
    if not others:
        return run if len(devices) == 1 else _quiet_at_first(run)
    # With one device here the engine may run the program before it returns.
    inline = sum(d.process_index == here.process_id for d in devices) == 1
    begun = False

    def run_together(buffers: Sequence[Any]) -> Any:
        nonlocal begun
        if others & here.member.lost.keys():
            raise here.loss()
        if begun:
            return here.call(run, buffers) if inline else run(buffers)
        # The first time connections are made, of which gloo tells on standard output.
        known = here.begin()
        with xla.distributed.mute_cpp_stdout():
            outs = here.call(run, buffers) if inline else run(buffers)
            here.wait([b for b in outs if isinstance(b, xla.Buffer)])
        here.end(known)
        begun = True
        return outs

    return run_together


# --- joining and leaving ----------------------------------------------------------------------------


def _split(address: str, argument: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ArgumentValueError(
            function="distributed.initialize",
            argument=argument,
            expected="a host and a port, such as '10.0.0.1:1234'",
            got=repr(address),
        )
    return host, int(port)


def check_addresses(coordinator: str, bind: str | None) -> None:
    """Raises ArgumentValueError for what is no host and port."""
    _split(coordinator, "coordinator_address")
    if bind:
        _split(bind, "coordinator_bind_address")


def join(
    coordinator_address: str,
    num_processes: int,
    process_id: int,
    *,
    bind_address: str | None,
    arrival: float,
    silence: float,
    visible_devices: list[int] | None,
) -> None:
    """Meets the other processes. Raises DistributedError; then this process is alone as before."""
    global _session
    host, port = _split(coordinator_address, "coordinator_address")
    terms = coordination.Terms(num_processes, arrival, silence)
    loop, listening, service = coordination.Loop(), None, None
    member = coordination.Member(process_id, terms)
    path = f"sagax-{secrets.token_hex(16)}"  # in the kernel's abstract namespace: no file
    try:
        if process_id == 0:
            bound = (
                _split(bind_address, "coordinator_bind_address") if bind_address else (None, port)
            )
            everywhere = bound[0] in (None, "0.0.0.0", "::")
            service = xla.distributed.start_service(
                f"unix-abstract:{path}", num_processes, heartbeat_timeout=_NEVER
            )
            listening = coordination.Host(terms, f"\0{path}")
            _listen(loop, listening, None if everywhere else bound[0], bound[1])
            host, port = "127.0.0.1" if everywhere else str(bound[0]), bound[1]
        loop.run(member.join(host, port, coordinator_address))
        if process_id != 0:
            path = f"sagax-{secrets.token_hex(16)}"
            loop.run(member.serve_store(f"\0{path}", host, port))
    except coordination.MeetingError as error:
        if listening is not None:
            loop.run(listening.stop())
        raise DistributedError(
            error.text,
            processes=error.missing,
            fix=error.fix,
            function="distributed.initialize",
        ) from None
    client = xla.distributed.make_client(
        f"unix-abstract:{path}",
        process_id,
        init_timeout=max(1, int(arrival)),
        heartbeat_timeout=_NEVER,
        shutdown_on_destruction=False,
    )
    xla.distributed.never_free(service, client)
    made = Session(member, loop, listening, (service, client))
    made.visible_devices = visible_devices
    made.call(client.connect)
    _session = made
    xla.set_wait(made.wait)
    xla.set_explain(made.explain)


def _listen(loop: Loop, listening: Host, host: str | None, port: int) -> None:
    try:
        loop.run(listening.listen(host, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise coordination.MeetingError(
                f"process 0 cannot listen on port {port}: another program does",
                "give all processes a coordinator_address with another port; if an earlier run of "
                f"this program is still there, end it (`ss -ltnp sport = :{port}` shows it)",
            ) from None
        raise coordination.MeetingError(
            f"process 0 cannot listen on {host or 'all addresses'}, port {port}: {error.strerror or error}",
            "see that coordinator_address (or coordinator_bind_address) is an address of the machine "
            "on which process 0 runs",
        ) from None


def leave(timeout: float) -> None:
    """Waits until all processes want to leave, for `timeout` seconds at most, and then is alone.

    A process that ends with an exception does not wait: it tells the others. Raises
    DistributedError, naming them, if some processes did not come to their end in time.
    """
    global _session
    ended, _session = _session, None
    if ended is None:
        return
    member = ended.member
    failure = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    try:
        if failure is not None and not hasattr(sys, "ps1"):
            ended.loop.run(member.say_failed(_one_line(failure)), 5.0)
            return
        ended.loop.run(member.leave(), timeout)
    except TimeoutError:
        late = [
            i
            for i in range(ended.num_processes)
            if i not in member.leaving and i not in member.lost and i != member.number
        ]
        raise DistributedError(
            f"{coordination.numbers(late)} of {ended.num_processes} did not reach the end of the program within {timeout:g} s",
            function="distributed.shutdown",
            processes=late,
            fix="see whether they still compute; a larger shutdown_timeout_seconds waits longer",
        ) from None
    finally:
        ended.let_go()


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
