"""Coordinate processes over TCP: barriers, key-value exchange, failure detection.

The engine has a service for this, but it kills a process when another one dies. So the engine's service
listens in the first process only, on a private socket. The engines of other processes reach it through
relays, which outlive the remote end, so that an engine never sees a connection break. Liveness, departure
and barriers use lines of JSON over one TCP connection per process, which `messages` checks. Who sends anything else
is refused, with a line in the log, and the job goes on.

Everything runs in one thread with an asyncio loop. Other threads read the fields of `CoordinationClient`.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import os
import threading
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sagax._src.lazy_import import lazy_imports
from sagax._src.runtime.distributed import messages
from sagax._src.runtime.distributed.messages import MessageError, close, receive, send

if TYPE_CHECKING:
    from asyncio import StreamReader as Reader
    from asyncio import StreamWriter as Writer
    from concurrent.futures import Future


if TYPE_CHECKING or lazy_imports():
    import asyncio
    import secrets
    import socket


_HELLO_TIMEOUT = 10.0  # seconds until the first message of a connection
_UNKNOWN_LIMIT = 256  # connections that have sent no first message


class CoordinationError(Exception):
    """The processes cannot form a cluster. `missing` are those that are known to be absent."""

    def __init__(self, text: str, fix: str, missing: tuple[int, ...] = ()) -> None:
        super().__init__(text)
        self.text, self.fix, self.missing = text, fix, missing

    def as_message(self) -> dict[str, Any]:
        return {"say": "refused", "text": self.text, "fix": self.fix, "missing": self.missing}


@dataclass(frozen=True)
class ClusterTerms:
    """Hold the number of processes and the timeouts (in seconds), equal in all processes."""

    count: int
    arrival_timeout: float  # until all processes have connected
    heartbeat_timeout: float  # until a silent process counts as lost


def format_processes(processes: Any) -> str:
    """Format process ids: `process 3`, `processes 1, 2`, shortened if many."""
    listed = sorted(processes)
    shown = ", ".join(map(str, listed[:16])) + (", ..." if len(listed) > 16 else "")
    return f"process {shown}" if len(listed) == 1 else f"processes {shown}"


# --- thread and messages --------------------------------------------------------------------------


class EventLoopThread:
    """Run an asyncio loop in a separate thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="sagax-processes", daemon=True
        )
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any], timeout: float | None = None) -> Any:
        """Run a coroutine and wait for its result. Raises TimeoutError."""
        future = self.submit(work)
        try:
            return future.result(timeout)
        except BaseException:
            future.cancel()
            raise

    def submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Start a coroutine."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Cancel what still runs, and end the thread. Connections should be closed before."""
        self.run(_cancel_all_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_all_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0)  # what they closed is closed in the next round


async def _copy_stream(source: Reader, sink: Writer) -> None:
    """Copy a stream until the source ends."""
    with contextlib.suppress(OSError):
        while data := await source.read(1 << 16):
            sink.write(data)
            await sink.drain()


# --- server -----------------------------------------------------------------------------------------


@dataclass
class _Connection:
    writer: Writer
    last_heard: float
    barrier_name: str | None = None  # the barrier that it waits at
    leaving: bool = False
    calls: int | None = None  # its count of preemption points, when the server asked for it


