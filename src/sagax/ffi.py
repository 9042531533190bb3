"""Call native functions in executables: register a function of a shared library, then call it.

A function is written in C++ against the headers in `include_dir()`, with XLA's typed FFI; `pycapsule`
wraps its address, `register_ffi_target` registers it by name, and `ffi_call` calls it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sagax._src import xla
from sagax._src.argument_checks import checks
from sagax._src.callbacks.ffi_call import ffi_call
from sagax._src.core.avals import abstract_token
from sagax._src.diagnostics.errors import ArgumentError

__all__ = [
    "abstract_token",
    "build_ffi_lowering_function",
    "ffi_call",
    "ffi_lowering",
    "include_dir",
    "pycapsule",
    "register_ffi_target",
    "register_ffi_target_as_batch_partitionable",
    "register_ffi_type",
    "register_ffi_type_id",
]


def include_dir() -> str:
    """Return the folder with the C++ headers of XLA's FFI for the engine in use.

    >>> import os
    >>> import sagax.ffi
    >>> os.path.isdir(os.path.join(sagax.ffi.include_dir(), "xla", "ffi", "api"))
    True
    """
    return xla.custom_calls.include_dir()


def pycapsule(funcptr: Any) -> Any:
    """Wrap the address of a native function, loaded with `ctypes`, in a `PyCapsule`.

    Raises ArgumentError if `funcptr` is no pointer.

    >>> import ctypes
    >>> import sagax.ffi
    >>> type(sagax.ffi.pycapsule(ctypes.CDLL(None).malloc)).__name__
    'PyCapsule'
    """
    try:
        if isinstance(funcptr, (str, bytes, int)):  # ctypes would treat them as addresses
            raise TypeError
        address = ctypes.cast(funcptr, ctypes.c_void_p)
    except (TypeError, ctypes.ArgumentError):
        raise ArgumentError.about(
            "pycapsule", "funcptr", funcptr, "a function of a library that was loaded with ctypes"
        ) from None
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new_capsule(address, None, None)


def register_ffi_target(
    name: str, fn: Any, platform: str = "cpu", api_version: int = 1, **kwargs: Any
) -> None:
    """Make a native function callable as `name` on a platform: 'cpu' or 'CUDA'.

    Args:
      fn: a `PyCapsule` with the function's address (see `pycapsule`), or a dict of those for the
        stages of a call: 'instantiate', 'prepare', 'initialize', 'execute'.
      api_version: 1 for XLA's typed FFI, 0 for its older, untyped form.

    Raises ArgumentError for another `fn`, since the engine would call any address.

    >>> import sagax.ffi
    >>> try:
    ...     sagax.ffi.register_ffi_target("my_abs", abs)
    ... except TypeError:
    ...     print("not a native function")
    not a native function
    """
    capsules = fn.values() if isinstance(fn, Mapping) else [fn]
    for capsule in capsules:
        _check_capsule("register_ffi_target", "fn", capsule)
    xla.custom_calls.register_target(name, fn, platform, api_version, **kwargs)


def _check_capsule(function: str, argument: str, capsule: Any) -> None:
    if type(capsule).__name__ != "PyCapsule":
        raise ArgumentError(
            function=function,
            argument=argument,
            got=capsule,
            expected="a PyCapsule",
            fix="wrap a function loaded with ctypes: sagax.ffi.pycapsule(library.function)",
        )


def register_ffi_type(name: str, type_registration: Any, platform: str = "cpu") -> None:
    """Register a type of a native library, for the state of its calls.

    `type_registration` is a dict of `PyCapsule`s: 'type_id' and, optionally, 'type_info'. The name
    must be unique in the process.
    """
    checks.instance(
        "register_ffi_type",
        "type_registration",
        type_registration,
        Mapping,
        "a dict with a PyCapsule under 'type_id', and maybe one under 'type_info'",
    )
    for key, capsule in type_registration.items():
        _check_capsule("register_ffi_type", f"type_registration[{key!r}]", capsule)
    xla.custom_calls.register_type(name, dict(type_registration), platform)


def register_ffi_type_id(name: str, obj: Any, platform: str = "cpu") -> None:
    """Register a type of the FFI by the `PyCapsule` of its id."""
    _check_capsule("register_ffi_type_id", "obj", obj)
    xla.custom_calls.register_type(name, {"type_id": obj}, platform)


def register_ffi_target_as_batch_partitionable(name: str) -> None:
    """Declare that calls of `name` may be partitioned among devices along leading dimensions."""
    xla.custom_calls.register_batch_partitionable(name)


def build_ffi_lowering_function(
    call_target_name: str,
    *,
    operand_layouts: Sequence[Any] | None = None,
    result_layouts: Sequence[Any] | None = None,
    backend_config: Mapping[str, Any] | None = None,
    **lowering_args: Any,
) -> Callable[..., Any]:
    """Build a lowering rule of a custom primitive that calls a registered native function.

    The rule takes sagax's module builder and the operands: `my_p.lower(rule)`. Parameters of the
    primitive become attributes of the call, beside those in `backend_config`. Layouts list the minor
    dimensions first, as the engine does; by default arrays are row-major.

    >>> p = type(sagax.lax.abs_p)("my_abs")
    >>> p.abstract_rule = lambda x: x
    >>> p.lower_rule = sagax.ffi.build_ffi_lowering_function("my_abs")
    >>> "@my_abs" in sagax.jit(p.bind).lower(np.ones(3)).as_text()
    True
    """

    def layouts(given: Sequence[Any] | None, avals: Sequence[Any]) -> str:
        if given is None:
            given = [tuple(reversed(range(a.ndim))) for a in avals]
        texts = [f"dense<{list(o) if len(o) else ''}> : tensor<{len(o)}xindex>" for o in given]
        return f"[{', '.join(texts)}]"

    def lower(b: Any, *operands: Any, **params: Any) -> Any:
        outs = b.custom_call(
            call_target_name,
            operands,
            b.outs,
            api_version="4 : i32",
            backend_config=b.attribute({**(backend_config or {}), **params}),
            operand_layouts=layouts(operand_layouts, [x.aval for x in operands]),
            result_layouts=layouts(result_layouts, b.outs),
            **lowering_args,
        )
        return outs if len(outs) != 1 else outs[0]

    return lower


ffi_lowering = build_ffi_lowering_function
