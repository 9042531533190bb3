"""Several processes: how they come together, work on shared arrays, and survive each other's ends."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sagax
from sagax import errors
from sagax._src.runtime.distributed import cluster_env
from sagax.experimental import mesh_utils, multihost_utils
from sagax.sharding import Mesh
from sagax.sharding import PartitionSpec as P

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 90  # seconds that a test waits for processes, on a machine that does much else


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- whole programs ----------------------------------------------------------------------------------

# The preamble of each program. Results are printed as one line of JSON.
HEAD = """
import json, os, signal, sys, time
import numpy as np
import sagax, sagax.numpy as snp
from sagax.experimental import multihost_utils
from sagax.sharding import NamedSharding, PartitionSpec as P

me, count, port = map(int, sys.argv[1:4])

def start(devices=2, heartbeat_timeout=20):
    sagax.config.update("num_cpu_devices", devices)
    sagax.distributed.initialize(
        f"127.0.0.1:{port}", count, me, initialization_timeout=60,
        heartbeat_timeout_seconds=heartbeat_timeout, shutdown_timeout_seconds=30,
    )

def line_up(rows):
    mesh = sagax.make_mesh((sagax.device_count(),), ("x",))
    divided = NamedSharding(mesh, P("x"))
    return sagax.make_array_from_callback(rows.shape, divided, lambda index: rows[index])

def tell(**found):
    print(json.dumps(found), flush=True)

def failure_of(function):
    begun = time.monotonic()
    try:
        function()
    except Exception as error:
        return {
            "kind": type(error).__name__, "text": str(error),
            "processes": list(getattr(error, "processes", ())), "seconds": time.monotonic() - begun,
        }
    return None
"""


class Ended:
    """What a process printed, and its exit status."""

    def __init__(self, process: subprocess.Popen[str], output: str, errors: str) -> None:
        self.status, self.output, self.errors = process.returncode, output, errors

    @property
    def results(self) -> dict[str, Any]:
        lines = [line for line in self.output.splitlines() if line.startswith("{")]
        assert lines, self.errors
        return json.loads(lines[-1])


def run_processes(
    program: str, count: int, tmp_path: Path, ports: int | None = None
) -> list[Ended]:
    """Runs `count` processes of a program (after HEAD) to their ends."""
    path = tmp_path / "program.py"
    path.write_text(HEAD + program, encoding="utf-8")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "SAGAX_"))}
    env["PYTHONPATH"] = str(ROOT / "src")
    env["JAX_PLATFORMS"] = "cpu"
    env["SAGAX_COMPILATION_CACHE_DIR"] = str(tmp_path / "cache")
    port = ports or free_port()
    started = [
        subprocess.Popen(
            [sys.executable, path, str(i), str(count), str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
            cwd=tmp_path,
        )
        for i in range(count)
    ]
    end = time.monotonic() + PATIENCE
    try:
        texts = [p.communicate(timeout=max(1.0, end - time.monotonic())) for p in started]
    finally:
        for p in started:
            if p.poll() is None:
                p.kill()
                p.communicate()
    return [Ended(p, *text) for p, text in zip(started, texts)]


WORK = """
start()
import io, contextlib
results = {"index": sagax.process_index(), "count": sagax.process_count()}
results["devices"] = [d.process_index for d in sagax.devices()]
results["local"] = [d.process_index for d in sagax.local_devices()]
results["initialized"] = sagax.distributed.is_initialized()
rows = np.arange(12, dtype=np.float32).reshape(4, 3)
x = line_up(rows)
results["addressable"] = x.is_fully_addressable
results["shards"] = [np.asarray(s.data).tolist() for s in x.addressable_shards]
results["repr"] = repr(x)
results["sums"] = np.asarray(sagax.jit(lambda x: (x * x).sum(axis=0))(x)).tolist()
results["eager"] = np.asarray((x + 1).sum()).tolist()
w = sagax.device_put(np.array([1.0, -2.0, 3.0], np.float32), NamedSharding(x.sharding.mesh, P()))
results["grad"] = np.asarray(sagax.jit(sagax.grad(lambda w: ((x @ w) ** 2).sum()))(w)).tolist()
mine = rows[2 * me : 2 * me + 2]
again = sagax.make_array_from_process_local_data(x.sharding, mine)
results["equal"] = bool(snp.all(again == x))
results["alone"] = np.asarray(sagax.jit(lambda v: v * 2)(np.arange(3.0, dtype=np.float32))).tolist()
results["unreadable"] = failure_of(lambda: np.asarray(x))

