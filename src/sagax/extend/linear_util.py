"""Wrap functions in transformations, with the interface of older jax.

>>> from sagax.extend import linear_util as lu
>>> @lu.transformation2
... def twice(f, *args):
...     return 2 * f(*args)
>>> twice(lu.wrap_init(abs)).call_wrapped(-3)
6
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Hashable, Sequence
from typing import Any

__all__ = [
    "StoreException",
    "WrappedFun",
    "cache",
    "merge_linear_aux",
    "transformation",
    "transformation2",
    "transformation_with_aux",
    "transformation_with_aux2",
    "wrap_init",
]

_EMPTY = object()


class StoreException(Exception):
    """An auxiliary output that was not stored yet, or stored twice."""


class _Store:
    """The auxiliary output of one call, stored once."""

    def __init__(self) -> None:
        self.value: Any = _EMPTY

    def store(self, value: Any) -> None:
        if self.value is not _EMPTY:
            raise StoreException("Store occupied: the function was called before")
        self.value = value

    def __call__(self) -> Any:
        if self.value is _EMPTY:
            raise StoreException("Store empty: the function was not called yet")
        return self.value


class WrappedFun:
    """A function `f` with transformations around it; `call_wrapped` calls it.

    Equal if function, transformations and parameters are.
    """

    __slots__ = ("_call", "debug_info", "f", "params", "transforms")

    def __init__(
        self,
        f: Callable[..., Any],
        call: Callable[..., Any],
        transforms: tuple[Any, ...],
        params: tuple[tuple[str, Hashable], ...],
        debug_info: Any,
    ) -> None:
        self.f, self._call, self.transforms = f, call, transforms
        self.params, self.debug_info = params, debug_info

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", "<unnamed wrapped function>")

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with all its transformations."""
        return self._call(*args, **kwargs)

    def wrapped(self, around: Callable[..., Any], key: tuple[Any, ...]) -> WrappedFun:
        """Wrap the function in another transformation, `around(f, *args)`; `key` identifies it."""
        call = functools.partial(around, self._call)
        return WrappedFun(self.f, call, (key, *self.transforms), self.params, self.debug_info)

    def __hash__(self) -> int:
        return hash((self.f, self.transforms, self.params))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WrappedFun) and (self.f, self.transforms, self.params) == (
            other.f,
            other.transforms,
            other.params,
        )


def wrap_init(
    f: Callable[..., Any], params: dict[str, Any] | None = None, *, debug_info: Any = None
) -> WrappedFun:
    """Wrap `f`, with `params` as keyword arguments, for transformations.

    >>> from sagax.extend import linear_util as lu
    >>> lu.wrap_init(pow, {"mod": 5}).call_wrapped(2, 3)
    3
    """
    params = params or {}
    call = functools.partial(f, **params) if params else f
    return WrappedFun(f, call, (), tuple(sorted(params.items())), debug_info)


def _run_generator(gen: Callable[..., Generator], static: Sequence[Any]) -> Callable[..., Any]:
    """Run a generator transformation of f: it yields arguments and is sent results."""

    def around(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        running = gen(*static, *args, **kwargs)
        inner, keywords = next(running)
        return running.send(f(*inner, **keywords))

    return around


def transformation(gen: Callable[..., Generator], fun: Any = _EMPTY, *static: Any) -> Any:
    """Create a transformation from a generator that yields (args, kwargs), receives the result, and yields its own.

    >>> from sagax.extend import linear_util as lu
    >>> @lu.transformation
    ... def negated(*args):
    ...     result = yield args, {}
    ...     yield -result
    >>> negated(lu.wrap_init(abs)).call_wrapped(-3)
    -3
    """
    if fun is _EMPTY:
        return functools.partial(transformation, gen)
    return fun.wrapped(_run_generator(gen, static), (gen, static))


def transformation2(gen: Callable[..., Any], fun: Any = _EMPTY, *static: Any) -> Any:
    """Create a transformation from a function `gen(f, *static, *args)`.

    >>> from sagax.extend import linear_util as lu
    >>> plus = lu.transformation2(lambda f, n, *args: f(*args) + n)
    >>> plus(lu.wrap_init(abs), 10).call_wrapped(-3)
    13
    """
    if fun is _EMPTY:
        return functools.partial(transformation2, gen)
    return fun.wrapped(lambda f, *a, **k: gen(f, *static, *a, **k), (gen, static))


def transformation_with_aux(gen: Callable[..., Generator], fun: Any = _EMPTY, *static: Any) -> Any:
    """Create a transformation from a generator that ends with (result, aux); return (fun, aux thunk).

    >>> from sagax.extend import linear_util as lu
    >>> @lu.transformation_with_aux
    ... def counted(*args):
    ...     result = yield args, {}
    ...     yield result, len(args)
    >>> fun, count = counted(lu.wrap_init(max))
    >>> fun.call_wrapped(1, 5), count()
    (5, 2)
    """
    if fun is _EMPTY:
        return functools.partial(transformation_with_aux, gen)
    store = _Store()
    drive = _run_generator(gen, static)

    def around(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        result, aux = drive(f, *args, **kwargs)
        store.store(aux)
        return result

    return fun.wrapped(around, (gen, static)), store


def transformation_with_aux2(
    gen: Callable[..., Any], fun: Any = _EMPTY, *static: Any, use_eq_store: bool = False
) -> Any:
    """Create a transformation from `gen(f, store, *static, *args)`, which stores aux; return (fun, aux thunk).

    >>> from sagax.extend import linear_util as lu
    >>> @lu.transformation_with_aux2
    ... def counted(f, store, *args):
    ...     store.store(len(args))
    ...     return f(*args)
    >>> fun, count = counted(lu.wrap_init(max))
    >>> fun.call_wrapped(1, 5), count()
    (5, 2)
    """
    if fun is _EMPTY:
        return functools.partial(transformation_with_aux2, gen, use_eq_store=use_eq_store)
    store = _Store()
    return fun.wrapped(lambda f, *a, **k: gen(f, store, *static, *a, **k), (gen, static)), store


def merge_linear_aux(aux1: Callable[[], Any], aux2: Callable[[], Any]) -> tuple[bool, Any]:
    """Return the output of the one of two thunks that has one: (True, first) or (False, second).

    >>> from sagax.extend import linear_util as lu
    >>> def none():
    ...     raise lu.StoreException("Store empty")
    >>> lu.merge_linear_aux(none, lambda: 3)
    (False, 3)
    """
    try:
        first = aux1()
    except StoreException:
        try:
            return False, aux2()
        except StoreException:
            raise StoreException("neither store occupied") from None
    try:
        aux2()
    except StoreException:
        return True, first
    raise StoreException("both stores occupied")


def cache(call: Callable[..., Any], *, explain: Any = None) -> Callable[..., Any]:
    """Memoize `call(fun, *args)` for equal functions and arguments.

    >>> from sagax.extend import linear_util as lu
    >>> calls = []
    >>> f = lu.cache(lambda fun, x: calls.append(x) or fun.call_wrapped(x))
    >>> f(lu.wrap_init(abs), -3), f(lu.wrap_init(abs), -3), calls
    (3, 3, [-3])
    """
    return functools.lru_cache(maxsize=4096)(call)
