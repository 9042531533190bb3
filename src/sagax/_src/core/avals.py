"""Define abstract values (avals): the types of values in jaxprs.

`ShapedArray` objects are interned: two equal ones are the same object. Comparing types of
values is therefore an identity test, and a tuple of avals is a cheap cache key.
"""

from __future__ import annotations

import collections
import enum
import functools
from typing import Any

import numpy as np

from sagax._src import fork_locks, option_kinds
from sagax._src.core import dims, dtypes
from sagax._src.core.meshes import AbstractMesh, ManualAxisType, PartitionSpec
from sagax._src.core.shardings import NamedSharding, dimensions_text
from sagax._src.languages.choice import worded
from sagax._src.weak_tables import InternTable

no_axes: frozenset = frozenset()

# weak, so that a script with ever new shapes does not grow without bound
_table: InternTable[ShapedArray] = InternTable()
_refs = _table.refs
_lock = fork_locks.lock()
# Keeps recent avals alive: an eager loop would otherwise recreate the aval of each temporary array.
_recent: collections.deque[ShapedArray] = collections.deque(maxlen=2048)


class Space(enum.Enum):
    """Name a kind of memory: the device's own, the host's, or either."""

    Device = enum.auto()
    Host = enum.auto()
    Any = enum.auto()


class ShapedArray:
    """Shape, dtype and weakness of an array; interned.

    `shape` is a tuple of ints or symbolic dimensions, `dtype` a NumPy or extended dtype. `weak_type` marks
    a dtype that came from a Python scalar, and that yields to other dtypes in promotion. `vma` holds,
    inside `shard_map`, the names of the mesh axes along which values may differ between devices.
    `explicit_sharding` is the sharding along Explicit axes, None where there are none. `memory_space` is the
    memory that values are in: the device's own, or the host's.

    >>> from sagax.core import ShapedArray
    >>> ShapedArray((3,), np.float32) is ShapedArray((3,), np.float32)
    True
    """

    __slots__ = (
        "__weakref__",
        "_tangent",
        "dtype",
        "explicit_sharding",
        "memory_space",
        "ndim",
        "shape",
        "vma",
        "weak_type",
    )

    is_high = False  # high_types.py
    shape: tuple[Any, ...]
    dtype: Any
    weak_type: bool
    ndim: int
    explicit_sharding: Any
    vma: frozenset
    memory_space: Space
    _tangent: ShapedArray | None

    def __new__(
        cls,
        shape: Any,
        dtype: Any,
        weak_type: bool = False,
        sharding: Any = None,
        vma: frozenset = no_axes,
        memory_space: Space = Space.Device,
        manual_axis_type: ManualAxisType | None = None,
    ) -> ShapedArray:
        if manual_axis_type is not None:
            vma = manual_axis_type.varying
        if (
            sharding is not None
            and getattr(sharding, "mesh", None) is not None
            and sharding.mesh.empty
        ):
            sharding = None
        return intern_aval(
            dims.canonical_shape(shape),
            dtypes.as_dtype(dtype),
            bool(weak_type),
            sharding,
            frozenset(vma),
            memory_space,
        )

    @property
    def size(self) -> Any:
        return dims.size(self.shape)

    @property
    def sharding(self) -> NamedSharding:
        """The sharding along Explicit axes; over an empty mesh where there are none."""
        return self.explicit_sharding or _no_sharding(self.ndim)

    @property
    def named_shape(self) -> dict:
        return {}

    def update(self, **changes: Any) -> ShapedArray:
        """Return the same aval with some fields replaced."""
        fields = {
            "shape": self.shape,
            "dtype": self.dtype,
            "weak_type": self.weak_type,
            "sharding": self.explicit_sharding,
            "vma": self.vma,
            "memory_space": self.memory_space,
        }
        if "shape" in changes and len(changes["shape"]) != self.ndim:
            fields["sharding"] = None
        return ShapedArray(**(fields | changes))

    @property
    def manual_axis_type(self) -> ManualAxisType:
        """The axes along which devices may have different values, inside of `shard_map`."""
        inner = self.explicit_sharding
        if inner is None or not inner.spec.partial:
            return ManualAxisType(self.vma)
        manual = frozenset(inner.mesh.manual_axes)
        spec = inner.spec
        return ManualAxisType(self.vma, spec.unreduced & manual, spec.reduced & manual)

    mat = manual_axis_type

    def strip_weak_type(self) -> ShapedArray:
        """Return the same aval with `weak_type=False`."""
        return (
            self
            if not self.weak_type
            else intern_aval(self.shape, self.dtype, False, *self._rest())
        )

    def _rest(self) -> tuple:
        return self.explicit_sharding, self.vma, self.memory_space

    def with_vma(self, vma: frozenset) -> ShapedArray:
        """Return the same aval, varying along other axes of the mesh."""
        if vma == self.vma:
            return self
        fields = (self.shape, self.dtype, self.weak_type, self.explicit_sharding, vma)
        return intern_aval(*fields, self.memory_space)

    def with_memory_space(self, space: Space) -> ShapedArray:
        """Return the same aval in another memory."""
        if space is self.memory_space:
            return self
        fields = (self.shape, self.dtype, self.weak_type, self.explicit_sharding, self.vma)
        return intern_aval(*fields, space)

    def with_dtype(self, dtype: Any, weak_type: bool = False) -> ShapedArray:
        return intern_aval(self.shape, dtype, weak_type, *self._rest())

    def to_tangent_aval(self) -> ShapedArray:
        """Return the aval of the tangents of such values: itself for inexact dtypes, float0 otherwise."""
        tangent = self._tangent
        if tangent is None:
            dtype = dtypes.tangent_dtype(self.dtype)
            weak = self.weak_type and dtype is self.dtype
            tangent = intern_aval(self.shape, dtype, weak, *self._rest())
            self._tangent = tangent if tangent is not self else self
        return tangent

    def to_cotangent_aval(self) -> ShapedArray:
        """Return the aval of cotangents: that of tangents, unreduced where these are reduced and the reverse."""
        tangent = self.to_tangent_aval()
        shown = tangent.explicit_sharding
        if shown is None or not shown.spec.partial:
            return tangent
        return tangent.update(sharding=shown.with_spec(shown.spec.cotangent()))

    # jax's newer and older names of the same methods
    def to_ct_aval(self) -> ShapedArray:
        return self.to_cotangent_aval()

    def lo_ty(self) -> list[ShapedArray]:
        """Return the types of the arrays that a value stands for, as types of libraries do: itself."""
        return [self]

    def lower_val(self, value: Any) -> list[Any]:
        return [value]

    def raise_val(self, value: Any) -> Any:
        return value

    def at_least_vspace(self) -> ShapedArray:
        return self.to_tangent_aval()

    def str_short(self, short_dtypes: bool = False, **_: Any) -> str:
        """Return the aval as text: `float32[3,4]`, or `f32[3,4]`, as jaxprs show it."""
        name = dtypes.short_name(self.dtype) if short_dtypes else dtypes.name(self.dtype)
        if self.memory_space is not Space.Device:
            name += f"<{self.memory_space.name.lower()}>"
        sizes = ",".join(map(str, self.shape))
        if self.explicit_sharding is not None:
            sizes = dimensions_text(self.shape, self.explicit_sharding)
        return f"{name}[{sizes}]{self._along_axes()}"

    def _along_axes(self) -> str:
        """Format the axes along which values vary, are unreduced sums, or have such cotangents."""
        shown = self.explicit_sharding
        if not self.vma and (shown is None or not shown.spec.partial):
            return ""
        sets = [("V", self.vma)]
        if shown is not None:
            sets += [("U", shown.spec.unreduced), ("R", shown.spec.reduced)]
        parts = []
        for word, axes in sets:
            names = ",".join(sorted(map(str, axes)))
            if axes:
                parts.append(f"{word}:({names})" if len(axes) > 1 else f"{word}:{names}")
        return f"{{{', '.join(parts)}}}"

    def __str__(self) -> str:
        return ("~" if self.weak_type else "") + self.str_short(short_dtypes=False)

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self.str_short(short_dtypes=False)}{weak})"

    def __len__(self) -> int:
        if not self.shape:
            raise worded(TypeError("len() of a scalar: the value has shape ()"))
        return self.shape[0]

    def __reduce__(self) -> tuple:
        fields = (self.shape, self.dtype, self.weak_type, None, no_axes, self.memory_space)
        return ShapedArray, fields if self.memory_space is not Space.Device else fields[:3]