m = multihost_utils
results["gathered"] = m.process_allgather({"a": np.full(2, me), "b": me}, tiled=False)["a"].tolist()
results["joined"] = m.process_allgather(np.full(2, me), tiled=True).tolist()
results["whole"] = m.process_allgather(x, tiled=True).tolist()
results["stacked"] = failure_of(lambda: m.process_allgather(x))
got = m.broadcast_one_to_all({"pi": np.pi * (1 - me), "big": 2**40 + 1 if me == 0 else 0, "minus": -0.0, "yes": me == 0})
results["broadcast"] = [float(got["pi"]), int(got["big"]), bool(np.signbit(got["minus"])), bool(got["yes"])]
results["from_1"] = m.broadcast_one_to_all(me, is_source=me == 1).tolist()
m.sync_global_devices("here")
results["names"] = failure_of(lambda: m.sync_global_devices(f"point {me}"))
results["types"] = failure_of(lambda: m.broadcast_one_to_all(np.zeros(2 + me)))
m.assert_equal({"a": 3, "nan": float("nan")})

examples = np.arange(1, 3, dtype=np.float32) + 2 * me
mapped = sagax.pmap(lambda x, k: (sagax.lax.psum(x, "i") * k, sagax.lax.axis_index("i"), x[None]), "i", in_axes=(0, None), out_axes=(None, 0, 1))
outs = mapped(examples, 10)
results["pmap"] = [np.asarray(o).tolist() for o in outs] + [outs[1].is_fully_addressable]
results["pmap_again"] = np.asarray(mapped(outs[1] + 1.0, 1)[0]).tolist()
line = sagax.make_mesh((4,), ("i",))
results["pmap_all"] = np.asarray(mapped(m.host_local_array_to_global_array(examples, line, P("i")), 1)[2]).tolist()
mixed = [sagax.devices()[i] for i in (3, 0, 2, 1)]
results["pmap_mixed"] = np.asarray(sagax.pmap(lambda x: 10 * sagax.lax.axis_index("i") + x, "i", devices=mixed)(examples)).tolist()
results["pmap_here"] = np.asarray(sagax.pmap(lambda x: sagax.lax.psum(x, "i"), "i", devices=sagax.local_devices())(examples)).tolist()
given = sagax.pmap(lambda x: x)(examples)
results["pmap_donated"] = np.asarray(sagax.pmap(lambda x: x + 1, donate_argnums=0)(given)).tolist() + [given.is_deleted()]
results["pmap_lowered"] = "manual_computation" in mapped.lower(examples, 10).as_text()
results["pmap_jit"] = failure_of(lambda: sagax.jit(mapped)(examples, 1))
results["pmap_size"] = failure_of(lambda: mapped(np.zeros(4, np.float32), 1))
results["pmap_axis_size"] = failure_of(lambda: sagax.pmap(lambda x: x, axis_size=2)(examples))
results["different"] = failure_of(lambda: m.assert_equal(me, "settings differ"))
up = m.host_local_array_to_global_array({"a": mine}, x.sharding.mesh, P("x"))["a"]
results["up"] = m.process_allgather(up, tiled=True).tolist()
results["down"] = np.asarray(m.global_array_to_host_local_array(x, x.sharding.mesh, P("x"))).tolist()
results["down_whole"] = np.asarray(m.global_array_to_host_local_array(x, x.sharding.mesh, P())).tolist()
results["twice"] = failure_of(start)

saves = []
for step in range(400):
    if step == 3 and me == 1:
        os.kill(os.getpid(), signal.SIGTERM)
    if m.reached_preemption_sync_point(step):
        saves.append(step)
    if step > 3 and any(m.process_allgather(len(saves))):
        break
