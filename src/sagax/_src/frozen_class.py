"""Define frozen dataclasses with shared methods, to make imports fast.

`dataclasses.dataclass` generates and compiles `__init__`, `__eq__` and others for each class. That takes
0.4 ms a class on a fast machine, while `import sagax` defines dozens. Records share one `__init__`, which
reads the fields from a table. To `dataclasses.replace`, `fields` and pickle they are dataclasses.
"""

from __future__ import annotations

import dataclasses
import inspect
import operator
import typing
from collections.abc import Callable
from typing import Any

from sagax._src.languages.choice import worded

_put = object.__setattr__


_T = typing.TypeVar("_T")


@typing.overload
@typing.dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record(cls: type[_T], /) -> type[_T]: ...
@typing.overload
@typing.dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record(
    *, eq: bool = True, slots: bool = False, weakref_slot: bool = False
) -> Callable[[type[_T]], type[_T]]: ...
def record(
    cls: Any = None, /, *, eq: bool = True, slots: bool = False, weakref_slot: bool = False
) -> Any:
    """Make the class a frozen dataclass; methods that it defines itself are retained.

    Args:
      eq: whether instances with equal fields are equal and hash so; else compare by identity.
      slots, weakref_slot: as in `dataclasses.dataclass`.

    >>> @record
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(x=1, y=0)
    (Point(x=1, y=0), True)
    """
    if cls is None:
        return lambda cls: _build(cls, eq, slots, weakref_slot)
    return _build(cls, eq, slots, weakref_slot)


def _build(cls: Any, eq: bool, slots: bool, weakref_slot: bool) -> Any:
    own = set(vars(cls))
    record_class = dataclasses.dataclass(
        init=False, repr=False, eq=False, slots=slots, weakref_slot=weakref_slot
    )(cls)
    fields = dataclasses.fields(record_class)
    record_class._record_fields = _Fields(fields)
    methods: dict[str, Any] = {
        "__init__": _init,
        "__signature__": _Signature(),
        "__repr__": _repr,
        "__setattr__": _refuse_setting,
        "__delattr__": _refuse_deleting,
        "__setstate__": _set_state,
    }
    if eq:
        compared = [f.name for f in fields if f.compare]
        record_class._record_key = operator.attrgetter(*compared) if compared else type
        methods |= {"__eq__": _equal, "__hash__": _hash}
    for name, method in methods.items():
        if name not in own:
            setattr(record_class, name, method)
    return record_class


class _Signature:
    """Compute the signature of a record's class on first use."""

    def __get__(self, instance: Any, cls: Any) -> inspect.Signature:
        parameters = []
        for f in dataclasses.fields(cls):
            default = f.default if f.default is not dataclasses.MISSING else f.default_factory
            if f.init:
                if default is dataclasses.MISSING:
                    default = inspect.Parameter.empty
                kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
                parameters.append(
                    inspect.Parameter(f.name, kind, default=default, annotation=f.type)
                )
        return inspect.Signature(parameters)


class _Fields:
    """The fields of a record: those of `__init__` in order, and their defaults."""

    __slots__ = ("defaults", "factories", "names", "shown")

    def __init__(self, fields: tuple[dataclasses.Field, ...]) -> None:
        missing = dataclasses.MISSING
        self.names = tuple(f.name for f in fields if f.init)
        self.shown = tuple(f.name for f in fields if f.repr)
        self.defaults = {f.name: f.default for f in fields if f.default is not missing}
        self.factories = {
            f.name: f.default_factory for f in fields if f.default_factory is not missing
        }


def _init(self: Any, *values: Any, **named: Any) -> None:
    cls = type(self)
    fields = cls._record_fields
    names = fields.names
    if not named and len(values) == len(names):
        for name, value in zip(names, values, strict=True):
            _put(self, name, value)
    else:
        for name, value in _field_values(cls, fields, values, named).items():
            _put(self, name, value)
    check = getattr(cls, "__post_init__", None)
    if check is not None:
        check(self)


def _field_values(
    cls: Any, fields: _Fields, values: tuple, named: dict[str, Any]
) -> dict[str, Any]:
    """Return the value of each field, in order, from the arguments or its default."""
    names = fields.names
    given = dict(zip(names, values, strict=False))
    if len(values) > len(names):
        raise worded(
            TypeError(f"{cls.__name__}() takes {len(names)} fields, got {len(values)}: {names}")
        )
    for name, value in named.items():
        if name in given:
            raise worded(TypeError(f"{cls.__name__}() got its field {name!r} twice"))
        given[name] = value
    unknown = given.keys() - fields.names
    if unknown:
        raise worded(
            TypeError(
                f"{cls.__name__}() has no field {min(unknown)!r}: they are {', '.join(fields.names)}"
            )
        )
    full = {}
    for name in fields.names:
        if name in given:
            full[name] = given[name]
        elif name in fields.defaults:
            full[name] = fields.defaults[name]
        elif name in fields.factories:
            full[name] = fields.factories[name]()
        else:
            raise worded(TypeError(f"{cls.__name__}() needs its field {name!r}"))
    return full


def _repr(self: Any) -> str:
    cls = type(self)
    shown = (f"{name}={getattr(self, name)!r}" for name in cls._record_fields.shown)
    return f"{cls.__qualname__}({', '.join(shown)})"


def _equal(self: Any, other: Any) -> bool:
    cls = type(self)
    if type(other) is not cls:
        return NotImplemented
    if other is self:
        return True
    key = cls._record_key
    return key(self) == key(other)


def _hash(self: Any) -> int:
    return hash(type(self)._record_key(self))


def _refuse_setting(self: Any, name: str, value: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"{type(self).__name__}.{name} cannot be set")


def _refuse_deleting(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"{type(self).__name__}.{name} cannot be deleted")


def _set_state(self: Any, state: Any) -> None:
    """Restore fields for pickle and copy, from a dict, or a pair of dicts where there are slots."""
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            _put(self, name, value)
