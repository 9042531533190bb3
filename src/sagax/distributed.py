"""Run several processes, on one or many machines, as one distributed computation.

Each process runs the same Python program on its own devices and calls `initialize` first. From then
on `sagax.devices()` lists the devices of all processes, and arrays may be sharded across them.

When a process is lost, the others keep running: calls that depend on it raise
`sagax.errors.DistributedError`, which names it.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from typing import Any

from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.languages.choice import worded
from sagax._src.runtime import devices
from sagax._src.runtime.distributed import cluster_env, process
from sagax._src.runtime.distributed.process import DistributedError

__all__ = ["DistributedError", "initialize", "is_initialized", "shutdown"]

_shutdown_timeout = 300.0


def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: int | Sequence[int] | None = None,
    cluster_detection_method: str | None = None,
    initialization_timeout: float = 300,
    heartbeat_timeout_seconds: float = 100,
    shutdown_timeout_seconds: float = 300,
    coordinator_bind_address: str | None = None,
    slice_index: int | None = None,
    partition_index: int | None = None,
    mtls_cert_file: str | None = None,
    mtls_key_file: str | None = None,
    mtls_ca_file: str | None = None,
    mtls_peer_uri_prefix: str | None = None,
    verify_secure_credentials: bool | None = None,
) -> None:
    """Connect to the other processes of the cluster, and wait until all have connected.

    Omitted arguments are read from the environment: `SAGAX_COORDINATOR_ADDRESS`,
    `SAGAX_NUM_PROCESSES`, `SAGAX_PROCESS_ID`, `SAGAX_LOCAL_DEVICE_IDS`,
    `SAGAX_COORDINATOR_BIND_ADDRESS` (or the same with `JAX_`), else from the variables of Slurm,
    Open MPI or Kubernetes.

    Args:
      coordinator_address: a host and a port, such as "10.0.0.1:1234", at which process 0 listens and
        which the others can reach.
      num_processes: the number of processes.
      process_id: the id of this process, from 0 to `num_processes - 1`.
      local_device_ids: the GPUs that this process uses. By default all of the machine, or with Slurm
        and Open MPI the one with the local id of the process.
      cluster_detection_method: the only environment to detect: "slurm", "ompi", "k8s" or "mpi4py";
        "deactivate" for none.
      initialization_timeout: seconds to wait for all processes.
      heartbeat_timeout_seconds: seconds without a heartbeat after which a process is lost. (An exit is
        detected immediately.)
      shutdown_timeout_seconds: seconds that `shutdown` waits for the others.
      coordinator_bind_address: the address at which process 0 listens; by default all of its machine, or this
          machine only if `coordinator_address` is localhost.
      slice_index, partition_index: ignored; the engine numbers the machines itself.
      mtls_cert_file, mtls_key_file, mtls_ca_file, mtls_peer_uri_prefix, verify_secure_credentials:
        not supported; connections are plain, as they are by default in jax.

    Raises DistributedError (a RuntimeError) if processes do not connect in time, with their ids; if it
    was called before; or if devices are in use already. Raises ArgumentValueError for arguments that
    are invalid, or that are neither given nor found.

    >>> sagax.distributed.initialize("127.0.0.1:1234", num_processes=2, process_id=2)
    Traceback (most recent call last):
        ...
    sagax.errors.ArgumentValueError: distributed.initialize: argument process_id must be from 0 to 1; got 2
    """
    global _shutdown_timeout
    if verify_secure_credentials or any(
        (mtls_cert_file, mtls_key_file, mtls_ca_file, mtls_peer_uri_prefix)
    ):
        raise worded(
            NotImplementedError(
                "distributed.initialize: sagax does not encrypt the connections between processes; leave "
                "the mtls arguments out, and use a network that only they are in"
            )
        )
    identity, ids = _resolve_identity(
        coordinator_address, num_processes, process_id, local_device_ids, cluster_detection_method
    )
    arrival_timeout = _check_seconds("initialization_timeout", initialization_timeout)
    heartbeat_timeout = _check_seconds("heartbeat_timeout_seconds", heartbeat_timeout_seconds)
    shutdown_timeout = _check_seconds("shutdown_timeout_seconds", shutdown_timeout_seconds)
    bind_address = coordinator_bind_address or _variable("COORDINATOR_BIND_ADDRESS")
    process.check_addresses(identity.coordinator_address, bind_address)
    if is_initialized():
        raise DistributedError(
            "distributed.initialize should only be called once.",
            fix="remove this call, or call sagax.distributed.shutdown() before",
        )
    used = [*dict.fromkeys(devices.started())]
    if used:
        raise DistributedError(
            "distributed.initialize() must be called before any device is used: "
            f"{' and '.join(used)} {'was' if len(used) == 1 else 'were'} started",
            fix="make it the first statement after the imports; arrays made before it, also in imported "
            "modules, start the devices",
        )
    process.join(
        identity.coordinator_address,
        identity.num_processes,
        identity.process_id,
        bind_address=bind_address,
        arrival_timeout=arrival_timeout,
        heartbeat_timeout=heartbeat_timeout,
        visible_devices=ids,
    )
    _shutdown_timeout = shutdown_timeout
    atexit.register(_at_exit)


def is_initialized() -> bool:
    """Return whether this process is connected to others: between `initialize` and `shutdown`.

    >>> sagax.distributed.is_initialized()
    False
    """
    return process.session() is not None


def shutdown() -> None:
    """Wait until all processes call it, and disconnect. Without other processes, do nothing.

    It runs automatically at exit. A process that ends with an exception does not wait, and reports its
    failure. Raises DistributedError if some processes do not call it in time.

    >>> sagax.distributed.shutdown()
    """
    atexit.unregister(_at_exit)
    process.leave(_shutdown_timeout)


def _at_exit() -> None:
    try:
        process.leave(_shutdown_timeout)
    except DistributedError as error:  # no caller could catch it
        print(f"sagax: {error}", file=sys.stderr)


def _variable(name: str) -> str | None:
    return os.environ.get(f"SAGAX_{name}") or os.environ.get(f"JAX_{name}") or None


def _resolve_identity(
    address: str | None,
    count: Any,
    number: Any,
    device_ids: int | Sequence[int] | None,
    method: str | None,
) -> tuple[cluster_env.ProcessIdentity, list[int] | None]:
    """Return the identity of this process, and the GPUs that it may use."""
    address = address or _variable("COORDINATOR_ADDRESS")
    count = _int_setting("NUM_PROCESSES", count)
    number = _int_setting("PROCESS_ID", number)
    if device_ids is None and (text := _variable("LOCAL_DEVICE_IDS")):
        device_ids = [_parse_int("LOCAL_DEVICE_IDS", field) for field in text.split(",")]
    if isinstance(device_ids, int):
        device_ids = [device_ids]
    found = None
    if address is None or count is None or number is None:
        found = cluster_env.detect(method, os.environ)
    if found is not None:
        address = address or found.coordinator_address
        count = found.num_processes if count is None else count
        number = found.process_id if number is None else number
        if device_ids is None and found.local_process_id is not None:
            device_ids = [found.local_process_id]
    if address is None or count is None or number is None:
        required = {"coordinator_address": address, "num_processes": count, "process_id": number}
        missing = [name for name, value in required.items() if value is None]
        raise ArgumentValueError(
            f"{', '.join(missing)} should be defined: neither an argument nor the environment says it",
            function="distributed.initialize",
            fix="pass coordinator_address, num_processes and process_id, or start the program with "
            "Slurm's srun, Open MPI's mpirun or as an indexed Kubernetes job",
        )
    if count < 1:
        raise _invalid("num_processes", "at least 1", count)
    if not 0 <= number < count:
        raise _invalid("process_id", f"from 0 to {count - 1}", number)
    return cluster_env.ProcessIdentity(
        address, count, number
    ), None if device_ids is None else list(device_ids)


def _invalid(argument: str, expected: str, got: Any) -> ArgumentValueError:
    return ArgumentValueError.about("distributed.initialize", argument, got, expected)


def _int_setting(variable: str, value: Any) -> int | None:
    if value is None:
        text = _variable(variable)
        return None if text is None else _parse_int(variable, text)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError.about("distributed.initialize", variable.lower(), repr(value), "an int")
    return value.__index__()


def _parse_int(variable: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _invalid(
            f"in the environment variable SAGAX_{variable} (or JAX_{variable})",
            "a whole number",
            repr(text),
        ) from None


def _check_seconds(argument: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise _invalid(argument, "a number of seconds above 0", repr(value))
    return float(value)
