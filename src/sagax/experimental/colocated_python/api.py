"""Provide the decorators of functions and classes that run beside accelerators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._src.core.meshes import Mesh
from sagax.experimental.colocated_python.func import ColocatedFunction, colocated, make_callable
from sagax.experimental.colocated_python.obj import wrap_class

__all__ = ["colocated_cpu_devices", "colocated_python", "colocated_python_class"]


def colocated_cpu_devices(devices_or_mesh: Any) -> Any:
    """Return the CPU devices beside devices, in their order; or a mesh of them, for a mesh.

    >>> from sagax.experimental.colocated_python import colocated_cpu_devices
    >>> colocated_cpu_devices(sagax.devices("cpu")) == sagax.devices("cpu")
    True
    """
    if isinstance(devices_or_mesh, Mesh):
        mesh = devices_or_mesh
        found = np.array([colocated(d) for d in mesh.devices.flat], object)
        shaped = found.reshape(mesh.devices.shape)
        return Mesh(shaped, mesh.axis_names, axis_types=mesh.axis_types)
    return [colocated(d) for d in devices_or_mesh]


def colocated_python(fun: Callable[..., Any]) -> ColocatedFunction:
    """Return a function that runs on the CPU devices beside those of its arguments, and returns arrays there.

    Its arguments and results are pytrees of arrays. `.specialize` names types and devices.

    >>> from sagax.experimental.colocated_python import colocated_python
    >>> f = colocated_python(lambda x: x + 1)
    >>> f(snp.zeros(2))
    Array([1., 1.], dtype=float32)
    """
    return make_callable(fun)


def colocated_python_class(cls: type) -> type:
    """Return a class whose objects are kept beside accelerators: their methods run as by `colocated_python`.

    An object is made when one of its methods is first called.

    >>> from sagax.experimental.colocated_python import colocated_python_class
    >>> @colocated_python_class
    ... class Adder:
    ...     def add(self, x, y):
    ...         return x + y
    >>> float(Adder().add(snp.float32(1), snp.float32(2)))
    3.0
    """
    return wrap_class(cls)