results["saves"] = saves
tell(**results)
sagax.distributed.shutdown()
"""


def test_two_processes_work_together(tmp_path):
    ended = run_processes(WORK, 2, tmp_path)
    assert [e.status for e in ended] == [0, 0], "\n".join(e.errors for e in ended)
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    w = np.array([1.0, -2.0, 3.0], np.float32)
    for me, (results, output) in enumerate([(e.results, e.output) for e in ended]):
        assert output.count("\n") == 1, "nothing but our own line is printed"
        assert (results["index"], results["count"]) == (me, 2)
        assert results["devices"] == [0, 0, 1, 1]
        assert results["local"] == [me, me]
        assert results["initialized"] is True
        assert results["addressable"] is False
        assert results["shards"] == rows[2 * me : 2 * me + 2, None].tolist()
        assert results["repr"] == "Array(shape=(4, 3), dtype=float32)"
        np.testing.assert_allclose(results["sums"], (rows * rows).sum(axis=0), rtol=1e-6)
        assert results["eager"] == rows.sum() + 12
        np.testing.assert_allclose(results["grad"], 2 * rows.T @ (rows @ w), rtol=1e-6)
        assert results["equal"] is True
        assert results["alone"] == [0, 2, 4]
        assert "process_allgather" in results["unreadable"]["text"]

        assert results["gathered"] == [[0, 0], [1, 1]]
        assert results["joined"] == [0, 0, 1, 1]
        assert results["whole"] == rows.tolist()
        assert "tiled=True" in results["stacked"]["text"]
        assert results["broadcast"] == [np.pi, 2**40 + 1, True, True]
        assert results["from_1"] == 1
        assert results["names"]["kind"] == "AssertionError"
        assert "point 0" in results["names"]["text"] and "point 1" in results["names"]["text"]
        assert results["types"]["kind"] == "DistributedError"
        assert f"process {1 - me} " in results["types"]["text"]
        assert results["different"]["kind"] == "AssertionError"
        assert "settings differ" in results["different"]["text"]
        # Each process has two of the examples 1, 2, 3, 4.
        mine = [2 * me, 2 * me + 1]
        assert results["pmap"] == [100, mine, [[i + 1 for i in mine]], True]
        assert results["pmap_again"] == 10
        assert results["pmap_all"] == [[i + 1 for i in mine]]
        places = [(1, 3), (0, 2)][me]  # of its devices among all
        assert results["pmap_mixed"] == [10 * p + i + 1 for p, i in zip(places, mine)]
        assert results["pmap_here"] == [sum(mine) + 2] * 2
        assert results["pmap_donated"] == [i + 2 for i in mine] + [True]
        assert results["pmap_lowered"] is True
        assert "cannot be called inside of another transformation" in results["pmap_jit"]["text"]
        assert (
            "there are 4 examples for the 2 devices that this process has"
            in results["pmap_size"]["text"]
        )
        assert "axis_size must be 4" in results["pmap_axis_size"]["text"]

        assert results["up"] == rows.tolist()
        assert results["down"] == rows[2 * me : 2 * me + 2].tolist()
        assert results["down_whole"] == rows.tolist()
        assert "should only be called once" in results["twice"]["text"]
    saves = [e.results["saves"] for e in ended]
    assert saves[0] == saves[1] and len(saves[0]) == 1 and saves[0][0] >= 3


# The process that dies; then what those that live tell of it: while a program runs, and again.
DIE = """
start(devices={devices}, heartbeat_timeout={heartbeat_timeout})
x = line_up(np.ones((count * {devices}, 2), np.float32))
step = sagax.jit(lambda x: (x * 2).sum())
before = float(step(x))
if me == {who}:
    time.sleep(0.3)  # the others wait within the program meanwhile
    {how}
def work():
    for _ in range(100_000):
        float(step(x))
