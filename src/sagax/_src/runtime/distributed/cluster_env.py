"""Read the cluster from the environment: process number, process count, coordinator address.

A launcher tells each process by environment variables. Every way of telling has a function here,
from the variables to a `Place`, or to None where it does not apply.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import re
import socket
import ssl
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sagax._src.argument_checks import checks
from sagax._src.diagnostics.errors import ArgumentValueError


@dataclass(frozen=True)
class Place:
    """A process among others. `local_process_id` is its number on its machine, if known."""

    coordinator_address: str
    num_processes: int
    process_id: int
    local_process_id: int | None = None


Environment = Mapping[str, str]

# Ports for everybody's use are the last 4096; the number of the job picks one, so that jobs that
# share a machine rarely meet.
_FIRST_PORT = 65536 - 4096
_KUBERNETES_PORT = 55527


def _address(host: str, port: int, environ: Environment) -> str:
    chosen = environ.get("SAGAX_COORDINATOR_PORT") or environ.get("JAX_COORDINATOR_PORT") or port
    return f"[{host}]:{chosen}" if ":" in host else f"{host}:{chosen}"


# --- Slurm ----------------------------------------------------------------------------------------

_SLURM = ("SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID")


def first_slurm_node(nodes: str) -> str:
    """The first name in Slurm's short form of a list: `a3` of `a[3-5,9],b1`.

    Source of the form: the manual of `scontrol show hostlist`.
    """
    prefix, bracket, rest = nodes.partition("[")
    if not bracket or "," in prefix:
        return prefix.partition(",")[0]
    inside, _, suffix = rest.partition("]")
    first = re.split("[,-]", inside)[0]
    return prefix + first + suffix.partition(",")[0]


def slurm(environ: Environment) -> Place | None:
    if not all(name in environ for name in _SLURM):
        return None
    job, nodes, count, number, local = (environ[name] for name in _SLURM)
    address = _address(first_slurm_node(nodes), _FIRST_PORT + int(job) % 4096, environ)
    return Place(address, int(count), int(number), int(local))


# --- Open MPI -------------------------------------------------------------------------------------


# "<job>.0;tcp://10.0.0.1,10.1.0.1:<port>", or tcp6://[first,second]:<port>; more may follow.
_LAUNCHER = re.compile(r"(\d+)\.\d+;tcp6?://(?:\[([^],]+)[^]]*\]|([^,:]+)[^:]*):\d+.*")


def open_mpi(environ: Environment) -> Place | None:
    count = environ.get("OMPI_COMM_WORLD_SIZE")
    number = environ.get("OMPI_COMM_WORLD_RANK")
    if count is None or number is None:
        return None
    local = environ.get("OMPI_COMM_WORLD_LOCAL_RANK")
    launcher = environ.get("OMPI_MCA_orte_hnp_uri")
    if launcher is None:  # Open MPI 5 and later tell nothing about the launcher
        if environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") != count:
            return mpi4py(environ)
        job = sum(map(ord, environ.get("PMIX_NAMESPACE", "")))
        address = _address("127.0.0.1", _FIRST_PORT + job % 4096, environ)
    else:
        found = _LAUNCHER.fullmatch(launcher)
        if found is None:
            raise ArgumentValueError(
                function="distributed.initialize",
                argument="the environment variable OMPI_MCA_orte_hnp_uri",
                expected="an address such as 1234.0;tcp://10.0.0.1:5678",
                got=repr(launcher),
                fix="pass coordinator_address, num_processes and process_id",
            )
        host = found[2] or found[3]
        address = _address(host, _FIRST_PORT + int(found[1]) // 4096 % 4096, environ)
    return Place(address, int(count), int(number), None if local is None else int(local))


def mpi4py(environ: Environment) -> Place | None:
    """Any MPI, asked through mpi4py. Only on request, or for Open MPI 5 on several machines."""
    if importlib.util.find_spec("mpi4py") is None:
        return None
    mpi: Any = importlib.import_module("mpi4py.MPI")
    world = mpi.COMM_WORLD
    host = world.bcast(socket.gethostname(), root=0)
    port = world.bcast(_FIRST_PORT + sum(map(ord, host)) % 4096, root=0)
    local = world.Split_type(mpi.COMM_TYPE_SHARED).Get_rank()
    return Place(_address(host, port, environ), world.Get_size(), world.Get_rank(), local)


# --- Kubernetes -------------------------------------------------------------------------------------

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def _ask_kubernetes(environ: Environment, path: str) -> dict[str, Any]:
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ.get("KUBERNETES_SERVICE_PORT", "443")
    token = (_ACCOUNT / "token").read_text()
    request = urllib.request.Request(
        f"https://{_address(host, int(port), {})}{path}",
        headers={"Authorization": f"Bearer {token}"},
    )
    trusted = ssl.create_default_context(cafile=str(_ACCOUNT / "ca.crt"))
    with urllib.request.urlopen(request, timeout=30, context=trusted) as answer:
        return json.load(answer)


def kubernetes(
    environ: Environment, ask: Callable[[str], dict[str, Any]] | None = None
) -> Place | None:
    """An indexed Job (or one of a JobSet), whose pods find each other through a headless service."""
    if "KUBERNETES_SERVICE_HOST" not in environ or "JOB_COMPLETION_INDEX" not in environ:
        return None
    ask = ask or functools.partial(_ask_kubernetes, environ)
    namespace = environ.get("POD_NAMESPACE")
    try:
        if namespace is None:
            namespace = (_ACCOUNT / "namespace").read_text().strip()
        pod = ask(f"/api/v1/namespaces/{namespace}/pods/{environ['HOSTNAME']}")
        name = pod["metadata"]["labels"]["job-name"]
        job = ask(f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}")
        count = job["spec"]["parallelism"]
        labels = job["metadata"].get("labels") or {}
        subdomain = labels.get("jobset.sigs.k8s.io/jobset-name") or pod["spec"].get("subdomain")
    except (OSError, KeyError) as error:
        raise ArgumentValueError(
            f"the description of this Kubernetes job could not be read: {error!r}",
            function="distributed.initialize",
            fix="let the pod's service account get pods and jobs of its namespace, or pass "
            "coordinator_address, num_processes and process_id",
        ) from error
    if not subdomain:
        raise ArgumentValueError(
            f"the pods of the Kubernetes job {name} have no names by which they find each other",
            function="distributed.initialize",
            fix="make a headless service (clusterIP: None) that selects job-name: "
            f"{name}, and name it as `subdomain` in the template of the pods",
        )
    address = _address(f"{name}-0.{subdomain}", _KUBERNETES_PORT, environ)
    return Place(address, count, int(environ["JOB_COMPLETION_INDEX"]))


# In the order in which they are tried; mpi4py is asked only by name.
_METHODS: dict[str, Callable[[Environment], Place | None]] = {
    "ompi": open_mpi,
    "slurm": slurm,
    "mpi4py": mpi4py,
    "k8s": kubernetes,
}


def detect(method: str | None, environ: Environment) -> Place | None:
    """The place that the environment tells, by the method of that name or the first that applies.

    Raises ArgumentValueError for an unknown method, and for one that does not apply here.
    """
    if method == "deactivate":
        return None
    if method is None:
        found = (try_it(environ) for name, try_it in _METHODS.items() if name != "mpi4py")
        return next((place for place in found if place is not None), None)
    checks.one_of(
        "distributed.initialize",
        "cluster_detection_method",
        method,
        _METHODS,
        f"one of {', '.join(map(repr, _METHODS))}, 'deactivate' or None",
        show=repr,
    )
    place = _METHODS[method](environ)
    if place is None:
        raise ArgumentValueError(
            f"this process was not started in the way that {method!r} stands for",
            function="distributed.initialize",
            argument="cluster_detection_method",
            fix="leave the argument out, or pass coordinator_address, num_processes and process_id",
        )
    return place
