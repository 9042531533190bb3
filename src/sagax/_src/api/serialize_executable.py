"""Serialize compiled functions, for a later process on the same kind of machine.

The bytes are machine code: they fit one version of XLA and one kind of processor, which `load`
checks first. `sagax.export` writes functions that last and are portable.
"""

from __future__ import annotations

import hashlib
import pickle
import struct
import types
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sagax._src import config, trees, xla
from sagax._src.api import donation
from sagax._src.api.stages import CompiledStage, Signature
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.functions import kind_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.runtime import devices
from sagax._src.runtime.compile import Compiled

_MAGIC: Final = b"SAGAXRUN"
_HEADER: Final = struct.Struct("<8s32s32s")  # magic, SHA-256 of the fingerprint and of the rest
_SAVE: Final = "serialize_executable.serialize"
_LOAD: Final = "serialize_executable.deserialize_and_load"


class _LoadedExecutable(NamedTuple):
    """A loaded executable, with the facts that `Compiled` has about a compiled one."""

    executable: xla.executable.Executable
    code: bytes  # the bytes that it was loaded from
    device: Any
    kept: tuple[int, ...] | None
    out_avals: Sequence[Any]
    in_shardings: None = None  # of executables on several devices
    out_shardings: None = None

    @property
    def run(self) -> Any:
        return self.executable.run


def save(compiled: Any) -> tuple[bytes, Any, Any]:
    """Serialize a compiled function; return the bytes and the structures of arguments and result.

    The structures are returned because they may hold user-defined types. Captured arrays are part of the bytes.

    Args:
      compiled: the result of `jit(f).lower(...).compile()`, on one device and without callbacks.

    Raises:
      TypeError: it is something else.
      ValueError: the function runs on several devices, or calls Python.

    >>> from sagax.experimental import serialize_executable
    >>> compiled = sagax.jit(lambda x: {"double": 2 * x}).lower(snp.ones(3)).compile()
    >>> saved = serialize_executable.serialize(compiled)
    >>> serialize_executable.deserialize_and_load(*saved)(snp.arange(3.0))
    {'double': Array([0., 2., 4.], dtype=float32)}
    """
    checks.instance(
        _SAVE,
        "compiled",
        compiled,
        CompiledStage,
        "a compiled function",
        show=kind_of,
        fix="pass jit(f).lower(*args).compile()",
    )
    loaded, signature = compiled._compiled, compiled._signature
    why = fix = ""
    if loaded.out_shardings is not None:
        why = "it runs on several devices, to which its machine code is tied"
        fix = "compile it in each process"
    elif type(loaded) is Compiled and (loaded.lowered.callbacks or loaded.lowered.jaxpr.effects):
        why = "it calls Python functions, which have no form as bytes"
        fix = "let the cache on disk keep it: sagax.config.update('enable_compilation_cache', True)"
    if why:
        raise ArgumentValueError(
            f"the compiled {signature.name} cannot be saved: {why}",
            function=_SAVE,
            argument="compiled",
            fix=fix,
        )
    try:
        code = _code(loaded)
    except xla.EngineError as error:
        raise ArgumentValueError(
            f"the compiled {signature.name} cannot be saved: {error}",
            function=_SAVE,
            argument="compiled",
            fix="save it with sagax.export",
        ) from None
    donating = compiled._donor
    rest = pickle.dumps(
        {
            "code": code,
            "types": loaded.executable.out_avals,
            "kept": loaded.kept,
            "signature": signature._replace(tree=None, out_tree=None),
            "consts": list(compiled._consts),
            "given": donating.donated,
        }
    )
    fingerprint = _fingerprint(loaded.device.client)
    blob = _HEADER.pack(_MAGIC, fingerprint, hashlib.sha256(rest).digest()) + rest
    return blob, signature.tree, signature.out_tree


def _code(loaded: Any) -> bytes:
    if type(loaded) is not Compiled:
        return loaded.code
    if loaded.origin.source == "loaded":  # XLA cannot serialize a loaded executable again
        with config.context(enable_compilation_cache=False):
            loaded = Compiled(loaded.lowered, loaded.device, loaded.options)
    return loaded.executable.serialize()


def load(
    serialized: bytes,
    in_tree: Any,
    out_tree: Any,
    backend: str | None = None,
    execution_devices: Sequence[Any] | None = None,
) -> CompiledStage:
    """Load a compiled function from the bytes of `serialize`.

    Load only bytes that you wrote yourself: they are run as machine code, and reading them runs code too.

    Args:
      serialized, in_tree, out_tree: what `serialize` returned.
      backend: the platform to run on; None: the default one.
      execution_devices: the device to run on, alone in a list; None: the default one of the platform.

    Raises:
      TypeError: the arguments are of other kinds.
      ValueError: the bytes are no compiled function, are damaged, or were written for another engine or
        processor; the structures or devices do not go with them.
    """
    checks.instance(
        _LOAD, "serialized", serialized, (bytes, bytearray, memoryview), "bytes", show=kind_of
    )
    blob = bytes(serialized)
    if len(blob) < _HEADER.size or blob[: len(_MAGIC)] != _MAGIC:
        raise _unreadable("they do not begin as a compiled function does")
    _, fingerprint, digest = _HEADER.unpack_from(blob)
    rest = blob[_HEADER.size :]
    if hashlib.sha256(rest).digest() != digest:
        raise _unreadable("they were damaged: their digest does not fit")
    device = _device(backend, execution_devices)
    if fingerprint != _fingerprint(device.client):
        raise _unreadable(
            "they were written by another version of the engine, or for another processor or platform"
        )
    found = pickle.loads(rest)
    signature: Signature = found["signature"]
    for argument, tree, leaves in (
        ("in_tree", in_tree, len(signature.in_avals)),
        ("out_tree", out_tree, len(signature.out_avals)),
    ):
        if not isinstance(tree, trees.PyTreeDef) or tree.num_leaves != leaves:
            raise ArgumentValueError.about(
                _LOAD, argument, tree, f"the structure that serialize returned, of {leaves} leaves"
            )
    if device.platform == "cpu":
        xla.custom_calls.register_cpu_kernels()  # the executable may call some
    executable = xla.compiler.deserialize(device.client, found["code"], [device], found["types"])
    signature = signature._replace(tree=in_tree, out_tree=out_tree)
    loaded = _LoadedExecutable(
        executable, found["code"], device, found["kept"], signature.out_avals
    )
    named = types.SimpleNamespace(__name__=signature.name)
    donating = donation.Donation(named, signature.names, found["given"])
    return CompiledStage(signature, loaded, found["consts"], donating)


def _fingerprint(client: Any) -> bytes:
    """Return a digest of the environment that the machine code depends on."""
    return hashlib.sha256(xla.client.platform_fingerprint(client).encode()).digest()


def _device(backend: str | None, chosen: Sequence[Any] | None) -> Any:
    if chosen is None:
        return devices.default_device() if backend is None else devices.devices(backend)[0]
    if len(chosen) != 1 or not hasattr(chosen[0], "client"):
        raise ArgumentValueError(
            function=_LOAD,
            argument="execution_devices",
            got=chosen,
            expected="one device in a list: the function was compiled for one",
        )
    return chosen[0]


def _unreadable(why: str) -> ArgumentValueError:
    return ArgumentValueError(
        f"these bytes cannot be loaded as a compiled function: {why}",
        function=_LOAD,
        argument="serialized",
        fix="compile it again here, and serialize that; for bytes that last use sagax.export",
    )