@functools.lru_cache(maxsize=64)
def _no_sharding(ndim: int) -> NamedSharding:
    return NamedSharding(AbstractMesh((), ()), PartitionSpec(*[None] * ndim))


_new = object.__new__
_set = object.__setattr__


def intern_aval(
    shape: tuple,
    dtype: Any,
    weak_type: bool = False,
    sharding: Any = None,
    vma: frozenset = no_axes,
    memory_space: Space = Space.Device,
) -> ShapedArray:
    """Intern the aval of these fields, already canonical (tuple of ints or dims, dtype, bool)."""
    key = (shape, dtype, weak_type, sharding, vma, memory_space)
    ref = _refs.get(key)  # inlines `_table.get`, to save a call
    found = ref() if ref is not None else None
    return found if found is not None else _make(key)


def _make(key: tuple) -> ShapedArray:
    with _lock:
        found = _table.get(key)
        if found is not None:
            return found
        aval = _new(ShapedArray)
        aval.shape, aval.dtype, aval.weak_type = key[:3]
        aval.explicit_sharding, aval.vma, aval.memory_space = key[3:]
        aval.ndim = len(aval.shape)
        aval._tangent = None

        _table.add(key, aval)
        _recent.append(aval)
        return aval


class AbstractToken:
    """The type of the token that orders effects."""

    __slots__ = ()
    is_high = False
    shape = ()
    weak_type = False
    sharding = None
    explicit_sharding = None
    vma = no_axes
    memory_space = Space.Device

    def str_short(self, short_dtypes: bool = False, **_: Any) -> str:
        return "Tok"

    def with_vma(self, vma: frozenset) -> AbstractToken:
        return self

    def strip_weak_type(self) -> AbstractToken:
        return self

    def to_tangent_aval(self) -> AbstractToken:
        return self

    def __repr__(self) -> str:
        return "AbstractToken()"


abstract_token = AbstractToken()


def scalar_aval(kind: type, x64: bool) -> ShapedArray:
    """Return the (weakly typed) aval of a Python scalar of type `kind`; bool is never weak."""
    return _SCALARS[kind, x64]


_SCALARS: dict[tuple[type, Any], ShapedArray] = {
    (kind, x64): intern_aval((), np.dtype(name), kind is not bool)
    for kind, x64, name in [
        (bool, False, "bool"),
        (bool, True, "bool"),
        (int, False, "int32"),
        (int, True, "int64"),
        (float, False, "float32"),
        (float, True, "float64"),
        (complex, False, "complex64"),
        (complex, True, "complex128"),
    ]
}
for _width in (option_kinds.EXPLICIT, option_kinds.ALLOWED):
    _SCALARS.update({(k, _width): _SCALARS[k, False] for k in (bool, int, float, complex)})


def same_type(a: ShapedArray, b: ShapedArray) -> bool:
    """Return whether the two avals are equal except for weak types."""
    return a is b or (
        not (a.is_high or b.is_high)
        and a.shape == b.shape
        and a.dtype == b.dtype
        and a.memory_space is b.memory_space
    )
