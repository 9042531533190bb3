"""Cache traces, so that equivalent functions share a jaxpr and its executables.

Control flow traces its bodies at each call. Outside of `jit` each trace would be transformed and compiled anew. Two
caches avoid that: functions with equal keys (`identity`) share traces; and bodies without keys (which capture
arrays) share the first of several structurally equal jaxprs from the same lines.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import fork_locks
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
    """A least recently used cache."""

    __slots__ = ("items", "lock")

    def __init__(self) -> None:
        self.items: OrderedDict[tuple, Any] = OrderedDict()
        self.lock = fork_locks.lock()

    def get(self, key: tuple) -> Any:
        with self.lock:
            found = self.items.pop(key, None)
            if found is not None:
                self.items[key] = found
            return found

    def add(self, key: tuple, value: Any) -> Any:
        """Return the value of this key, or insert `value`."""
        with self.lock:
            value = self.items.pop(key, value)
            self.items[key] = value
            if len(self.items) > _LIMIT:
                self.items.popitem(last=False)
            return value


_traced = _Recent()
_jaxprs = _Recent()


def clear() -> None:
    """Clear all caches."""
    for recent in (_traced, _jaxprs):
        with recent.lock:
            recent.items.clear()


def traced(functions: tuple, signature: tuple, trace: Callable[[], Any]) -> Any:
    """Return the result of `trace`, cached by the identities of the functions that it traces.

    Args:
      things: the functions and plain values that the result depends on.
      signature: the rest of the key.
      make: returns an object with `consts`, the values that it captured.
    """
    function_key = identity.combined_key(*functions)
    if function_key is None:
        return trace()
    key = trace_key(function_key, signature)
    try:
        found = _traced.get(key)
    except TypeError:  # static parts of a tree that are unhashable
        return trace()
    if found is None:
        found = trace()
        # Values of enclosing transformations belong to one call only; arrays would be kept alive.
        if not found.consts:
            _traced.add(key, found)
    else:
        free_variables.reused(functions)
    return found


def shared(jaxpr: Jaxpr, *sources: Any) -> Jaxpr:
    """Return an earlier jaxpr of the same structure from the same code, if `jaxpr` is about to run eagerly."""
    if _is_staging(state.trace):
        return jaxpr  # it becomes part of a larger jaxpr
    form = structure(jaxpr)
    if form is None:
        return jaxpr
    key = (form, axis_environment(), *(identity.origin(f) for f in sources))
    return _jaxprs.add(key, jaxpr)


def _is_staging(trace: Trace | None) -> bool:
    while trace is not None:
        if isinstance(trace, StageTrace):
            return True
        trace = trace.parent
    return False


def structure(jaxpr: Jaxpr) -> tuple | None:
    """Return a key of jaxprs up to variable names; None if a parameter has no key."""
    if memo_keys.STRUCTURE not in jaxpr.memo:
        try:
            jaxpr.memo[memo_keys.STRUCTURE] = _structure(jaxpr)
        except TypeError:  # an unhashable parameter
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
    if kind in (float, complex):  # distinguishes 0.0 and -0.0
        return kind, repr(value)
    if kind in (bool, int):  # distinguishes True and 1
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
