"""Cache traces, so that functions of equal meaning share a jaxpr and its executables.

Control flow traces its bodies at each call. Outside of `jit` that would derive and compile each time. Two
shortcuts: functions of the same meaning (`identity`) share what was traced; and where only the tracing tells
(a body that closes over arrays), programs of the same structure, made by the same lines, become one.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src.core import memo_keys
from sagax._src.core.dispatch_keys import trace_key
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from sagax._src.core.staging import StageTrace
from sagax._src.core.trace import Trace, axis_environment, state
from sagax._src.function_analysis import identity
from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING or lazy_imports():
    from sagax._src.function_analysis import free_variables


_LIMIT = 256


class _Recent:
    """The values most recently used, by key."""

    __slots__ = ("items", "lock")

    def __init__(self) -> None:
        self.items: OrderedDict[tuple, Any] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, key: tuple) -> Any:
        with self.lock:
            found = self.items.pop(key, None)
            if found is not None:
                self.items[key] = found
            return found

    def add(self, key: tuple, value: Any) -> Any:
        """The value of this key: the one that is there already, or else `value`."""
        with self.lock:
            value = self.items.pop(key, value)
            self.items[key] = value
            if len(self.items) > _LIMIT:
                self.items.popitem(last=False)
            return value


_traced = _Recent()
_programs = _Recent()


def clear() -> None:
    """Forget everything that is shared."""
    for recent in (_traced, _programs):
        with recent.lock:
            recent.items.clear()


def traced(things: tuple, signature: tuple, make: Callable[[], Any]) -> Any:
    """What `make` gives, which traces functions: from the cache where functions of their meaning were traced.

    Args:
      things: the functions and plain values that what is made depends on.
      signature: the rest of the key.
      make: gives an object with `consts`, the values that it captured.
    """
    meaning = identity.meaning_of(*things)
    if meaning is None:
        return make()
    key = trace_key(meaning, signature)
    try:
        found = _traced.get(key)
    except TypeError:  # static parts of a tree that cannot be hashed
        return make()
    if found is None:
        found = make()
        # Values of enclosing transformations belong to one call only; arrays would be kept alive.
        if not found.consts:
            _traced.add(key, found)
    else:
        free_variables.reused(things)
    return found


def shared(jaxpr: Jaxpr, *made_by: Any) -> Jaxpr:
    """`jaxpr`, or one of the same structure made by the same code before, where it is about to run at once."""
    if _is_staging(state.trace):
        return jaxpr  # it becomes part of a larger program
    form = structure(jaxpr)
    if form is None:
        return jaxpr
    key = (form, axis_environment(), *(identity.origin(f) for f in made_by))
    return _programs.add(key, jaxpr)


def _is_staging(trace: Trace | None) -> bool:
    while trace is not None:
        if isinstance(trace, StageTrace):
            return True
        trace = trace.parent
    return False


def structure(jaxpr: Jaxpr) -> tuple | None:
    """A key that jaxprs share which differ in the names of variables only; None where parameters have no key."""
    if memo_keys.STRUCTURE not in jaxpr.memo:
        try:
            jaxpr.memo[memo_keys.STRUCTURE] = _structure(jaxpr)
        except TypeError:  # a parameter that cannot be hashed
            jaxpr.memo[memo_keys.STRUCTURE] = None
    return jaxpr.memo[memo_keys.STRUCTURE]


def _structure(jaxpr: Jaxpr) -> tuple:
    numbers: dict[Any, int] = {}

    def bound(variables: list) -> tuple:
        for v in variables:
            numbers[v] = len(numbers)
        return tuple([v.aval for v in variables])

    def read(atoms: list) -> tuple:
        return tuple([_literal(a) if type(a) is Literal else numbers[a] for a in atoms])

    parts: list[Any] = [bound(jaxpr.constvars), bound(jaxpr.invars)]
    for eqn in jaxpr.eqns:
        params = tuple([(name, parameter_key(p)) for name, p in eqn.params.items()])
        parts.append((eqn.primitive, read(eqn.invars), params, bound(eqn.outvars), eqn.scope))
    parts.append(read(jaxpr.outvars))
    whole = tuple(parts)
    hash(whole)
    return whole


def _literal(atom: Literal) -> tuple:
    value = atom.val
    if isinstance(value, (np.generic, np.ndarray)):
        return atom.aval, value.tobytes()
    return atom.aval, type(value), repr(value)


def parameter_key(value: Any) -> Any:
    kind = type(value)
    if kind in (float, complex):  # 0.0 is not -0.0
        return kind, repr(value)
    if kind in (bool, int):  # True is not 1
        return kind, value
    if kind in (tuple, list):
        return (kind, *[parameter_key(v) for v in value])
    if kind is ClosedJaxpr:
        return ("closed", _known(value.jaxpr), *[identity.Same(c) for c in value.consts])
    if kind is Jaxpr:
        return "jaxpr", _known(value)
    return value


def _known(jaxpr: Jaxpr) -> tuple:
    form = structure(jaxpr)
    if form is None:
        raise TypeError
    return form