@dataclass
class CoordinationServer:
    """Coordinate all processes, in process 0. `store` is the address of the engine's service.

    Only who knows the `secret` is served, if there is one.
    """

    terms: ClusterTerms
    store: str
    secret: str = field(default="", repr=False)
    connections: dict[int, _Connection] = field(default_factory=dict)
    lost: dict[int, str] = field(default_factory=dict)  # lost processes -> reason
    started: bool = False
    finished: bool = False
    save_requested: bool = False
    refused: CoordinationError | None = None
    reached_at: str | None = None  # the address of this machine that another one connected to
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _unknown: int = 0  # connections that have sent no first message
    _relays: int = 0
    _refusals: messages.RefusalLog = field(default_factory=messages.RefusalLog)

    async def listen(self, host: str | None, port: int) -> None:
        """Start to listen. Raises OSError."""
        limit = messages.REQUEST_LIMIT
        if host is None:
            try:
                self._server = await asyncio.start_server(
                    self._on_connection, sock=_dual_stack_socket(port), limit=limit
                )
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    raise
                self._server = await asyncio.start_server(
                    self._on_connection, "0.0.0.0", port, limit=limit
                )
        else:
            self._server = await asyncio.start_server(self._on_connection, host, port, limit=limit)
        self._start_task(self._monitor())

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self.connections.values()):
            await close(connection.writer)
        for task in list(self._tasks):
            task.cancel()

    async def _on_connection(self, reader: Reader, writer: Writer) -> None:
        try:
            first = await self._identify(reader, writer)
            if first is not None and first["say"] == "store":
                await self._relay(reader, writer)
            elif first is not None:
                await self._serve_process(first, reader, writer)
        except MessageError as error:
            self._refusals.add(writer, f"it sent {error}")
        except OSError:  # the other side has ended the connection
            pass
        finally:
            writer.close()

    async def _identify(self, reader: Reader, writer: Writer) -> dict[str, Any] | None:
        """Receive the first message of a connection; None for a connection that is refused or has ended."""
        if self._unknown >= _UNKNOWN_LIMIT:
            self._refusals.add(writer, f"{_UNKNOWN_LIMIT} others have said nothing yet")
            return None
        challenge = secrets.token_hex(16)
        self._unknown += 1
        try:
            hidden = {"version": messages.VERSION, "secret": bool(self.secret)}
            send(writer, {"say": "challenge", "challenge": challenge, **hidden})
            first = await asyncio.wait_for(messages.receive_request(reader), _HELLO_TIMEOUT)
        except TimeoutError:
            self._refusals.add(writer, f"it sent nothing for {_HELLO_TIMEOUT:g} s")
            return None
        finally:
            self._unknown -= 1
        if first is None:
            return None
        if first["say"] not in ("hello", "store"):
            raise MessageError(f"{first['say']!r} as its first message")
        wanted = messages.proof(self.secret, challenge, first["say"])
        if self.secret and not hmac.compare_digest(first["proof"].encode(), wanted.encode()):
            refusal = CoordinationError(
                "it does not know the secret of the job" if first["proof"] else "it has no secret",
                f"set {messages.SECRET_VARIABLE} to the same text in all processes",
            )
            self._refuse(writer, refusal)
            await close(writer)
            return None
        return first

    def _refuse(
        self, writer: Writer, refusal: CoordinationError, number: int | None = None
    ) -> None:
        self._refusals.add(writer, refusal.text, number)
        send(writer, refusal.as_message())

    async def _relay(self, reader: Reader, writer: Writer) -> None:
        if self._relays >= 4 * self.terms.count + 4:
            self._refusals.add(writer, "more engines than processes have connected")
            return
        self._relays += 1
        try:
            inner_reader, inner_writer = await asyncio.open_unix_connection(self.store)
            back = asyncio.create_task(_copy_stream(inner_reader, writer))
            await _copy_stream(reader, inner_writer)
            inner_writer.close()
            back.cancel()
        finally:
            self._relays -= 1

    # Check a process's hello, then receive its messages until its connection ends.

    async def _serve_process(self, hello: dict[str, Any], reader: Reader, writer: Writer) -> None:
        number = hello["process"]
        try:
            self._check(hello)
        except CoordinationError as refusal:
            self._refuse(writer, refusal, number)
            await close(writer)
            return
        connection = self.connections[number] = _Connection(writer, time.monotonic())
        if len(self.connections) == self.terms.count:
            self._start_session()
        else:
            self._broadcast_missing()
        await self._receive_messages(number, connection, reader)
        if number in self.lost or self.finished:
            return
        if connection.leaving:
            self._mark_lost(number, "it ended while others still ran")
        else:
            self._mark_lost(
                number, "its connection was closed without a farewell: it crashed or was killed"
            )

    def _check(self, hello: dict[str, Any]) -> None:
        number, count = hello["process"], hello["count"]
        if hello["version"] != messages.VERSION:
            raise CoordinationError(
                f"process {number} runs another version of sagax than process 0",
                "install the same version for all processes",
            )
        if count != self.terms.count:
            raise CoordinationError(
                f"process {number} was started with num_processes={count}, process 0 with {self.terms.count}",
                "start all processes with the same num_processes",
            )
        if number >= self.terms.count:
            raise CoordinationError(
                f"process_id={number} is none of the {self.terms.count} processes",
                "give each process a number of its own, from 0 to num_processes - 1",
            )
        if number in self.connections:
            raise CoordinationError(
                f"two processes were started with process_id={number}",
                "give each process a number of its own, from 0 to num_processes - 1; if a process of "
                "an earlier run is still there, end it first",
            )
        if self.started or self.refused:
            raise self.refused or CoordinationError(
                f"process {number} came when the others had begun", "start all processes anew"
            )

    def _start_session(self) -> None:
        self.started = True
        for connection in self.connections.values():
            here = connection.writer.get_extra_info("sockname")[0].removeprefix("::ffff:")
            if not here.startswith("127.") and here != "::1":
                self.reached_at = here
        self._broadcast({"say": "welcome", "reached_at": self.reached_at})

    def _missing(self) -> list[int]:
        return [i for i in range(self.terms.count) if i not in self.connections]

    def _broadcast_missing(self) -> None:
        self._broadcast({"say": "missing", "missing": self._missing()})

    def _refuse_all(self, refusal: CoordinationError) -> None:
        self.refused = refusal
        self._broadcast(refusal.as_message())

    async def _receive_messages(self, number: int, connection: _Connection, reader: Reader) -> None:
        while True:
            try:
                message = await messages.receive_request(reader)
            except MessageError as error:
                self._refusals.add(connection.writer, f"process {number} sent {error}")
                return
            if message is None:
                return
            connection.last_heard = time.monotonic()
            match message["say"]:
                case "arrived":
                    connection.barrier_name = message["at"]
                    self._release_barrier()
                case "preempted":
                    if not self.save_requested:
                        self.save_requested = True
                        self._broadcast({"say": "calls?"})
                case "calls":
                    connection.calls = message["calls"]
                    calls = [g.calls for g in self.connections.values() if g.calls is not None]
                    if len(calls) == self.terms.count:
                        self._broadcast({"say": "save", "at": max(calls) + 1})
                case "leaving":
                    connection.leaving = True
                    self._broadcast({"say": "leaving", "process": number})
                    self._finish_if_all_left()
                case "failed":
                    self._mark_lost(number, f"it ended with {message['text']}")

    def _release_barrier(self) -> None:
        names = {number: connection.barrier_name for number, connection in self.connections.items()}
        if None in names.values():
            return
        for connection in self.connections.values():
            connection.barrier_name = None
        self._broadcast({"say": "pass", "names": names if len(set(names.values())) > 1 else None})

    def _finish_if_all_left(self) -> None:
        self.finished = all(g.leaving or i in self.lost for i, g in self.connections.items())
        if self.finished:
            self._broadcast({"say": "farewell"})

    def _mark_lost(self, number: int, reason: str) -> None:
        if self.started:
            self.lost[number] = reason
            self._broadcast({"say": "lost", "process": number, "reason": reason})
            self._finish_if_all_left()  # the others may have waited for this one only
        else:  # it may restart and connect again
            self.connections.pop(number, None)
            self._broadcast_missing()

    def _broadcast(self, message: dict[str, Any]) -> None:
        for connection in self.connections.values():
            send(connection.writer, message)

    async def _monitor(self) -> None:
        """Send heartbeats, and detect processes that are silent or late."""
        start = time.monotonic()
        while True:
            await asyncio.sleep(min(self.terms.heartbeat_timeout / 4, 1.0))
            now = time.monotonic()
            self._broadcast({"say": "alive"})
            if not self.started and not self.refused and now - start > self.terms.arrival_timeout:
                missing = self._missing()
                reasons = [f"{r}" for n, r in self._refusals.reasons.items() if n in missing]
                self._refuse_all(arrival_error(missing, self.terms, reasons))
            for number, connection in list(self.connections.items()):
                silent = now - connection.last_heard > self.terms.heartbeat_timeout
                if silent and self.started and number not in self.lost:
                    self._mark_lost(
                        number, f"nothing was heard of it for {self.terms.heartbeat_timeout:g} s"
                    )


