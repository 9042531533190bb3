"""Define `ShapeDtypeStruct`, and the avals of array-like arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src import config
from sagax._src.core import dims, dtypes, memory_spaces
from sagax._src.core.avals import intern_aval
from sagax._src.core.layouts import Format
from sagax._src.core.meshes import ManualAxisType
from sagax._src.core.shardings import Sharding, shown_in_type
from sagax._src.core.value import aval_of, is_argument, is_operand
from sagax._src.diagnostics.errors import ArgumentValueError, SagaxError

_thread = config.thread


def is_shaped(x: Any) -> bool:
    """Return whether `x` has a type: an operand, or a `ShapeDtypeStruct`-like object."""
    if is_operand(x):
        return True
    return (
        hasattr(x, "shape") and hasattr(x, "dtype") and not isinstance(x, np.ndarray | np.generic)
    )


def shaped(x: Any) -> Any:
    """Return the aval of an operand or of a `ShapeDtypeStruct`-like object."""
    if isinstance(x, ShapeDtypeStruct):
        dtype = dtypes.canonicalize(x.aval.dtype, _thread.settings.x64)
        return x.aval if dtype == x.aval.dtype else x.aval.update(dtype=dtype)
    return aval_of(x) if is_argument(x) else shaped(ShapeDtypeStruct(x.shape, x.dtype))


class ShapeDtypeStruct:
    """Shape and dtype without contents, for `eval_shape`, `jit(f).lower` and export.

    `sharding` is the sharding of the array, or its `Format`. `manual_axis_type` tells, inside of `shard_map`, along which axes values may vary between devices.

    >>> sagax.ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("_layout", "aval", "sharding")

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        *,
        sharding: Any = None,
        weak_type: bool = False,
        manual_axis_type: ManualAxisType | None = None,
        **_: Any,
    ) -> None:
        if dtype is None:
            raise ArgumentValueError.about("ShapeDtypeStruct", "dtype", None, "a dtype")
        self.aval = _struct_aval(shape, dtype, weak_type)
        self._layout = sharding.layout if isinstance(sharding, Format) else None
        if isinstance(sharding, Format):
            sharding = sharding.sharding
        self.sharding = sharding
        if sharding is not None and isinstance(sharding, Sharding):
            sharding.check_shape(self.aval.shape, function="ShapeDtypeStruct")
            shown = shown_in_type(sharding, self.aval.ndim)
            space = memory_spaces.space_of_kind(sharding._memory_kind)
            self.aval = self.aval.update(sharding=shown, memory_space=space)
        if manual_axis_type is not None:
            if manual_axis_type.unreduced or manual_axis_type.reduced:
                raise ArgumentValueError(
                    "there are no unreduced values",
                    function="ShapeDtypeStruct",
                    argument="manual_axis_type",
                    got=manual_axis_type,
                    expected="a ManualAxisType with varying axes alone",
                )
            self.aval = self.aval.with_vma(manual_axis_type.varying)

    @classmethod
    def of(cls, aval: Any) -> ShapeDtypeStruct:
        """Make the struct of an aval."""
        found = cls(
            aval.shape, aval.dtype, sharding=aval.explicit_sharding, weak_type=aval.weak_type
        )
        found.aval = found.aval.with_vma(aval.vma).with_memory_space(aval.memory_space)
        return found

    @classmethod
    def like(cls, x: Any) -> ShapeDtypeStruct:
        """Return the struct of an array: its shape and dtype, and its sharding if it is committed.

        >>> sagax.ShapeDtypeStruct.like(snp.zeros(3))
        ShapeDtypeStruct(shape=(3,), dtype=float32)
        """
        aval = shaped(x)
        committed = is_operand(x) and getattr(x, "_device", None) is not None
        sharding = x.sharding if committed else aval.explicit_sharding
        found = cls(aval.shape, aval.dtype, sharding=sharding, weak_type=aval.weak_type)
        found.aval = found.aval.with_vma(aval.vma).with_memory_space(aval.memory_space)
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return self.aval.ndim

    @property
    def size(self) -> int:
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        return self.aval.weak_type

    @property
    def manual_axis_type(self) -> ManualAxisType:
        return self.aval.manual_axis_type

    @property
    def format(self) -> Format:
        """The layout and the sharding of the array, as far as they were given."""
        return Format(self._layout, self.sharding)

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """Return the struct with some fields replaced."""
        fields = {
            "shape": self.shape,
            "dtype": self.dtype,
            "sharding": self.sharding if self._layout is None else self.format,
            "weak_type": self.weak_type,
            "manual_axis_type": self.manual_axis_type,
        }
        return ShapeDtypeStruct(**(fields | changes))

    def __len__(self) -> int:
        return len(self.aval)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ShapeDtypeStruct)
            and self.aval is other.aval
            and self.sharding == other.sharding
            and self._layout == other._layout
        )

    def __hash__(self) -> int:
        return hash((self.aval.shape, self.aval.dtype, self.aval.weak_type))

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        if self.sharding is not None:
            weak += f", sharding={self.sharding!r}"
        if self.aval.vma:
            weak += f", manual_axis_type={self.manual_axis_type!r}"
        name = getattr(self.dtype, "name", self.dtype)
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={name}{weak})"


ShapeDtypeStruct.__module__ = "sagax"  # its public module, for messages and pickles


def _struct_aval(shape: Any, dtype: Any, weak_type: bool) -> Any:
    if isinstance(shape, (tuple, list)) and None in shape:
        raise ArgumentValueError(
            "`shape` cannot have None in it",
            function="ShapeDtypeStruct",
            argument="shape",
            got=shape,
            expected="integers",
            fix="for a size that is not known yet use export.symbolic_shape",
        )
    try:
        argument = "dtype"
        # A description keeps 64 bits where x64 is off: they narrow where it is used
        is_python = isinstance(dtype, type) and dtype in (int, float, complex)
        canonical = dtypes.canonicalize(dtype, _thread.settings.x64 if is_python else True)
        argument = "shape"
        return intern_aval(dims.canonical_shape(shape), canonical, weak_type, None)
    except SagaxError as error:
        raise error.attach(function="ShapeDtypeStruct", argument=argument) from None