during = failure_of(work)
tell(before=before, during=during, after=failure_of(lambda: step(x)), alone=float(snp.arange(3.0).sum()))
"""


def killed(
    tmp_path, how: str, *, who: int, count: int, devices: int = 1, heartbeat_timeout: float = 20
):
    program = DIE.format(how=how, who=who, devices=devices, heartbeat_timeout=heartbeat_timeout)
    ended = run_processes(program, count, tmp_path)
    for i, e in enumerate(ended):
        if i == who:
            continue
        assert e.status == 0, e.errors
        assert e.results["before"] == 4.0 * count * devices
        assert e.results["alone"] == 3.0  # what needs nobody else goes on
        for failure in (e.results["during"], e.results["after"]):
            assert failure["kind"] == "DistributedError"
            assert failure["processes"] == [who]
            assert f"process {who} of {count} was lost" in failure["text"]
        assert e.results["after"]["seconds"] < 5
    return ended


def test_a_killed_process_is_named_by_the_three_others(tmp_path):
    ended = killed(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)", who=2, count=4)
    assert ended[2].status == -9
    # Immediately: the connection ends with the process. (The heartbeat timeout is 20 s.)
    assert all(e.results["during"]["seconds"] < 15 for i, e in enumerate(ended) if i != 2)


def test_the_others_survive_the_first_process(tmp_path):
    killed(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)", who=0, count=2, devices=2)


def test_an_exception_in_one_process_is_told_to_the_others(tmp_path):
    how = 'raise ValueError("no such file: digits.npz")'
    ended = killed(tmp_path, how, who=1, count=2)
    assert ended[1].status == 1
    assert (
        "it ended with ValueError: no such file: digits.npz" in ended[0].results["during"]["text"]
    )


def test_a_process_that_stops_without_ending_is_noticed(tmp_path):
    # It is continued after the others must have noticed, and then learns that they gave it up.
    how = (
        'os.spawnl(os.P_NOWAIT, "/bin/sh", "sh", "-c", f"sleep 10; kill -CONT {os.getpid()}"); '
        "os.kill(os.getpid(), signal.SIGSTOP)"
    )
    program = DIE.format(how=how, who=1, devices=1, heartbeat_timeout=4)
    living, stopped = run_processes(program, 2, tmp_path)
    assert living.status == 0, living.errors
    assert "nothing was heard of it for 4 s" in living.results["during"]["text"]
    assert living.results["during"]["processes"] == [1]
    assert stopped.results["during"]["kind"] == "DistributedError"


# --- what initialize refuses ---------------------------------------------------------------------------


def test_initialize_with_nobody_there(tmp_path):
    """A missing process, a port in use, an address where nobody listens: three of one kind in one process."""
    program = """
import socket
def init(address, count, number, timeout=0.5, **more):
    return failure_of(lambda: sagax.distributed.initialize(
        address, count, number, initialization_timeout=timeout, **more))
missing = init(f"127.0.0.1:{port}", 3, 0)
nobody = init(f"127.0.0.1:{port}", 3, 1)
unknown = init("no-such-host.invalid:1234", 2, 1)
taken = socket.socket()
taken.bind(("", 0))
taken.listen()
in_use = init(f"127.0.0.1:{taken.getsockname()[1]}", 2, 0)
stranger = init(f"127.0.0.1:{taken.getsockname()[1]}", 2, 1)
elsewhere = init(f"127.0.0.1:{port}", 2, 0, coordinator_bind_address="203.0.113.1:1234")
alone = sagax.distributed.is_initialized(), sagax.process_count()
late = init(f"127.0.0.1:{port}", 1, 0)
tell(missing=missing, nobody=nobody, unknown=unknown, in_use=in_use, stranger=stranger,
     elsewhere=elsewhere, alone=alone, late=late)
