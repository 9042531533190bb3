"""Connect this process to the others, synchronize with them, and report their failures.

While an executable runs on devices of several processes, the calling thread never blocks in the engine,
which would wait for a dead process forever. It polls the results, and raises when a process that they
depend on is lost.
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

from sagax._src import config, fork_locks, xla
from sagax._src.diagnostics.errors import ArgumentValueError, SagaxError
from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING:
    from sagax._src.runtime.distributed.coordination import (
        CoordinationClient,
        CoordinationServer,
        EventLoopThread,
    )


if TYPE_CHECKING or lazy_imports():
    import queue
    import secrets
    import socket

    from sagax._src.runtime.distributed import coordination, messages


class DistributedError(SagaxError, RuntimeError):
    """Processes that should work together do not come together, or one of them is lost.

    `processes` are the ids of missing ones, if known.
    """

    code = "SX0220"

    def __init__(
        self, message: str | None = None, /, *, processes: Sequence[int] = (), **facts: Any
    ) -> None:
        super().__init__(message, **facts)
        self.processes = tuple(processes)


DistributedError.__module__ = "sagax.errors"  # its public module

_RESULT_GRACE_PERIOD = 1.0  # seconds that results may take after a process was lost
# seconds that a lost process may be reported after the engine's error
_FAILURE_REPORT_TIMEOUT = 5.0
# The engine's own failure detection ends all processes; `coordination` replaces it.
_DISABLED_TIMEOUT = 100_000_000
# The engine's errors when another process has closed its connection.
_CONNECTION_ERROR = re.compile(
    r"Gloo|NCCL|[Cc]onnection (closed|reset|refused)|Socket closed|Broken pipe"
)


class Session:
    """Hold the state of a process in a cluster: its coordination client, and the engine's store."""

    def __init__(
        self,
        member: CoordinationClient,
        loop: EventLoopThread,
        host: CoordinationServer | None,
        store: tuple[Any, ...],
    ) -> None:
        self.member = member
        self.loop = loop
        self.host = host
        self.service, self.client = store
        self.visible_devices: list[int] | None = None
        self._worker: _Worker | None = None
        self._barrier_lock = fork_locks.lock()
        self._handles_sigterm = False
        self._connections: set[str] = set()
        self._connections_since: set[str] | None = None

    @property
    def process_id(self) -> int:
        return self.member.number

    @property
    def num_processes(self) -> int:
        return self.member.terms.count

    # -- waiting for results ----------------------------------------------------------------------

    def check(self, since: float | None = None) -> None:
        """Raise DistributedError if a process is lost, or has left although we wait for it.

        `since` is the time at which the wait began. Pass None if nothing was launched that could still complete.
        """
        member = self.member
        if not member.lost and not member.leaving:
            return
        now = time.monotonic()
        if member.lost and (since is None or now - member.lost_since > _RESULT_GRACE_PERIOD):
            raise self.loss()
        if since is not None and member.leaving:
            gone = [
                i
                for i, at in member.leaving.items()
                if i != member.number and now - max(at, since) > member.terms.heartbeat_timeout
            ]
            if gone:
                raise DistributedError(
                    f"this process waits for {coordination.format_processes(gone)} of {self.num_processes}, which "
                    f"{'has' if len(gone) == 1 else 'have'} reached the end of the program",
                    processes=gone,
                    fix="let all processes run the same programs on shared arrays, in the same order",
                )

    def loss(self) -> DistributedError:
        """Return the error that names the lost processes."""
        lost = self.member.lost
        reasons = sorted(set(lost.values()))
        text = f"{coordination.format_processes(lost)} of {self.num_processes} {'was' if len(lost) == 1 else 'were'} lost"
        return DistributedError(
            f"{text}: {'; '.join(reasons)}",
            processes=sorted(lost),
            fix=f"look for the error of {coordination.format_processes(lost)}, then start all processes again from the last checkpoint",
        )

    def wait(self, buffers: Sequence[Any]) -> None:
        """Wait until the buffers are ready or have failed. Raises DistributedError."""
        since, pause = time.monotonic(), 20e-6
        for buffer in buffers:
            while not (xla.is_deleted(buffer) or xla.is_ready(buffer)):
                self.check(since)
                time.sleep(pause)
                pause = min(1.5 * pause, 2e-3)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a function in another thread, and stop waiting if a process is lost."""
        if self._worker is None:
            self._worker = _Worker()
        return self._worker.call(self.check, function, *args)

    def begin_connecting(self) -> set[str]:
        """Mark that connections to other processes are being opened, until `end`."""
        known = _open_sockets()
        self._connections_since = (
            known if self._connections_since is None else self._connections_since
        )
        return known

    def end_connecting(self, known: set[str]) -> None:
        self._connections |= _open_sockets() - known
        self._connections_since = None

    def release_worker(self) -> None:
        """Unblock a worker that waits for a lost process, by closing its connections.

        A thread that returns from the engine while the interpreter shuts down aborts the process, and
        this one would return when the other processes end.
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
        self._worker.idle.wait(_FAILURE_REPORT_TIMEOUT)

    def explain(self, error: BaseException) -> BaseException:
        """Return the error to raise for a failure of the engine, about a lost process if one caused it."""
        if not isinstance(error, xla.EngineError) or not _CONNECTION_ERROR.search(str(error)):
            return error
        end = time.monotonic() + _FAILURE_REPORT_TIMEOUT
        while not self.member.lost and time.monotonic() < end:
            time.sleep(0.01)
        return self.loss() if self.member.lost else error

    # -- the engine -------------------------------------------------------------------------------

    def cpu_client(self, num_devices: int | None) -> Any:
        """Create the CPU client that is connected to those of the other processes."""
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
        """Create the GPU client that is connected to those of the other processes."""
        options = {**options, "node_id": self.process_id, "num_nodes": self.num_processes}
        if self.visible_devices is not None:
            options["visible_devices"] = self.visible_devices
        return self._start(lambda: xla.cuda.make_client(options, distributed=self.client))

    def _start(self, make: Callable[[], Any]) -> Any:
        client = self.call(make)
        # Its destructor would wait for executables that a lost process blocks.
        xla.distributed.never_free(client)
        return client

    # -- barriers ---------------------------------------------------------------------------------

    def barrier(self, name: str) -> dict[int, str] | None:
        """Wait for all processes; return their barrier names, by process, if these differ.

        Raises DistributedError if a process is lost or ends.
        """
        self.check()
        since = time.monotonic()
        with self._barrier_lock:
            future = self.loop.submit(self.member.wait_at_barrier(name))
            while True:
                try:
                    names = future.result(0.05)
                    break
                except TimeoutError:
                    self.check(since)
        return {int(i): other for i, other in names.items()} if names else None

    def sync(self, name: str) -> None:
        """Wait at a barrier, and raise DistributedError if the processes' names differ."""
        names = self.barrier(name)
        if names:
            here = names[self.process_id]
            others = [i for i, other in names.items() if other != here]
            raise DistributedError(
                f"the processes have come to different points: {coordination.format_processes(others)} to {names[others[0]]!r}, "
                f"process {self.process_id} to {here!r}",
                processes=others,
                fix="let all processes make the same calls, with arrays of the same types, in the same order",
            )

    def preemption_point(self) -> bool:
        """Return whether all processes should save at this call, since one received a preemption signal."""
        if not self._handles_sigterm:
            self._handles_sigterm = True
            earlier = signal.getsignal(signal.SIGTERM)

            def on_sigterm(number: int, frame: Any) -> None:
                signal.signal(signal.SIGTERM, earlier)  # a second one has its usual effect
                self.loop.submit(self.member.report_preemption())

            signal.signal(signal.SIGTERM, on_sigterm)
        member, since = self.member, time.monotonic()
        with member.lock:
            member.calls += 1
            call = member.calls
        while member.save_requested and member.save_at is None:
            self.check(since)
            time.sleep(1e-3)
        return call == member.save_at


