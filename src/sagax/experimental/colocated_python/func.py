"""Run functions on the CPU devices beside those of their arguments.

>>> from sagax.experimental.colocated_python import func
>>> f = func.make_callable(lambda x: x + 1)
>>> f(snp.ones(2))
Array([2., 2.], dtype=float32)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.api.tracing_utils import device_put
from sagax._src.core.meshes import Mesh
from sagax._src.core.shardings import NamedSharding, SingleDeviceSharding
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.runtime import devices

__all__ = ["colocated", "make_callable"]


def colocated(device: Any) -> Any:
    """Return the CPU device beside a device, of the same process; a CPU device is its own.

    >>> func.colocated(sagax.devices("cpu")[0]) == sagax.devices("cpu")[0]
    True
    """
    if device.platform == "cpu":
        return device
    own = [d for d in devices.devices("cpu") if d.process_index == device.process_index]
    near = [
        d for d in devices.backend_of(device).devices if d.process_index == device.process_index
    ]
    return own[near.index(device) % len(own)]


def _beside(x: Any) -> Any:
    """Return the sharding of an array, on the CPU devices beside its own."""
    sharding = x.sharding
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, Mesh):
        found = [colocated(d) for d in sharding.mesh.devices.flat]
        shape = sharding.mesh.devices.shape
        mesh = Mesh(
            np.array(found, object).reshape(shape),
            sharding.mesh.axis_names,
            axis_types=sharding.mesh.axis_types,
        )
        return NamedSharding(mesh, sharding.spec)
    return SingleDeviceSharding(colocated(next(iter(x.devices()))))


def _spec(x: Any) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding)


def _check_specs(function: str, found: Any, expected: Any, argument: str) -> None:
    """Raise unless arrays have the structure, shapes and dtypes that were declared."""
    leaves, tree = trees.flatten(found)
    wanted, wanted_tree = trees.flatten(expected)
    same = tree == wanted_tree and all(
        x.shape == s.shape and x.dtype == s.dtype for x, s in zip(leaves, wanted, strict=True)
    )
    if not same:
        raise ArgumentValueError(
            f"the values are not what `{argument}` says",
            function=function,
            argument=argument,
            got=tree.unflatten([_spec(x) for x in leaves]),
            expected=expected,
        )


class ColocatedFunction:
    """A function that runs on the CPU devices beside those of its arguments; from `colocated_python`."""

    def __init__(
        self,
        fun: Callable[..., Any],
        in_specs: Any = None,
        out_specs_fn: Callable[..., Any] | None = None,
        given_devices: Sequence[Any] | None = None,
    ) -> None:
        functools.update_wrapper(self, fun, updated=())
        self._fun = fun
        self._in_specs = in_specs
        self._out_specs_fn = out_specs_fn
        self._devices = None if given_devices is None else tuple(given_devices)

    def specialize(
        self,
        in_specs: Any = None,
        out_specs_fn: Callable[..., Any] | None = None,
        devices: Sequence[Any] | None = None,
    ) -> ColocatedFunction:
        """Return the same function for certain arguments, results and devices.

        Args:
          in_specs: `(args, kwargs)` with `ShapeDtypeStruct`s in place of arrays; other calls raise.
          out_specs_fn: a function that returns the `ShapeDtypeStruct`s of the results, given those of the
            arguments. Results get the shardings that these name.
          devices: where it runs, needed if no argument is an array.
        """
        return ColocatedFunction(
            self._fun,
            self._in_specs if in_specs is None else in_specs,
            self._out_specs_fn if out_specs_fn is None else out_specs_fn,
            self._devices if devices is None else devices,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, tree = trees.flatten((args, kwargs))
        name = getattr(self._fun, "__name__", "a colocated function")
        for x in leaves:
            if isinstance(x, Tracer) or not isinstance(x, Array):
                raise ArgumentError(
                    "a colocated function takes arrays, and is not traced",
                    function=name,
                    got=x,
                    expected="an array",
                    fix="call it outside of traced functions; close over what is no array",
                )
        if not leaves and self._devices is None:
            raise ArgumentValueError(
                "No devices found: a colocated function without arguments runs nowhere",
                function=name,
                fix="name devices first: f.specialize(devices=...)",
            )
        if self._in_specs is not None:
            _check_specs(name, (args, kwargs), self._in_specs, "in_specs")
        moved = [device_put(x, _beside(x)) for x in leaves]
        some, named = tree.unflatten(moved)
        result = trees.tree_map(_as_array, self._fun(*some, **named))
        if self._out_specs_fn is None:
            return result
        specs, spec_kwargs = tree.unflatten([_spec(x) for x in moved])
        expected = self._out_specs_fn(*specs, **spec_kwargs)
        _check_specs(name, result, expected, "out_specs_fn")
        return trees.tree_map(
            lambda x, s: x if s.sharding is None else device_put(x, s.sharding), result, expected
        )


def _as_array(x: Any) -> Any:
    return x if isinstance(x, Array) else device_put(x, devices.devices("cpu")[0])


def make_callable(fun: Callable[..., Any], *_: Any) -> ColocatedFunction:
    """Return a function that runs on the CPU devices beside those of its arguments.

    >>> func.make_callable(lambda x: x * 3)(snp.ones(1))
    Array([3.], dtype=float32)
    """
    return ColocatedFunction(fun)