"""
    (ended,) = run_processes(program, 1, tmp_path)
    assert ended.status == 0, ended.errors
    results = ended.results
    assert all(f["kind"] == "DistributedError" for n, f in results.items() if n != "alone")
    assert "processes 1, 2 of 3 did not arrive within 0.5 s" in results["missing"]["text"]
    assert results["missing"]["processes"] == [1, 2]
    assert "process 1 could not reach process 0" in results["nobody"]["text"]
    assert "connection refused" in results["nobody"]["text"]
    assert results["nobody"]["processes"] == [0]
    assert "no-such-host.invalid" in results["unknown"]["text"]
    assert "cannot listen on port" in results["in_use"]["text"]
    assert "another port" in results["in_use"]["text"]
    assert "does not answer as process 0" in results["stranger"]["text"]
    assert "cannot listen on 203.0.113.1" in results["elsewhere"]["text"]
    assert results["alone"] == [False, 1]
    assert "cpu was started" in results["late"]["text"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("10.0.0.1:1", 2, 2), "process_id must be from 0 to 1; got 2"),
        (("10.0.0.1:1", 2, -1), "process_id must be from 0 to 1; got -1"),
        (("10.0.0.1:1", 0, 0), "num_processes must be at least 1; got 0"),
        (("10.0.0.1:1", 2.0, 0), "num_processes must be an int; got 2.0"),
        (("10.0.0.1", 2, 0), "coordinator_address must be a host and a port"),
        (("10.0.0.1:99999", 2, 0), "coordinator_address must be a host and a port"),
        ((None, None, None, None, "lsf"), "cluster_detection_method must be one of 'ompi'"),
        ((None, None, None, None, "slurm"), "not started in the way that 'slurm' stands for"),
        ((None, 2, 0), "coordinator_address should be defined"),
        (("10.0.0.1:1",), "num_processes, process_id should be defined"),
        (
            ("10.0.0.1:1", 2, 0, None, None, -1),
            "initialization_timeout must be a number of seconds",
        ),
    ],
)
def test_initialize_refuses(arguments, text):
    with pytest.raises(errors.SagaxError, match=re.escape(text)):
        sagax.distributed.initialize(*arguments)


def test_initialize_has_no_encryption():
    with pytest.raises(NotImplementedError, match="does not encrypt"):
        sagax.distributed.initialize("10.0.0.1:1", 2, 0, mtls_cert_file="cert.pem")


def test_initialize_reads_the_environment(monkeypatch):
    monkeypatch.setattr(sagax._src.runtime.devices, "_backends", {})
    seen: dict[str, Any] = {}
    monkeypatch.setattr(sagax.distributed.process, "join", lambda *a, **k: seen.update(k, place=a))
    monkeypatch.setattr(sagax.distributed.atexit, "register", lambda function: None)
    for name, value in {
        "JAX_COORDINATOR_ADDRESS": "10.0.0.1:5",
        "SAGAX_COORDINATOR_ADDRESS": "10.0.0.2:5",
        "JAX_NUM_PROCESSES": "4",
        "SAGAX_PROCESS_ID": "3",
        "JAX_LOCAL_DEVICE_IDS": "0,2",
        "JAX_COORDINATOR_BIND_ADDRESS": "[::]:6",
    }.items():
        monkeypatch.setenv(name, value)
    sagax.distributed.initialize()
    assert seen["place"] == ("10.0.0.2:5", 4, 3)
    assert seen["visible_devices"] == [0, 2]
    assert seen["bind_address"] == "[::]:6"
    monkeypatch.setenv("SAGAX_PROCESS_ID", "three")
    with pytest.raises(
        errors.ArgumentValueError, match="SAGAX_PROCESS_ID .* must be a whole number"
    ):
        sagax.distributed.initialize()


# --- launchers -----------------------------------------------------------------------------------------

SLURM = {
    "SLURM_JOB_ID": "123456",
    "SLURM_STEP_NODELIST": "node[001,007-015],host2",
    "SLURM_NTASKS": "8",
    "SLURM_PROCID": "3",
    "SLURM_LOCALID": "1",
}
OPEN_MPI = {
    "OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://10.96.0.1,10.148.0.1,10.108.0.1:34911",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_RANK": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
}


# What jax 0.12's own detection says of these environments (but for the last: jax says `a12]`).
@pytest.mark.parametrize(
    ("nodes", "host"),
    [
        ("node001", "node001"),
        ("node[001-015],host2", "node001"),
        ("node[001,007-015],host2", "node001"),
        ("node001,host2", "node001"),
        ("host2,node[001-015]", "host2"),
        ("a-b[3-4,9]", "a-b3"),
        ("a[12]-x", "a12-x"),
    ],
)
def test_the_first_of_slurms_nodes(nodes, host):
    place = cluster_env.detect(None, {**SLURM, "SLURM_STEP_NODELIST": nodes})
    assert place == cluster_env.ProcessIdentity(f"{host}:62016", 8, 3, 1)


def test_open_mpi():
    assert cluster_env.detect(None, OPEN_MPI) == cluster_env.ProcessIdentity(
        "10.96.0.1:62624", 4, 2, 1
    )
    uri = "1314521088.0;tcp6://[fe80::b9b:ac5d:9cf0:b858,2620:10d:c083:150e::3000:2]:43370"
    place = cluster_env.detect("ompi", {**OPEN_MPI, "OMPI_MCA_orte_hnp_uri": uri})
    assert place is not None
    assert place.coordinator_address == "[fe80::b9b:ac5d:9cf0:b858]:62880"
    with pytest.raises(errors.ArgumentValueError, match="OMPI_MCA_orte_hnp_uri"):
        cluster_env.detect(None, {**OPEN_MPI, "OMPI_MCA_orte_hnp_uri": "nonsense"})


def test_a_port_of_ones_own():
    place = cluster_env.detect(None, {**SLURM, "JAX_COORDINATOR_PORT": "7000"})
    assert place is not None and place.coordinator_address == "node001:7000"


def test_no_launcher():
    assert cluster_env.detect(None, {}) is None
    assert cluster_env.detect("deactivate", SLURM) is None


def test_kubernetes():
    environ = {
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "JOB_COMPLETION_INDEX": "2",
        "HOSTNAME": "train-2-abc",
        "POD_NAMESPACE": "lab",
    }
    pod = {"metadata": {"labels": {"job-name": "train"}}, "spec": {"subdomain": "pods"}}
    job: dict[str, Any] = {"metadata": {}, "spec": {"parallelism": 4}}

    def ask(path: str) -> dict[str, Any]:
        answers = {
            "/api/v1/namespaces/lab/pods/train-2-abc": pod,
            "/apis/batch/v1/namespaces/lab/jobs/train": job,
        }
        return answers[path]

    assert cluster_env.kubernetes(environ, ask) == cluster_env.ProcessIdentity(
        "train-0.pods:55527", 4, 2
    )
    job["metadata"]["labels"] = {"jobset.sigs.k8s.io/jobset-name": "set"}
    place = cluster_env.kubernetes(environ, ask)
    assert place is not None and place.coordinator_address == "train-0.set:55527"
    job["metadata"].clear()
    pod["spec"] = {}
    with pytest.raises(errors.ArgumentValueError, match="headless service"):
        cluster_env.kubernetes(environ, ask)

    def refuse(path: str) -> dict[str, Any]:
        raise PermissionError(403, "Forbidden")

    with pytest.raises(errors.ArgumentValueError, match="service account"):
        cluster_env.kubernetes(environ, refuse)


# --- one process --------------------------------------------------------------------------------------


def test_alone():
    assert sagax.distributed.is_initialized() is False
    sagax.distributed.shutdown()
    # The results of jax 0.12 in one process.
    tree = {"a": sagax.numpy.arange(3.0), "b": 2, "c": True}
    got = multihost_utils.broadcast_one_to_all(tree)
    assert [(type(x), x.dtype, x.shape) for x in got.values()] == [
        (np.ndarray, np.float32, (3,)),
        (np.ndarray, np.int64, ()),
        (np.ndarray, np.bool_, ()),
    ]
    assert [x.shape for x in multihost_utils.process_allgather(tree).values()] == [
        (1, 3),
        (1,),
        (1,),
    ]
    tiled = multihost_utils.process_allgather(tree, tiled=True)
    assert [x.shape for x in tiled.values()] == [(3,), (), ()]
    assert multihost_utils.reached_preemption_sync_point(3) is False
    with pytest.raises(errors.ArgumentError, match="arrays and numbers"):
        multihost_utils.process_allgather(object())


def test_specs_of_host_local_arrays():
    mesh = Mesh(np.array(sagax.devices()[:1]), ("x",))
    x = multihost_utils.host_local_array_to_global_array({"a": np.arange(4.0)}, mesh, P("x"))
    assert x["a"].sharding.spec == P("x")
    back = multihost_utils.global_array_to_host_local_array(x, mesh, {"a": P("x")})
    np.testing.assert_array_equal(back["a"], np.arange(4.0))
    with pytest.raises(
        errors.ArgumentValueError, match="`None` is not a valid input to the pspecs"
    ):
        multihost_utils.host_local_array_to_global_array(np.arange(4.0), mesh, None)


class Device:
    """What mesh_utils looks at of a device."""

    def __init__(self, number: int, process: int, **more: int) -> None:
        self.id, self.process_index = number, process
        self.__dict__.update(more)

    def __repr__(self) -> str:
        return f"device {self.id}"


def ids(mesh: np.ndarray) -> list[Any]:
    return np.vectorize(lambda d: d.id)(mesh).tolist()


def test_create_device_mesh():
    many = [Device(i, i // 4) for i in range(8)]
    assert ids(mesh_utils.create_device_mesh((4, 2), many)) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    with pytest.raises(
        ValueError, match=r"Number of devices 8 must equal the product of mesh_shape \(2, 2\)"
    ):
        mesh_utils.create_device_mesh((2, 2), many)


def test_create_hybrid_device_mesh():
    many = [Device(i, i // 4) for i in range(8)]
    mesh = mesh_utils.create_hybrid_device_mesh((2, 2), (2, 1), many, process_is_granule=True)
    assert ids(mesh) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    mesh = mesh_utils.create_hybrid_device_mesh((2, 2), (1, 2), many, process_is_granule=True)
    assert ids(mesh) == [[0, 1, 4, 5], [2, 3, 6, 7]]
    slices = [Device(i, 0, slice_index=1 - i // 2) for i in range(4)]
    assert ids(mesh_utils.create_hybrid_device_mesh((2,), (2,), slices)) == [2, 3, 0, 1]
    mesh = mesh_utils.create_hybrid_device_mesh(
        (2,), (2,), slices, should_sort_granules_by_key=False
    )
    assert ids(mesh) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="See `process_is_granule` option"):
        mesh_utils.create_hybrid_device_mesh((4,), (2,), many)
    with pytest.raises(
        ValueError, match="Number of slices 2 must equal the product of dcn_mesh_shape"
    ):
        mesh_utils.create_hybrid_device_mesh((4,), (1,), many, process_is_granule=True)
    with pytest.raises(ValueError, match="dcn_mesh_shape must be as many sizes as mesh_shape, 2"):
        mesh_utils.create_hybrid_device_mesh((4, 1), (2,), many, process_is_granule=True)
    with pytest.raises(ValueError, match="Number of devices 4 must equal"):
        mesh_utils.create_hybrid_device_mesh((2,), (2,), many, process_is_granule=True)


# Each process writes its own parts; they are read again by another number of processes, into another layout.
SAVE = """
import safetensors.numpy
start()
rows = np.arange(48, dtype=np.float32).reshape(8, 6)
x = line_up(rows[: 2 * sagax.device_count()])
parts = {
    str(s.index[0].start): np.asarray(s.data) for s in x.addressable_shards if s.replica_id == 0
}
safetensors.numpy.save_file(parts, f"part-{me}.safetensors")
multihost_utils.sync_global_devices("written")
read = {}
for number in range(count):
    read |= safetensors.numpy.load_file(f"part-{number}.safetensors")