def _open_sockets() -> set[str]:
    """Return the sockets of this process, by file descriptor and identity."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # closed meanwhile
            found.add(f"{number} {os.readlink(f'/proc/self/fd/{number}')}")
    return {name for name in found if " socket:" in name}


class _Worker:
    """Run functions in a thread, one after the other, while the caller checks for failures."""

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
            except BaseException as error:  # raised in the caller
                result["error"] = error
            done.set()
            del function, args, result, done  # free them before the next call

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
    """Return the session of this process, or None if it is not distributed."""
    return _session


def _suppress_first_run_output(run: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `run` for several local devices, whose first collective opens gloo connections too."""
    started = False

    def run_here(buffers: Sequence[Any]) -> Any:
        nonlocal started
        if started:
            return run(buffers)
        with xla.distributed.mute_cpp_stdout():
            outs = run(buffers)
            for b in outs:
                if isinstance(b, xla.Buffer):
                    b.block_until_ready()
        started = True
        return outs

    return run_here


def detect_failures(run: Callable[..., Any], devices: Sequence[Any]) -> Callable[..., Any]:
    """Wrap `run` to raise when another process that it needs is lost."""
    current = _session
    if current is None:
        return run
    others = {d.process_index for d in devices} - {current.process_id}
    if not others:
        return run if len(devices) == 1 else _suppress_first_run_output(run)
    # With one local device, the engine may run the executable synchronously.
    inline = sum(d.process_index == current.process_id for d in devices) == 1
    started = False

    def run_across_processes(buffers: Sequence[Any]) -> Any:
        nonlocal started
        if others & current.member.lost.keys():
            raise current.loss()
        if started:
            return current.call(run, buffers) if inline else run(buffers)
        # The first run opens connections, which gloo prints on standard output.
        known = current.begin_connecting()
        with xla.distributed.mute_cpp_stdout():
            outs = current.call(run, buffers) if inline else run(buffers)
            current.wait([b for b in outs if isinstance(b, xla.Buffer)])
        current.end_connecting(known)
        started = True
        return outs

    return run_across_processes


