"""Define types of values that libraries add: each stands for several arrays, and says how.

Jaxprs hold such values as single variables. Before a jaxpr is lowered, `higher_order/high_primitives.py`
replaces them by their arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from sagax._src.core.avals import Space
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.languages.choice import worded

# Equal types are one object, as avals are.
_table: dict[HiType, HiType] = {}
# The classes of values, and the functions that give their types.
value_types: dict[type, Callable[[Any], HiType]] = {}


class MissingMethodError(SagaxError, NotImplementedError):
    """A type or primitive of a library lacks the method that a transformation needs."""

    def __init__(self, owner: Any, method: str, needed_for: str) -> None:
        name = type(owner).__name__
        super().__init__(
            f"{needed_for} needs the method `{method}` of {name}, which does not define it",
            function=name,
            fix=f"define {name}.{method}; docs/hijax.md shows all methods",
        )


def _not_set() -> None:
    raise worded(NotImplementedError("sagax was not imported as a whole: import sagax"))


def interned(aval: Any) -> Any:
    """Return the one object that stands for all types equal to `aval`."""
    if not isinstance(aval, HiType):
        return aval
    return _table.setdefault(aval, aval)


# The operators of traced values that a type may define, each as a method without one of the underscores on each
# side: `_add(tracer, other)` for `__add__`.
_BINARY = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or".split()
OPERATORS = (
    *_BINARY,
    *(f"r{name}" for name in _BINARY),
    *"eq ne lt le gt ge neg pos abs invert complex int float bool index round trunc floor ceil".split(),
    *"len iter contains getitem setitem".split(),
)
# Called when a type defines one of them; `core.trace` sets it.
define_operators: Callable[[], None] = _not_set

_RETURN_TYPES = ("to_tangent_aval", "to_ct_aval", "dec_rank", "inc_rank", "shard", "unshard")


def _interning(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: HiType, *args: Any, **kwargs: Any) -> Any:
        return interned(method(self, *args, **kwargs))

    call._interns = True  # type: ignore[attr-defined]
    return call


class MappingSpec:
    """Base class of entries of `in_axes` and `out_axes` for values of types that libraries add."""


class HiPspec:
    """Base class of entries of `in_specs` and `out_specs` for values of types that libraries add."""

    partial = False

    def to_lo(self) -> tuple[Any, ...]:
        """Return a `PartitionSpec` for each array that the value stands for."""
        raise MissingMethodError(self, "to_lo", "shard_map")

    def to_tangent_spec(self) -> Any:
        """Return the spec of tangents."""
        raise MissingMethodError(self, "to_tangent_spec", "the derivative of shard_map")

    def to_ct_spec(self) -> Any:
        """Return the spec of cotangents."""
        raise MissingMethodError(self, "to_ct_spec", "the derivative of shard_map")


class _TypeOfTypes(type):
    """Intern the types that methods return, also those of methods that are set on the class later."""

    def __setattr__(cls, name: str, value: Any) -> None:
        if name in _RETURN_TYPES and callable(value) and not hasattr(value, "_interns"):
            value = _interning(value)
        super().__setattr__(name, value)


class HiType(metaclass=_TypeOfTypes):
    """Base class of types of values that stand for several arrays. Equal types must be equal and have one hash."""

    is_high = True
    weak_type = False
    explicit_sharding: Any = None
    memory_space: Any = Space.Device
    vma: frozenset = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in _RETURN_TYPES:
            if name in vars(cls):
                setattr(cls, name, vars(cls)[name])
        if any(f"_{name}" in vars(cls) for name in OPERATORS):
            define_operators()

    def _missing(self, method: str, needed_for: str) -> NoReturn:
        raise MissingMethodError(self, method, needed_for)

    def __hash__(self) -> int:
        self._missing("__hash__", "the comparison of types")

    def __eq__(self, other: object) -> bool:
        self._missing("__eq__", "the comparison of types")

    # arrays

    def lo_ty(self) -> list[Any]:
        """Return the types of the arrays that a value stands for."""
        self._missing("lo_ty", "compilation")

    def lower_val(self, hi_val: Any, /) -> list[Any]:
        """Return the arrays that a value stands for."""
        self._missing("lower_val", "compilation")

    def raise_val(self, *lo_vals: Any) -> Any:
        """Return the value that stands for these arrays."""
        self._missing("raise_val", "compilation")

    # derivatives

    def to_tangent_aval(self) -> Any:
        """Return the type of tangents."""
        self._missing("to_tangent_aval", "differentiation")

    def to_ct_aval(self) -> Any:
        """Return the type of cotangents: by default that of tangents."""
        return self.to_tangent_aval()

    def to_cotangent_aval(self) -> Any:
        return self.to_ct_aval()

    def vspace_zero(self) -> Any:
        """Return the zero, if this is a type of tangents."""
        self._missing("vspace_zero", "its use as a type of tangents")

    def vspace_add(self, x: Any, y: Any) -> Any:
        """Return the sum of two values, if this is a type of tangents."""
        self._missing("vspace_add", "its use as a type of tangents")

    # batches

    def dec_rank(self, size: Any, spec: Any) -> Any:
        """Return the type of one example of a batch of this type, mapped by `spec`."""
        self._missing("dec_rank", "vmap")

    def inc_rank(self, size: Any, spec: Any) -> Any:
        """Return the type of a batch of values of this type, mapped by `spec`."""
        self._missing("inc_rank", "vmap")

    def leading_axis_spec(self) -> Any:
        """Return the spec by which `scan` takes slices and stacks."""
        self._missing("leading_axis_spec", "scan")

    # devices

    def shard(self, mesh: Any, manual_axes: frozenset, check_vma: bool, spec: Any) -> Any:
        """Return the type of what one device holds."""
        self._missing("shard", "shard_map")

    def unshard(self, mesh: Any, check_vma: bool, spec: Any) -> Any:
        """Return the type of the whole, given that of what one device holds."""
        self._missing("unshard", "shard_map")

    def nospec(self, mesh: Any, check_vma: bool, all_names: tuple) -> Any:
        """Return the spec of a residual, which differs between all devices along the axes `all_names`."""
        self._missing("nospec", "the derivative of shard_map")

    # what other avals have

    def strip_weak_type(self) -> HiType:
        return self

    def with_vma(self, vma: frozenset) -> HiType:
        return self

    def str_short(self, short_dtypes: bool = False, **_: Any) -> str:
        return repr(self)


def lowered_avals(avals: Sequence[Any]) -> list[Any]:
    """Replace types by those of the arrays that their values stand for."""
    return [lo for a in avals for lo in (a.lo_ty() if a.is_high else (a,))]


def lower_values(avals: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Replace values by the arrays that they stand for."""
    return [
        lo
        for a, x in zip(avals, values, strict=True)
        for lo in (a.lower_val(x) if a.is_high else (x,))
    ]


def raise_values(avals: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    """Return values of these types, which stand for the arrays."""
    given = iter(arrays)
    return [
        a.raise_val(*[next(given) for _ in a.lo_ty()]) if a.is_high else next(given) for a in avals
    ]


class aval_property:
    """A property of traced values, defined on their type: `fget` takes the traced value."""

    def __init__(self, fget: Callable[[Any], Any]) -> None:
        self.fget = fget

    def of(self, tracer: Any) -> Any:
        return self.fget(tracer)


class aval_method:
    """A method of traced values, defined on their type: `fun` takes the traced value, and arguments."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun

    def of(self, tracer: Any) -> Any:
        return self.fun.__get__(tracer)
