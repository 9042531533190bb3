"""The coordinator and its clients in one process: meetings, strangers, floods and secrets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sagax._src.runtime.distributed import coordination, messages
from sagax._src.runtime.distributed.coordination import (
    ClusterTerms,
    CoordinationClient,
    CoordinationError,
    CoordinationServer,
    EventLoopThread,
)
from sagax._src.runtime.distributed.messages import send


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def cluster(
    count: int, arrival_timeout: float = 5.0, heartbeat_timeout: float = 5.0, secret: str = ""
) -> Iterator[Any]:
    """A host that listens; gives a function that lets a member join (in the background)."""
    loop, port = EventLoopThread(), free_port()
    terms = ClusterTerms(count, arrival_timeout, heartbeat_timeout)
    host = CoordinationServer(terms, "\0nowhere", secret)
    loop.run(host.listen("127.0.0.1", port))

    def join(
        number: int, expected_count: int = count, secret: str = secret
    ) -> tuple[CoordinationClient, Any]:
        terms = ClusterTerms(expected_count, arrival_timeout, heartbeat_timeout)
        member = CoordinationClient(number, terms, secret)
        return member, loop.submit(member.join("127.0.0.1", port, f"127.0.0.1:{port}"))

    join.port = port
    yield loop, join
    loop.run(host.stop())


def eventually(condition: Callable[[], Any], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_nothing_runs_on_after_a_stop():
    before = set(threading.enumerate())
    with cluster(2) as (loop, join):
        members = [join(i) for i in range(2)]
        for _, joined in members:
            joined.result(5)
        stranger = socket.create_connection(("127.0.0.1", join.port))
        for done in [loop.submit(m.leave()) for m, _ in members]:
            done.result(5)
        (thread,) = [t for t in threading.enumerate() if t not in before]
    stranger.close()
    running = []

    async def watch() -> None:
        await asyncio.sleep(0.1)
        running.extend(t.get_coro().__name__ for t in asyncio.all_tasks())

    loop.run(watch())
    assert "_monitor" not in running
    loop.close()
    assert not thread.is_alive()


def test_members_meet_wait_and_part():
    with cluster(3) as (loop, join):
        members = [join(i) for i in range(3)]
        for _, joined in members:
            joined.result(5)
        points = [loop.submit(m.wait_at_barrier("a")) for m, _ in members]
        assert [p.result(5) for p in points] == [None] * 3
        points = [loop.submit(m.wait_at_barrier("b" if m.number else "c")) for m, _ in members]
        assert points[0].result(5) == {"0": "c", "1": "b", "2": "b"}
        leaving = [loop.submit(m.leave()) for m, _ in members[:2]]
        eventually(lambda: set(members[2][0].leaving) == {0, 1})
        assert not any(done.done() for done in leaving)
        for done in [*leaving, loop.submit(members[2][0].leave())]:
            done.result(5)
        assert not any(m.lost for m, _ in members)


def test_members_are_notified_of_an_exit():
    with cluster(3) as (loop, join):
        members = [join(i) for i in range(3)]
        for _, joined in members:
            joined.result(5)
        loop.run(members[1][0].report_failure("KeyError: 'w'"), 5)
        eventually(lambda: 1 in members[0][0].lost and 1 in members[2][0].lost)
        assert members[0][0].lost == {1: "it ended with KeyError: 'w'"}
        # Those that are left can part without it.
        for done in [loop.submit(m.leave()) for m, _ in members if m.number != 1]:
            done.result(5)


def test_a_process_may_be_started_again_before_all_have_come():
    with cluster(2) as (loop, join):
        first, joined = join(1)
        eventually(lambda: first._missing == [0])
        assert first._writer is not None
        loop.run(_closed(first._writer))
        with pytest.raises(CoordinationError, match="process 0 ended before"):
            joined.result(5)
        again, rejoined = join(1)
        other, last = join(0)
        rejoined.result(5)
        last.result(5)
        assert again._writer is not None
        loop.run(_closed(again._writer))
        eventually(lambda: 1 in other.lost)


async def _closed(writer: Any) -> None:
    writer.close()


def test_who_is_missing_is_told_to_all():
    with cluster(4, arrival_timeout=0.3) as (_, join):
        for _, joined in (join(0), join(2)):
            with pytest.raises(
                CoordinationError, match="processes 1, 3 of 4 did not arrive"
            ) as caught:
                joined.result(5)
            assert caught.value.missing == (1, 3)


# --- strangers ----------------------------------------------------------------------------------------


def _line(**message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


HELLO = {"say": "hello", "version": messages.VERSION, "process": 1, "count": 2, "proof": ""}
REFUSED = {
    "another protocol": (b"GET / HTTP/1.1\r\n\r\n", "no JSON"),
    "no text": (b"\xff\xfe\x00\n", "no JSON"),
    "a list": (b"[1]\n", "no message"),
    "no kind": (_line(process=1), "no message"),
    "brackets": (b"[" * 7000 + b"\n", "no JSON"),
    "many brackets": (b"[" * 60_000 + b"\n", "too long"),
    "digits": (b'{"say": "hello", "process": ' + b"9" * 6000 + b"}\n", "no JSON"),
    "an unknown kind": (_line(say="shutdown"), "unknown message 'shutdown'"),
    "an unknown field": (_line(**HELLO, admin=True), "the field 'admin'"),
    "a missing field": (_line(say="hello", version=2), "whose process is no int"),
    "text as number": (_line(**{**HELLO, "process": "1"}), "whose process is no int"),
    "a fraction": (_line(**{**HELLO, "process": 0.5}), "whose process is no int"),
    "a boolean": (_line(**{**HELLO, "process": True}), "whose process is no int"),
    "a negative number": (_line(**{**HELLO, "process": -1}), "process is out of range"),
    "a great number": (_line(**{**HELLO, "process": 7}), "process_id=7 is none of the 2 processes"),
    "another count": (_line(**{**HELLO, "count": 3}), "was started with num_processes=3"),
    "another version": (_line(**{**HELLO, "version": 1}), "another version of sagax"),
    "another beginning": (_line(say="leaving"), "'leaving' as its first message"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_stranger_is_refused_by_name_and_the_job_goes_on(name, caplog):
    noise, text = REFUSED[name]
    with cluster(2) as (_, join):
        _, joined = join(0)
        with socket.create_connection(("127.0.0.1", join.port)) as stranger:
            with contextlib.suppress(OSError):  # closed before all was sent
                stranger.sendall(noise)
            _until_closed(stranger)
        eventually(lambda: caplog.messages)
        _, second = join(1)
        second.result(5)
        joined.result(5)
    (message,) = caplog.messages
    assert message.startswith("refused a connection from 127.0.0.1: ")
    assert text in message


def _until_closed(connection: socket.socket) -> bytes:
    received = b""
    with contextlib.suppress(OSError):
        while data := connection.recv(1 << 16):
            received += data
    return received


def test_a_refused_process_is_told_why():
    with cluster(3) as (_, join):
        _, joined = join(1, expected_count=2)
        with pytest.raises(
            CoordinationError, match="process 1 was started with num_processes=2, process 0 with 3"
        ):
            joined.result(5)
        _, first = join(1)
        _, again = join(1)
        with pytest.raises(CoordinationError, match="two processes were started with process_id=1"):
            again.result(5)
        for _, other in (join(0), join(2)):
            other.result(5)
        first.result(5)


def test_who_waits_for_a_refused_process_is_told_why():
    with cluster(2, arrival_timeout=0.5) as (_, join):
        _, joined = join(0)
        _, refused = join(1, expected_count=4)
        with pytest.raises(CoordinationError, match="num_processes=4"):
            refused.result(5)
        with pytest.raises(
            CoordinationError, match="process 1 of 2 did not arrive.*num_processes=4"
        ):
            joined.result(5)


def test_messages_of_a_member_are_checked(caplog):
    """A process that sends what it should not is lost, by name; the others work on."""
    with cluster(3) as (loop, join):
        members = [join(i) for i in range(3)]
        for _, joined in members:
            joined.result(5)
        writer = members[1][0]._writer

        async def disturb():
            writer.write(_line(say="calls", calls=-1))

        loop.run(disturb())
        eventually(lambda: 1 in members[0][0].lost and 1 in members[2][0].lost)
        for done in [loop.submit(members[i][0].leave()) for i in (0, 2)]:
            done.result(5)
    assert "process 1 sent a message 'calls' whose calls is out of range" in caplog.text


def test_connections_that_say_nothing_are_limited(caplog, monkeypatch):
    monkeypatch.setattr(coordination, "_UNKNOWN_LIMIT", 20)
    monkeypatch.setattr(coordination, "_HELLO_TIMEOUT", 0.5)
    with cluster(2) as (_, join), contextlib.ExitStack() as connections:
        for _ in range(50):
            connections.enter_context(socket.create_connection(("127.0.0.1", join.port)))
        eventually(lambda: "20 others have said nothing yet" in caplog.text)
        eventually(lambda: "it sent nothing for 0.5 s" in caplog.text)
        joined = [join(i)[1] for i in range(2)]
        for each in joined:
            each.result(5)
    assert 2 <= len(caplog.messages) <= 6  # not one for each


def test_a_process_that_reads_nothing_is_dropped():
    with cluster(2) as (loop, join):
        member, joined = join(0)
        stranger = socket.create_connection(("127.0.0.1", join.port))
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stranger.sendall(_line(**HELLO))
        joined.result(5)

        async def flood():
            for _ in range(3000):
                send(member._writer, {"say": "failed", "text": "x" * 2000})
                await asyncio.sleep(0)

        with contextlib.suppress(ConnectionError):
            loop.run(flood(), 30)
        stranger.close()
        eventually(lambda: 1 in member.lost)


# --- the secret ---------------------------------------------------------------------------------------


def test_only_who_knows_the_secret_is_served(caplog):
    with cluster(2, secret="correct horse") as (_, join):
        _, joined = join(0)
        for secret, text in (("", "it has no secret"), ("battery", "does not know the secret")):
            _, refused = join(1, secret=secret)
            with pytest.raises(CoordinationError, match=text) as caught:
                refused.result(5)
            assert "SAGAX_COORDINATOR_SECRET" in caught.value.fix
        with socket.create_connection(("127.0.0.1", join.port)) as stranger:
            stranger.sendall(_line(say="store", version=messages.VERSION, proof="0" * 64))
            answer = _until_closed(stranger)
        assert b"correct horse" not in answer and b'"refused"' in answer
        join(1)[1].result(5)
        joined.result(5)
    assert "correct horse" not in caplog.text


def test_a_proof_holds_for_one_challenge():
    assert messages.proof("s", "a", "hello") != messages.proof("s", "b", "hello")
    assert messages.proof("s", "a", "hello") != messages.proof("s", "a", "store")
    assert messages.proof("", "a", "hello") == ""


def test_a_process_with_a_secret_wants_to_be_asked():
    with cluster(2) as (_, join):
        _, joined = join(1, secret="known")
        with pytest.raises(CoordinationError, match="process 0 asks for none"):
            joined.result(5)
