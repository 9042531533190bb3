"""Define dataclasses that are pytrees, subclasses included."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, dataclass_transform, overload

import sagax._src.trees.registry as registry
from sagax._src.languages.choice import worded
from sagax._src.trees.registry import static
from sagax._src.xla import GetAttrKey

Class = TypeVar("Class", bound=type)

_OPTIONS = "__sagax_dataclass__"  # the attribute of a class with the options for its subclasses
_KEYWORDS = frozenset(
    ("init", "repr", "eq", "order", "unsafe_hash", "frozen", "match_args", "kw_only")
)


@overload
def pytree_dataclass(cls: Class, /) -> Class: ...
@overload
def pytree_dataclass(**options: Any) -> Callable[[Class], Class]: ...
@dataclass_transform(field_specifiers=(dataclasses.field, static))
def pytree_dataclass(cls: Any = None, /, **options: Any) -> Any:
    """Make a class a dataclass whose instances are nodes of pytrees, as a decorator.

    Fields are children, those marked `field: int = sagax.tree.static()` part of the structure: hashable,
    no arrays; `jit` compiles anew for each of their values. Subclasses become the same, with the
    fields that they add, without a decorator of their own. `__init__` and `__post_init__` run when
    an instance is created, so they may check and convert. They do not run when one is rebuilt from
    children, which may be any objects (tracers, None). Fields with `init=False` are preserved too.

    Args:
      **options: those of `dataclasses.dataclass`, such as `frozen=True`. Subclasses inherit them (but
        not `slots`), and may have others: `class Sub(Base, kw_only=True)`.

    Raises:
      TypeError: `cls` is not a class, or a subclass of such a class and the options differ.
      ValueError: `cls` is a pytree node already.

    >>> from sagax import tree
    >>> @tree.dataclass
    ... class Layer:
    ...     weight: float
    ...     power: int = tree.static(default=2)
    ...     @sagax.jit
    ...     def __call__(self, x):
    ...         return self.weight * x ** self.power
    >>> class Shifted(Layer):
    ...     shift: float = 1.0
    >>> Layer(3.0)(2.0)
    Array(12., dtype=float32, weak_type=True)
    >>> tree.map(lambda x: 2 * x, Shifted(3.0))
    Shifted(weight=6.0, power=2, shift=2.0)
    """
    if cls is None:
        return lambda cls: pytree_dataclass(cls, **options)
    if not isinstance(cls, type):
        raise worded(
            TypeError(
                f"tree.dataclass: a class is needed; got {cls!r:.80}, an instance of {type(cls).__name__}."
            )
        )
    if _OPTIONS not in vars(cls):
        result = _make_pytree_dataclass(cls, options)
        _register(result)
        _extend_to_subclasses(result)
        return result
    known = vars(cls)[_OPTIONS]  # a subclass: a dataclass since its definition
    other = {name for name, value in options.items() if known.get(name) != value}
    if other:
        given = ", ".join(f"{name}={options[name]!r}" for name in sorted(other))
        raise worded(
            TypeError(
                f"tree.dataclass: {cls.__name__} is one already, as a subclass of one. Give its own options "
                f"in the line of the class: class {cls.__name__}({cls.__mro__[1].__name__}, {given})."
            )
        )
    return cls


def _make_pytree_dataclass(cls: Any, options: dict[str, Any]) -> Any:
    result = dataclasses.dataclass(**options)(cls)
    setattr(result, _OPTIONS, options)
    return result


def _extend_to_subclasses(cls: Any) -> None:
    own = vars(cls).get("__init_subclass__")

    def __init_subclass__(sub: Any, **keywords: Any) -> None:
        chosen = {name: keywords.pop(name) for name in _KEYWORDS & keywords.keys()}
        if own is not None:
            own.__get__(None, sub)(**keywords)
        else:
            super(cls, sub).__init_subclass__(**keywords)
        if _OPTIONS not in vars(sub):
            # slots create a new class, which is impossible here
            inherited = {k: v for k, v in getattr(sub, _OPTIONS).items() if k in _KEYWORDS}
            _make_pytree_dataclass(sub, {**inherited, **chosen})
            _register(sub)

    cls.__init_subclass__ = classmethod(__init_subclass__)


def _register(cls: Any) -> None:
    fields = dataclasses.fields(cls)
    data = tuple(f.name for f in fields if not f.metadata.get("static", False))
    meta = tuple(f.name for f in fields if f.metadata.get("static", False))
    keys = tuple(GetAttrKey(name) for name in data)
    new, put = object.__new__, object.__setattr__

    def flatten(node: Any) -> tuple[list[Any], Hashable]:
        return [getattr(node, n) for n in data], tuple([getattr(node, n) for n in meta])

    def flatten_with_keys(node: Any) -> tuple[list[Any], Hashable]:
        children, aux = flatten(node)
        return list(zip(keys, children, strict=True)), aux

    def unflatten(aux: Any, children: Any) -> Any:
        node = new(cls)
        for name, value in zip(data, children, strict=True):
            put(node, name, value)
        for name, value in zip(meta, aux, strict=True):
            put(node, name, value)
        return node

    registry.register_pytree_node(cls, flatten, unflatten, flatten_with_keys)
    registry.name_data_fields(cls, data)
