"""Coordinate processes: one listens, all connect to it, and each learns of the others' ends.

The engine has a service for this, but it kills a process when another one dies. So the engine's
service listens within the first process only, on a socket that nobody else sees. What the engines
of the other processes say to it goes through relays, which outlive the far side: an engine never
sees a connection break. Who is alive, who has left and who arrived at which point is told
here, in lines of JSON over one TCP connection per process.

All of it runs in one thread of its own, an asyncio loop; other threads see the fields of `Member`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING:
    from asyncio import StreamReader as Reader
    from asyncio import StreamWriter as Writer
    from concurrent.futures import Future


@lazy_imports
def _() -> None:
    global asyncio, json, socket
    import asyncio
    import json
    import socket


_VERSION = 1
_FIRST_LINE = 10.0  # seconds a connection may stay silent before it has said what it is
_FAREWELL = 2.0  # seconds for the last words of a process that ends


class MeetingError(Exception):
    """The processes do not come together. `missing` are those that are known to be absent."""

    def __init__(self, text: str, fix: str, missing: tuple[int, ...] = ()) -> None:
        super().__init__(text)
        self.text, self.fix, self.missing = text, fix, missing

    def as_message(self) -> dict[str, Any]:
        return {"say": "refused", "text": self.text, "fix": self.fix, "missing": self.missing}


@dataclass(frozen=True)
class Terms:
    """What all processes agree upon: how many they are, and how long they wait (in seconds)."""

    count: int
    arrival: float  # for all to come
    silence: float  # until a process that says nothing counts as lost


def numbers(processes: Any) -> str:
    """`process 3`, `processes 1, 2`; of many the first ones."""
    listed = sorted(processes)
    shown = ", ".join(map(str, listed[:16])) + (", ..." if len(listed) > 16 else "")
    return f"process {shown}" if len(listed) == 1 else f"processes {shown}"


# --- the thread -----------------------------------------------------------------------------------


class Loop:
    """An asyncio loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        thread = threading.Thread(
            target=self._loop.run_forever, name="sagax-processes", daemon=True
        )
        thread.start()

    def run(self, work: Coroutine[Any, Any, Any], timeout: float | None = None) -> Any:
        """The result of a coroutine, waited for. Raises TimeoutError."""
        future = self.submit(work)
        try:
            return future.result(timeout)
        except BaseException:
            future.cancel()
            raise

    def submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Begins to run a coroutine."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)


def _send(writer: Writer, message: dict[str, Any]) -> None:
    if not writer.is_closing():
        writer.write(json.dumps(message).encode() + b"\n")


async def _receive(reader: Reader) -> dict[str, Any] | None:
    """The next message; None at the end of the connection. Raises ValueError for anything else."""
    try:
        line = await reader.readline()
    except OSError:
        return None
    if not line.endswith(b"\n"):
        return None
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("no message")
    return message


async def _close(writer: Writer) -> None:
    with contextlib.suppress(OSError, TimeoutError):
        await asyncio.wait_for(writer.drain(), _FAREWELL)
    writer.close()


async def _pump(source: Reader, sink: Writer) -> None:
    """Copies until the source ends."""
    with contextlib.suppress(OSError):
        while data := await source.read(1 << 16):
            sink.write(data)
            await sink.drain()


# --- the process that listens -----------------------------------------------------------------------


@dataclass
class _Guest:
    writer: Writer
    heard: float
    waiting_at: str | None = None  # the name of the point it has arrived at
    leaving: bool = False
    calls: int | None = None  # how often it had asked whether to save, when it was asked that


