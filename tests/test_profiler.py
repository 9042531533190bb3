"""Profiles, their names and files; listening to what happens inside."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys

import pytest

import sagax
import sagax.numpy as snp
from sagax import monitoring, profiler


def names(session):
    return {e.name for p in session.profile_data.planes for line in p.lines for e in line.events}


def test_a_trace_is_written_as_tensorboard_reads_it(tmp_path):
    with profiler.trace(tmp_path, create_perfetto_trace=True) as session:
        with profiler.TraceAnnotation("load data", size=3):
            snp.ones(10).sum().block_until_ready()
    (found,) = tmp_path.glob("plugins/profile/*/*.xplane.pb")
    assert found.name == f"{socket.gethostname()}.xplane.pb"
    again = profiler.ProfileData.from_file(str(found))
    assert [p.name for p in again.planes] == [p.name for p in session.profile_data.planes]
    with gzip.open(found.with_name("perfetto_trace.json.gz"), "rt") as file:
        events = json.load(file)["traceEvents"]
    (mine,) = [e for e in events if e["name"] == "load data"]
    assert (mine["ph"], mine["dur"] > 0) == ("X", True)


def test_names_of_blocks_steps_and_functions():
    @profiler.annotate_function
    def plain():
        return 1

    @profiler.annotate_function(name="renamed", kind="x")
    def other():
        return 2

    @profiler.TraceAnnotation("decorated")
    def third():
        return 3

    session = profiler.start_trace(None)
    assert session.is_running
    assert (plain(), other(), third()) == (1, 2, 3)
    with profiler.StepTraceAnnotation("train", step_num=4):
        pass
    assert profiler.stop_trace() is session
    assert not session.is_running
    found = names(session)
    assert {"renamed", "decorated", "train"} <= found
    assert any(name.endswith("plain") for name in found)
    assert plain.__name__ == "plain"


def test_one_profile_at_a_time(tmp_path):
    session = profiler.ProfileSession()
    with session:
        with pytest.raises(RuntimeError, match="Only one profile may be run at a time"):
            profiler.start_trace(tmp_path)
        with pytest.raises(RuntimeError, match="the profile has not ended"):
            profiler.export_profile_data(session, tmp_path)
    with pytest.raises(RuntimeError, match="No profile started"):
        profiler.stop_trace()
    profiler.export_profile_data(session, tmp_path, session_id="mine", create_perfetto_trace=True)
    assert (tmp_path / "plugins/profile/mine/perfetto_trace.json.gz").exists()


def test_a_link_to_perfetto_is_printed(tmp_path, capsys):
    with profiler.ProfileSession(tmp_path, create_perfetto_link=True):
        pass
    assert "https://ui.perfetto.dev" in capsys.readouterr().out


def test_options_of_a_profile():
    options = profiler.ProfileOptions()
    options.python_tracer_level = 0
    with profiler.trace(profiler_options=options) as session:
        snp.ones(3).sum()
    assert session.profile_data.find_plane_with_name("/host:CPU") is not None


def test_a_failing_block_ends_its_profile():
    with pytest.raises(KeyError), profiler.trace():
        raise KeyError("mine")
    with profiler.trace():
        pass


def test_servers():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = profiler.start_server(port)
    assert server is not None
    profiler.stop_server()
    with pytest.raises(RuntimeError, match="No active profiler server"):
        profiler.stop_server()


WORKER = """
import sys
from sagax import profiler
profiler.start_server(int(sys.argv[1]), requires_backend=False)
print("ready", flush=True)
sys.stdin.read()
"""


def test_another_process_is_registered_once_until_it_is_left_out():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", WORKER, str(port)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as worker:
        assert worker.stdout.readline() == "ready\n"
        leave_out = profiler.register_subprocess(worker.pid, port)
        with pytest.raises(RuntimeError, match=f"process {worker.pid} cannot be profiled"):
            profiler.register_subprocess(worker.pid, port)
        with profiler.trace() as session:
            snp.ones(3).sum()
        assert session.profile_data.find_plane_with_name("/host:CPU") is not None
        leave_out()
        profiler.register_subprocess(worker.pid, port)()
        worker.stdin.close()


def test_numbers_of_a_process_to_register_are_looked_at():
    with pytest.raises(ValueError, match="argument pid must be a number of a process"):
        profiler.register_subprocess("worker", 1)
    with pytest.raises(ValueError, match="argument port must be a number from 1 to 65535"):
        profiler.register_subprocess(1, 70000)


def test_memory_profiles(tmp_path):
    keep = sagax.device_put(snp.ones(1000), sagax.devices()[0])
    assert sagax.jit(lambda x: x + 1)(keep).shape == (1000,)
    profiler.save_device_memory_profile(tmp_path / "memory.prof")
    data = gzip.decompress((tmp_path / "memory.prof").read_bytes())
    assert b"buffer" in data
    assert profiler.device_memory_profile("cpu")[:2] == b"\x1f\x8b"  # gzip, as pprof wants it


# monitoring -----------------------------------------------------------------------------------------


@pytest.fixture
def listening():
    yield []
    monitoring.clear_event_listeners()


def test_what_compiling_takes_is_told(listening):
    monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **more: listening.append((event, seconds > 0, more["fun_name"]))
    )

    def scaled(x):
        return snp.sin(x) * 3

    f = sagax.jit(scaled)
    f(snp.ones(5))
    ours = [(event.rpartition("/")[2], more) for event, _, more in listening if more == "scaled"]
    assert ours == [
        ("jaxpr_trace_duration", "scaled"),
        ("jaxpr_to_mlir_module_duration", "scaled"),
        ("backend_compile_duration", "scaled"),
    ]
    assert all(positive for _, positive, _ in listening)
    listening.clear()
    f(snp.ones(5))
    assert listening == []


def test_events_of_all_kinds_reach_their_listeners(listening):
    monitoring.register_event_listener(lambda *a, **k: listening.append((a, k)))
    monitoring.register_event_duration_secs_listener(lambda *a, **k: listening.append((a, k)))
    monitoring.register_event_time_span_listener(lambda *a, **k: listening.append((a, k)))
    monitoring.register_scalar_listener(lambda *a, **k: listening.append((a, k)))
    monitoring.record_event("/a", x=1)
    monitoring.record_event_duration_secs("/b", 0.5)
    monitoring.record_event_time_span("/c", 1.0, 2.0, y="z")
    monitoring.record_scalar("/d", 7)
    assert listening == [
        (("/a",), {"x": 1}),
        (("/b", 0.5), {}),
        (("/c", 1.0, 2.0), {"y": "z"}),
        (("/d", 7), {}),
    ]


def test_listeners_can_be_taken_back(listening):
    pairs = [
        (monitoring.register_event_listener, monitoring.unregister_event_listener),
        (
            monitoring.register_event_duration_secs_listener,
            monitoring.unregister_event_duration_listener,
        ),
        (
            monitoring.register_event_time_span_listener,
            monitoring.unregister_event_time_span_listener,
        ),
        (monitoring.register_scalar_listener, monitoring.unregister_scalar_listener),
    ]
    for register, unregister in pairs:
        register(listening.append)
        unregister(listening.append)
        with pytest.raises(ValueError, match="a function that is registered"):
            unregister(listening.append)
        with pytest.raises(TypeError, match="a function of the event's name"):
            register(3)
    monitoring.record_event("/a")
    assert listening == []