# --- joining and leaving ----------------------------------------------------------------------------


def _parse_address(address: str, argument: str) -> tuple[str, int]:
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
    """Raise ArgumentValueError unless the addresses have a host and a port."""
    _parse_address(coordinator, "coordinator_address")
    if bind:
        _parse_address(bind, "coordinator_bind_address")


def join(
    coordinator_address: str,
    num_processes: int,
    process_id: int,
    *,
    bind_address: str | None,
    arrival_timeout: float,
    heartbeat_timeout: float,
    visible_devices: list[int] | None,
) -> None:
    """Connect to the other processes. After a DistributedError, this process is still alone."""
    global _session
    host, port = _parse_address(coordinator_address, "coordinator_address")
    terms = coordination.ClusterTerms(num_processes, arrival_timeout, heartbeat_timeout)
    loop, server, service = coordination.EventLoopThread(), None, None
    secret = os.environ.get(messages.SECRET_VARIABLE, "")
    member = coordination.CoordinationClient(process_id, terms, secret)
    path = f"sagax-{secrets.token_hex(16)}"  # in the kernel's abstract namespace: no file
    try:
        if process_id == 0:
            bound = (
                _parse_address(bind_address, "coordinator_bind_address")
                if bind_address
                else (host if _is_loopback(host) else None, port)
            )
            everywhere = bound[0] in (None, "0.0.0.0", "::")
            service = xla.distributed.start_service(
                f"unix-abstract:{path}", num_processes, heartbeat_timeout=_DISABLED_TIMEOUT
            )
            server = coordination.CoordinationServer(terms, f"\0{path}", secret)
            _listen(loop, server, None if everywhere else bound[0], bound[1])
            host, port = "127.0.0.1" if everywhere else str(bound[0]), bound[1]
        loop.run(member.join(host, port, coordinator_address))
        if process_id != 0:
            path = f"sagax-{secrets.token_hex(16)}"
            loop.run(member.relay_store(f"\0{path}", host, port))
    except coordination.CoordinationError as error:
        if server is not None:
            loop.run(server.stop())
        raise DistributedError(
            error.text,
            processes=error.missing,
            fix=error.fix,
            function="distributed.initialize",
        ) from None
    client = xla.distributed.make_client(
        f"unix-abstract:{path}",
        process_id,
        init_timeout=max(1, int(arrival_timeout)),
        heartbeat_timeout=_DISABLED_TIMEOUT,
        shutdown_on_destruction=False,
    )
    xla.distributed.never_free(service, client)
    new_session = Session(member, loop, server, (service, client))
    new_session.visible_devices = visible_devices
    new_session.call(client.connect)
    _session = new_session
    xla.set_wait(new_session.wait)
    xla.set_explain(new_session.explain)


def _is_loopback(host: str) -> bool:
    """Return whether only processes of this machine can reach the host."""
    return host in ("localhost", "::1") or host.startswith("127.")


def _listen(
    loop: EventLoopThread,
    server: CoordinationServer,
    host: str | None,
    port: int,
) -> None:
    try:
        loop.run(server.listen(host, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise coordination.CoordinationError(
                f"process 0 cannot listen on port {port}: another program does",
                "give all processes a coordinator_address with another port; if an earlier run of "
                f"this program is still there, end it (`ss -ltnp sport = :{port}` shows it)",
            ) from None
        raise coordination.CoordinationError(
            f"process 0 cannot listen on {host or 'all addresses'}, port {port}: {error.strerror or error}",
            "see that coordinator_address (or coordinator_bind_address) is an address of the machine "
            "on which process 0 runs",
        ) from None


def leave(timeout: float) -> None:
    """Wait until all processes leave, for `timeout` seconds at most, and disconnect.

    A process that ends with an exception does not wait, and reports its failure. Raises
    DistributedError, with the ids, if some processes did not end in time.
    """
    global _session
    ended, _session = _session, None
    if ended is None:
        return
    member = ended.member
    failure = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    try:
        if failure is not None and not hasattr(sys, "ps1"):
            ended.loop.run(member.report_failure(_one_line(failure)), 5.0)
            return
        ended.loop.run(member.leave(), timeout)
    except TimeoutError:
        late = [
            i
            for i in range(ended.num_processes)
            if i not in member.leaving and i not in member.lost and i != member.number
        ]
        raise DistributedError(
            f"{coordination.format_processes(late)} of {ended.num_processes} did not reach the end of the program within {timeout:g} s",
            function="distributed.shutdown",
            processes=late,
            fix="see whether they still compute; a larger shutdown_timeout_seconds waits longer",
        ) from None
    finally:
        ended.release_worker()


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