@dataclass
class Host:
    """The listening side, in process 0. `store` is the address of the engine's service."""

    terms: Terms
    store: str
    guests: dict[int, _Guest] = field(default_factory=dict)
    gone: dict[int, str] = field(default_factory=dict)  # lost processes, and what is known of it
    begun: bool = False
    over: bool = False
    asked: bool = False
    refused: MeetingError | None = None
    reached_at: str | None = None  # an address of this machine by which another one reached it
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def listen(self, host: str | None, port: int) -> None:
        """Begins to listen. Raises OSError."""
        if host is None:
            try:
                self._server = await asyncio.start_server(
                    self._on_connection, sock=_everywhere(port)
                )
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    raise
                self._server = await asyncio.start_server(self._on_connection, "0.0.0.0", port)
        else:
            self._server = await asyncio.start_server(self._on_connection, host, port)
        self._keep(self._watch())

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for guest in list(self.guests.values()):
            await _close(guest.writer)

    async def _on_connection(self, reader: Reader, writer: Writer) -> None:
        try:
            hello = await asyncio.wait_for(_receive(reader), _FIRST_LINE)
        except (TimeoutError, ValueError):  # something else than sagax: no words that it knows
            hello = None
        kind = hello.get("say") if hello else None
        if kind == "store":
            await self._relay(reader, writer)
        elif kind == "hello":
            assert hello is not None
            await self._guest(hello, reader, writer)
        writer.close()

    async def _relay(self, reader: Reader, writer: Writer) -> None:
        try:
            inner_reader, inner_writer = await asyncio.open_unix_connection(self.store)
        except OSError:
            return
        back = asyncio.create_task(_pump(inner_reader, writer))
        await _pump(reader, inner_writer)
        inner_writer.close()
        back.cancel()

    # A guest's life: it is refused or let in, and then heard until its connection ends.

    async def _guest(self, hello: dict[str, Any], reader: Reader, writer: Writer) -> None:
        number = hello.get("process")
        try:
            self._check(hello)
        except MeetingError as refusal:
            _send(writer, refusal.as_message())
            await _close(writer)
            if not self.begun:  # what is wrong with one start of the program is wrong with all
                self._give_up(refusal)
            return
        assert isinstance(number, int)
        guest = self.guests[number] = _Guest(writer, time.monotonic())
        if len(self.guests) == self.terms.count:
            self._begin()
        else:
            self._tell_missing()
        await self._hear(number, guest, reader)
        if number in self.gone or self.over:
            return
        if guest.leaving:
            self._lose(number, "it ended while others still ran")
        else:
            self._lose(
                number, "its connection was closed without a farewell: it crashed or was killed"
            )

    def _check(self, hello: dict[str, Any]) -> None:
        number, count = hello.get("process"), hello.get("count")
        if hello.get("version") != _VERSION:
            raise MeetingError(
                f"process {number} runs another version of sagax than process 0",
                "install the same version for all processes",
            )
        if count != self.terms.count:
            raise MeetingError(
                f"process {number} was started with num_processes={count}, process 0 with {self.terms.count}",
                "start all processes with the same num_processes",
            )
        if number in self.guests:
            raise MeetingError(
                f"two processes were started with process_id={number}",
                "give each process a number of its own, from 0 to num_processes - 1; if a process of "
                "an earlier run is still there, end it first",
            )
        if self.begun or self.refused:
            raise self.refused or MeetingError(
                f"process {number} came when the others had begun", "start all processes anew"
            )

    def _begin(self) -> None:
        self.begun = True
        for guest in self.guests.values():
            here = guest.writer.get_extra_info("sockname")[0].removeprefix("::ffff:")
            if not here.startswith("127.") and here != "::1":
                self.reached_at = here
        self._tell({"say": "welcome", "reached_at": self.reached_at})

    def _missing(self) -> list[int]:
        return [i for i in range(self.terms.count) if i not in self.guests]

    def _tell_missing(self) -> None:
        self._tell({"say": "missing", "missing": self._missing()})

    def _give_up(self, refusal: MeetingError) -> None:
        self.refused = refusal
        self._tell(refusal.as_message())

    async def _hear(self, number: int, guest: _Guest, reader: Reader) -> None:
        while True:
            try:
                message = await _receive(reader)
            except ValueError:
                return
            if message is None:
                return
            guest.heard = time.monotonic()
            match message.get("say"):
                case "arrived":
                    guest.waiting_at = message["at"]
                    self._let_pass()
                case "preempted":
                    if not self.asked:
                        self.asked = True
                        self._tell({"say": "calls?"})
                case "calls":
                    guest.calls = message["calls"]
                    calls = [g.calls for g in self.guests.values() if g.calls is not None]
                    if len(calls) == self.terms.count:
                        self._tell({"say": "save", "at": max(calls) + 1})
                case "leaving":
                    guest.leaving = True
                    self._tell({"say": "leaving", "process": number})
                    self._bid_farewell()
                case "failed":
                    self._lose(number, f"it ended with {message['text']}")

    def _let_pass(self) -> None:
        names = {number: guest.waiting_at for number, guest in self.guests.items()}
        if None in names.values():
            return
        for guest in self.guests.values():
            guest.waiting_at = None
        self._tell({"say": "pass", "names": names if len(set(names.values())) > 1 else None})

    def _bid_farewell(self) -> None:
        self.over = all(g.leaving or i in self.gone for i, g in self.guests.items())
        if self.over:
            self._tell({"say": "farewell"})

    def _lose(self, number: int, reason: str) -> None:
        if self.begun:
            self.gone[number] = reason
            self._tell({"say": "lost", "process": number, "reason": reason})
            self._bid_farewell()  # the others may have waited for this one alone
        else:  # it may be started again, and come once more
            self.guests.pop(number, None)
            self._tell_missing()

    def _tell(self, message: dict[str, Any]) -> None:
        for guest in self.guests.values():
            _send(guest.writer, message)

    async def _watch(self) -> None:
        """Speaks up now and then, so that all know the host lives, and looks who has gone silent."""
        start = time.monotonic()
        while True:
            await asyncio.sleep(min(self.terms.silence / 4, 1.0))
            now = time.monotonic()
            self._tell({"say": "alive"})
            if not self.begun and not self.refused and now - start > self.terms.arrival:
                self._give_up(absent(self._missing(), self.terms))
            for number, guest in list(self.guests.items()):
                silent = now - guest.heard > self.terms.silence
                if silent and self.begun and number not in self.gone:
                    self._lose(number, f"nothing was heard of it for {self.terms.silence:g} s")