def _dual_stack_socket(port: int) -> socket.socket:
    """Open a socket for all addresses of this machine, IPv4 and IPv6."""
    both = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    try:
        both.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        both.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        both.bind(("::", port))
    except OSError:
        both.close()
        raise
    return both


def arrival_error(
    missing: Any, terms: ClusterTerms, refused: Sequence[str] = ()
) -> CoordinationError:
    """Return the error about processes that did not arrive in time, with why some were refused."""
    listed = tuple(sorted(missing))
    why = f"; refused was one because {' and one because '.join(refused)}" if refused else ""
    return CoordinationError(
        f"{format_processes(listed)} of {terms.count} did not arrive within {terms.arrival_timeout:g} s{why}",
        "see that each of them was started, with the same coordinator_address and num_processes, and whether "
        "one failed earlier; processes that start slowly need a larger initialization_timeout",
        listed,
    )


# --- client -----------------------------------------------------------------------------------------


@dataclass
class CoordinationClient:
    """Connect one process to the server. Other threads read its fields, and call marked methods."""

    number: int
    terms: ClusterTerms
    secret: str = field(default="", repr=False)
    lost: dict[int, str] = field(default_factory=dict)  # process -> why; never shrinks
    lost_since: float = 0.0
    leaving: dict[int, float] = field(default_factory=dict)  # process -> time
    local_address: str = "127.0.0.1"
    # The count of preemption points, whether the server asked for it, and the count to save at.
    calls: int = 0
    save_requested: bool = False
    save_at: int | None = None
    lock: threading.Lock = field(
        default_factory=threading.Lock
    )  # guards `calls` and `save_requested`
    _writer: Writer | None = None
    _last_heard: float = 0.0
    _missing: list[int] | None = None
    _welcome: asyncio.Future[Any] | None = None
    _barrier: asyncio.Future[Any] | None = None
    _all_left: asyncio.Event | None = None
    _tasks: list[asyncio.Task[Any]] = field(default_factory=list)
    _relay: asyncio.Server | None = None

    async def join(self, host: str, port: int, where: str) -> None:
        """Connect and wait for all others. Raise CoordinationError on failure."""
        deadline = time.monotonic() + self.terms.arrival_timeout
        loop = asyncio.get_running_loop()
        self._all_left = asyncio.Event()
        while True:
            reader, self._writer = await self._connect(host, port, where, deadline)
            # The server knows the missing processes, so give it time to report first.
            patience = max(0.0, deadline - time.monotonic()) + 2.0
            proof = await self._answer("hello", reader, self._writer, patience)
            if proof is not None:
                self._welcome = loop.create_future()
                self._last_heard = time.monotonic()
                hello = {"say": "hello", "version": messages.VERSION, "process": self.number}
                send(self._writer, {**hello, "count": self.terms.count, "proof": proof})
                self._tasks = [
                    loop.create_task(self._receive_messages(reader, self._writer)),
                    loop.create_task(self._send_heartbeats()),
                ]
                try:
                    welcome = await asyncio.wait_for(self._welcome, patience)
                except TimeoutError:
                    if self._missing is not None:
                        raise arrival_error(self._missing, self.terms) from None
                    welcome = None
                if welcome is not None:
                    break
                for task in self._tasks:
                    task.cancel()
            # No answer: a proxy may accept connections before the server starts.
            self._writer.close()
            if time.monotonic() > deadline:
                raise CoordinationError(
                    f"what listens at {where} does not answer as process 0 of a sagax program",
                    "see that coordinator_address has the port that process 0 was given, and that no "
                    "other program (or one with jax) uses that port",
                )
            await asyncio.sleep(0.2)
        self.local_address = self._writer.get_extra_info("sockname")[0].removeprefix("::ffff:")
        if self.number == 0 and welcome.get("reached_at"):
            self.local_address = welcome["reached_at"]

    async def _answer(
        self, kind: str, reader: Reader, writer: Writer, patience: float
    ) -> str | None:
        """Return the proof for the challenge of process 0; None if what answers is not process 0."""
        try:
            message = await asyncio.wait_for(receive(reader), patience)
        except (TimeoutError, MessageError):
            return None
        if message is None or message["say"] != "challenge":
            return None
        if self.secret and not message.get("secret"):
            writer.close()
            raise CoordinationError(
                f"process {self.number} has a secret, and process 0 asks for none",
                f"set {messages.SECRET_VARIABLE} to the same text in all processes",
                (0,),
            )
        return messages.proof(self.secret, str(message.get("challenge")), kind)

    async def _connect(
        self, host: str, port: int, where: str, deadline: float
    ) -> tuple[Reader, Writer]:
        delay, reason = 0.02, "no answer"
        while True:
            left = deadline - time.monotonic()
            try:
                work = asyncio.open_connection(host, port, limit=messages.REPLY_LIMIT)
                return await asyncio.wait_for(work, max(left, 0.1))
            except TimeoutError:
                pass
            except socket.gaierror as error:
                reason = error.strerror or reason
            except OSError as error:
                reason = os.strerror(error.errno) if error.errno else str(error)
            if left <= delay:
                raise CoordinationError(
                    f"process {self.number} could not reach process 0 at {where} within "
                    f"{self.terms.arrival_timeout:g} s ({reason.lower()})",
                    "see that process 0 was started and has not failed, that coordinator_address is an address "
                    "of its machine which this one can reach, and that no firewall closes the port",
                    (0,),
                )
            await asyncio.sleep(delay)
            delay = min(2 * delay, 0.5)

    async def relay_store(self, path: str, host: str, port: int) -> None:
        """Listen at `path` for this process's engine, and relay its messages to the store."""

        async def on_connection(reader: Reader, writer: Writer) -> None:
            with contextlib.suppress(OSError, CoordinationError):
                far_reader, far_writer = await asyncio.open_connection(host, port)
                proof = await self._answer("store", far_reader, far_writer, _HELLO_TIMEOUT)
                version = {"version": messages.VERSION}
                send(far_writer, {"say": "store", **version, "proof": proof or ""})
                back = asyncio.create_task(_copy_stream(far_reader, writer))
                await _copy_stream(reader, far_writer)
                far_writer.close()
                back.cancel()
            # The remote end may be gone; hide that from the engine, which would end the process.
            with contextlib.suppress(OSError):
                while await reader.read(1 << 16):
                    pass
            writer.close()

        self._relay = await asyncio.start_unix_server(on_connection, path)

    async def _receive_messages(self, reader: Reader, writer: Writer) -> None:
        assert self._welcome is not None and self._all_left is not None
        while True:
            try:
                message = await receive(reader)
            except MessageError:
                message = None
            if message is None:
                break
            self._last_heard = time.monotonic()
            match message["say"]:
                case "missing":
                    self._missing = message["missing"]
                case "welcome":
                    if not self._welcome.done():
                        self._welcome.set_result(message)
                case "refused":
                    self._set_refusal(
                        CoordinationError(
                            message["text"], message["fix"], tuple(message["missing"])
                        )
                    )
                case "lost":
                    self._mark_lost(message["process"], message["reason"])
                case "leaving":
                    self.leaving[message["process"]] = time.monotonic()
                case "pass":
                    if self._barrier is not None and not self._barrier.done():
                        self._barrier.set_result(message["names"])
                case "calls?":
                    with self.lock:
                        self.save_requested = True
                        send(writer, {"say": "calls", "calls": self.calls})
                case "save":
                    self.save_at = message["at"]
                case "farewell":
                    self._all_left.set()
        writer.close()
        if not self._welcome.done():
            if self._missing is None:
                self._welcome.set_result(None)
                return
            self._set_refusal(
                CoordinationError(
                    "process 0 ended before all processes had arrived",
                    "look for the error of process 0",
                    (0,),
                )
            )
        elif not self._all_left.is_set():
            reason = "its connection was closed without a farewell: it crashed or was killed"
            self._mark_lost(0, reason)

    def _set_refusal(self, error: CoordinationError) -> None:
        assert self._welcome is not None
        if not self._welcome.done():
            self._welcome.set_exception(error)

    def _mark_lost(self, number: int, reason: str) -> None:
        if number == self.number:
            reason = f"the others gave it up, since {reason}"
        if number not in self.lost:
            self.lost_since = self.lost_since or time.monotonic()
            self.lost = {**self.lost, number: reason}

    async def _send_heartbeats(self) -> None:
        assert self._writer is not None and self._all_left is not None
        while not self._all_left.is_set():
            await asyncio.sleep(min(self.terms.heartbeat_timeout / 4, 1.0))
            send(self._writer, {"say": "alive"})
            if time.monotonic() - self._last_heard > self.terms.heartbeat_timeout:
                self._mark_lost(
                    0, f"nothing was heard of it for {self.terms.heartbeat_timeout:g} s"
                )

    # The methods below are for other threads, through `EventLoopThread.run`.

    async def wait_at_barrier(self, name: str) -> dict[str, str] | None:
        """Wait for all processes; return their barrier names, by process, if these differ."""
        assert self._writer is not None
        self._barrier = asyncio.get_running_loop().create_future()
        send(self._writer, {"say": "arrived", "at": messages.shortened(name)})
        return await self._barrier

    async def report_preemption(self) -> None:
        """Report that this process is going to be preempted."""
        assert self._writer is not None
        send(self._writer, {"say": "preempted"})

    async def report_failure(self, text: str) -> None:
        """Report that this process fails, with the reason."""
        assert self._writer is not None
        send(self._writer, {"say": "failed", "text": messages.shortened(text)})
        await close(self._writer)

    async def leave(self) -> None:
        """Wait until all remaining processes leave too."""
        assert self._writer is not None and self._all_left is not None
        send(self._writer, {"say": "leaving"})
        while not self._all_left.is_set() and 0 not in self.lost:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._all_left.wait(), 0.2)
        await close(self._writer)
        for task in self._tasks:
            task.cancel()
