"""Provide the current mesh under the names of older jax.

>>> from sagax.interpreters import pxla
>>> pxla.thread_resources.env.physical_mesh.empty
True
"""

from __future__ import annotations

import numpy as np

from sagax._src.core.meshes import Mesh, concrete_mesh

__all__ = ["thread_resources"]


_NO_MESH = Mesh(np.empty((), object), ())


class _Environment:
    @property
    def physical_mesh(self) -> Mesh:
        """Return the mesh of the enclosing `with mesh:` or `set_mesh` block, or an empty one."""
        return concrete_mesh() or _NO_MESH


class _Resources:
    env = _Environment()


thread_resources = _Resources()