def _everywhere(port: int) -> socket.socket:
    """A socket for all addresses of this machine, of both kinds."""
    both = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    try:
        both.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        both.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        both.bind(("::", port))
    except OSError:
        both.close()
        raise
    return both


def absent(missing: Any, terms: Terms) -> MeetingError:
    """What to say when processes have not come in time."""
    listed = tuple(sorted(missing))
    return MeetingError(
        f"{numbers(listed)} of {terms.count} did not arrive within {terms.arrival:g} s",
        "see that each of them was started, with the same coordinator_address and num_processes, and whether "
        "one failed earlier; processes that start slowly need a larger initialization_timeout",
        listed,
    )


# --- every process ----------------------------------------------------------------------------------


@dataclass
class Member:
    """This process in the meeting. Other threads read its fields and call the methods that say so."""

    number: int
    terms: Terms
    lost: dict[int, str] = field(default_factory=dict)  # process -> why; never shrinks
    lost_since: float = 0.0
    leaving: dict[int, float] = field(default_factory=dict)  # process -> since when
    local_address: str = "127.0.0.1"
    # How often this process has asked whether to save; whether it was asked that; when it is to save.
    calls: int = 0
    asked: bool = False
    save_at: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)  # of `calls` and `asked`
    _writer: Writer | None = None
    _heard: float = 0.0
    _missing: list[int] | None = None
    _welcome: asyncio.Future[Any] | None = None
    _passed: asyncio.Future[Any] | None = None
    _farewell: asyncio.Event | None = None
    _tasks: list[asyncio.Task[Any]] = field(default_factory=list)
    _relay: asyncio.Server | None = None

    async def join(self, host: str, port: int, where: str) -> None:
        """Connects and waits for all others. Raises MeetingError."""
        deadline = time.monotonic() + self.terms.arrival
        loop = asyncio.get_running_loop()
        self._farewell = asyncio.Event()
        while True:
            reader, self._writer = await self._connect(host, port, where, deadline)
            self._welcome = loop.create_future()
            self._heard = time.monotonic()
            hello = {"say": "hello", "version": _VERSION, "process": self.number}
            _send(self._writer, {**hello, "count": self.terms.count})
            self._tasks = [
                loop.create_task(self._hear(reader, self._writer)),
                loop.create_task(self._beat()),
            ]
            # The host knows better who is missing, so it has a moment to say so first.
            patience = max(0.0, deadline - time.monotonic()) + 2.0
            try:
                welcome = await asyncio.wait_for(self._welcome, patience)
            except TimeoutError:
                if self._missing is not None:
                    raise absent(self._missing, self.terms) from None
                welcome = None
            if welcome is not None:
                break
            # Nothing was said. Something that passes connections on may stand there, before a host
            # that is yet to come.
            for task in self._tasks:
                task.cancel()
            self._writer.close()
            if time.monotonic() > deadline:
                raise MeetingError(
                    f"what listens at {where} does not answer as process 0 of a sagax program",
                    "see that coordinator_address has the port that process 0 was given, and that no "
                    "other program (or one with jax) uses that port",
                )
            await asyncio.sleep(0.2)
        self.local_address = self._writer.get_extra_info("sockname")[0].removeprefix("::ffff:")
        if self.number == 0 and welcome.get("reached_at"):
            self.local_address = welcome["reached_at"]

    async def _connect(
        self, host: str, port: int, where: str, deadline: float
    ) -> tuple[Reader, Writer]:
        delay, reason = 0.02, "no answer"
        while True:
            left = deadline - time.monotonic()
            try:
                return await asyncio.wait_for(asyncio.open_connection(host, port), max(left, 0.1))
            except TimeoutError:
                pass
            except socket.gaierror as error:
                reason = error.strerror or reason
            except OSError as error:
                reason = os.strerror(error.errno) if error.errno else str(error)
            if left <= delay:
                raise MeetingError(
                    f"process {self.number} could not reach process 0 at {where} within "
                    f"{self.terms.arrival:g} s ({reason.lower()})",
                    "see that process 0 was started and has not failed, that coordinator_address is an address "
                    "of its machine which this one can reach, and that no firewall closes the port",
                    (0,),
                )
            await asyncio.sleep(delay)
            delay = min(2 * delay, 0.5)

    async def serve_store(self, path: str, host: str, port: int) -> None:
        """Listens at `path` for this process's engine and passes on what it says to the store."""

        async def on_connection(reader: Reader, writer: Writer) -> None:
            with contextlib.suppress(OSError):
                far_reader, far_writer = await asyncio.open_connection(host, port)
                _send(far_writer, {"say": "store"})
                back = asyncio.create_task(_pump(far_reader, writer))
                await _pump(reader, far_writer)
                far_writer.close()
                back.cancel()
            # The far side may be gone, and the near one must not see it: it would end the process.
            with contextlib.suppress(OSError):
                while await reader.read(1 << 16):
                    pass
            writer.close()

        self._relay = await asyncio.start_unix_server(on_connection, path)

    async def _hear(self, reader: Reader, writer: Writer) -> None:
        assert self._welcome is not None and self._farewell is not None
        while True:
            try:
                message = await _receive(reader)
            except ValueError:
                message = None
            if message is None:
                break
            self._heard = time.monotonic()
            match message.get("say"):
                case "missing":
                    self._missing = message["missing"]
                case "welcome":
                    if not self._welcome.done():
                        self._welcome.set_result(message)
                case "refused":
                    self._refuse(
                        MeetingError(message["text"], message["fix"], tuple(message["missing"]))
                    )
                case "lost":
                    self._lose(message["process"], message["reason"])
                case "leaving":
                    self.leaving[message["process"]] = time.monotonic()
                case "pass":
                    if self._passed is not None and not self._passed.done():
                        self._passed.set_result(message["names"])
                case "calls?":
                    with self.lock:
                        self.asked = True
                        _send(writer, {"say": "calls", "calls": self.calls})
                case "save":
                    self.save_at = message["at"]
                case "farewell":
                    self._farewell.set()
        if not self._welcome.done():
            if self._missing is None:
                self._welcome.set_result(None)
                return
            self._refuse(
                MeetingError(
                    "process 0 ended before all processes had arrived",
                    "look for the error of process 0",
                    (0,),
                )
            )
        elif not self._farewell.is_set():
            reason = "its connection was closed without a farewell: it crashed or was killed"
            self._lose(0, reason)

    def _refuse(self, error: MeetingError) -> None:
        assert self._welcome is not None
        if not self._welcome.done():
            self._welcome.set_exception(error)

    def _lose(self, number: int, reason: str) -> None:
        if number == self.number:
            reason = f"the others gave it up, since {reason}"
        if number not in self.lost:
            self.lost_since = self.lost_since or time.monotonic()
            self.lost = {**self.lost, number: reason}

    async def _beat(self) -> None:
        assert self._writer is not None and self._farewell is not None
        while not self._farewell.is_set():
            await asyncio.sleep(min(self.terms.silence / 4, 1.0))
            _send(self._writer, {"say": "alive"})
            if time.monotonic() - self._heard > self.terms.silence:
                self._lose(0, f"nothing was heard of it for {self.terms.silence:g} s")

    # For other threads, through `Loop.run`.

    async def arrive(self, name: str) -> dict[str, str] | None:
        """Waits until all processes arrive; the names they gave, by process, if these differ."""
        assert self._writer is not None
        self._passed = asyncio.get_running_loop().create_future()
        _send(self._writer, {"say": "arrived", "at": name})
        return await self._passed

    async def say_preempted(self) -> None:
        """Tells the others that this process is to end soon."""
        assert self._writer is not None
        _send(self._writer, {"say": "preempted"})

    async def say_failed(self, text: str) -> None:
        """Tells the others that this process ends, and why."""
        assert self._writer is not None
        _send(self._writer, {"say": "failed", "text": text})
        await _close(self._writer)

    async def leave(self) -> None:
        """Waits until all that are left want to leave too."""
        assert self._writer is not None and self._farewell is not None
        _send(self._writer, {"say": "leaving"})
        while not self._farewell.is_set() and 0 not in self.lost:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._farewell.wait(), 0.2)
        await _close(self._writer)
        for task in self._tasks:
            task.cancel()