whole = np.concatenate([read[key] for key in sorted(read, key=int)])
mesh = sagax.make_mesh((2, sagax.device_count() // 2), ("a", "b"))
again = sagax.make_array_from_callback(
    whole.shape, NamedSharding(mesh, P("b", "a")), lambda index: whole[index]
)
tell(
    shape=list(again.shape),
    shards=[np.asarray(s.data).tolist() for s in again.addressable_shards],
    equal=bool(np.array_equal(multihost_utils.process_allgather(again, tiled=True), whole)),
    total=float(sagax.jit(lambda x: x.sum())(again)),
)
"""


def test_checkpoint_by_safetensors(tmp_path):
    pytest.importorskip("safetensors", reason="the extra `test` brings it")
    ended = run_processes(SAVE, 2, tmp_path)
    rows = np.arange(48, dtype=np.float32).reshape(8, 6)
    for me, e in enumerate(ended):
        assert e.status == 0, e.errors
        assert e.results["shape"] == [8, 6]
        # On the mesh [[0, 1], [2, 3]] process `me` has row `me`: the columns of one half.
        columns = slice(3 * me, 3 * me + 3)
        assert e.results["shards"] == [rows[:4, columns].tolist(), rows[4:, columns].tolist()]
        assert e.results["equal"] is True
        assert e.results["total"] == rows.sum()


# --- the example --------------------------------------------------------------------------------------


def test_the_example_has_equal_losses(run_python, tmp_path):
    done = run_python(ROOT / "examples" / "data_parallel.py", "--steps", "12", cwd=tmp_path)
    rows = re.findall(r"^(.+?)  +([\d.]+) +([\d.]+) +\d+ +(\S+)$", done.stdout, re.MULTILINE)
    assert [name for name, *_ in rows] == ["1 device", "8 devices", "2 processes x 4 devices"]
    assert all(float(difference) <= 1e-5 for *_, difference in rows)
    assert all(float(last) < 0.7 * float(first) for _, first, last, _ in rows)
