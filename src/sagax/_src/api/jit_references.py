"""Run jitted functions that take or capture references: values in, and new values back.

The executable takes the contents of references in place of them, and returns new contents of those
that are written. It may overwrite their memory, so that an update needs no copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.references import AbstractRef, Ref
from sagax._src.core.staging import hoist_constants
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.transforms.discharge import discharge_jaxpr
from sagax._src.transforms.prune import prune_jaxpr, used_inputs


class OnValues:
    """A traced function as one on values, whose operands include the captured ones.

    `function` returns the flat results, then the new contents of the references marked in `written`.
    """

    __slots__ = ("closed", "consts", "donated", "fun", "function", "results", "written")

    def __init__(self, fun: Any, closed: ClosedJaxpr, name: str) -> None:
        self.fun, self.closed = fun, closed
        self.consts = list(closed.consts)
        inner = hoist_constants(closed.jaxpr)
        owned = [type(v.aval) is AbstractRef for v in inner.invars]
        found = discharge_jaxpr(ClosedJaxpr(inner, ()), owned)
        self.written = found.written
        self.results = len(closed.out_avals)
        used = used_inputs(prune_jaxpr(found.jaxpr.jaxpr))
        # the positions of the operands whose memory results may take
        self.donated = [i for i, w in enumerate(found.written) if w and used[i]]

        def function(*values: Any) -> list:
            return eval_jaxpr(found.jaxpr.jaxpr, found.jaxpr.consts, *values)

        function.__name__ = function.__qualname__ = name
        self.function = function

    def call(self, run: Callable[..., Sequence[Any]], arguments: Sequence[Any]) -> list:
        """Run the compiled `function` on the contents; return the results, and store new contents."""
        operands = [*self.consts, *arguments]
        refs = [x for x in operands if type(x) is Ref]
        if len(set(map(id, refs))) < len(refs):
            raise _passed_twice(self.fun, self.closed, arguments)
        values = []
        for x, written in zip(operands, self.written):
            if type(x) is Ref:
                if x._frozen is not None or (written and x._shared):
                    _prepare(x, written)
                x = x._value
            values.append(x)
        outs = run(*values)
        n = self.results
        for ref, value in zip(compress(operands, self.written), outs[n:]):
            ref._value, ref._shared = value, False
        return list(outs[:n])


def _prepare(ref: Ref, written: bool) -> None:
    """Check that a reference may be used, and give it contents of its own if they are to be overwritten."""
    if ref._frozen is not None and (written or ref._frozen == "free_ref"):
        raise ArgumentValueError(
            f"a reference is used after {ref._frozen} ended its use",
            function="jit",
            got=repr(ref.aval),
            fix=f"call the function before {ref._frozen}, or create another with sagax.new_ref",
        )
    if written and ref._shared:
        ref._value, ref._shared = ref._value.copy(), False


def check_distinct(fun: Any, closed: ClosedJaxpr, arguments: Sequence[Any]) -> None:
    """Raise if one reference is passed as two arguments, or passed and captured."""
    refs = [id(x) for x in (*closed.consts, *arguments) if type(x) is Ref]
    if len(set(refs)) < len(refs):
        raise _passed_twice(fun, closed, arguments)


def _passed_twice(fun: Any, closed: ClosedJaxpr, arguments: Sequence[Any]) -> ArgumentValueError:
    seen: dict[int, str] = {
        id(c): "a value that the function captures" for c in closed.consts if type(c) is Ref
    }
    names = closed.jaxpr.debug_info.arg_names
    for i, x in enumerate(arguments):
        if type(x) is Ref:
            name = names[i] if i < len(names) else f"argument {i}"
            if id(x) in seen:
                break
            seen[id(x)] = name
    return ArgumentValueError(
        f"one reference of type {x.aval!r} is passed twice: as {seen[id(x)]} and as {name}",
        function=function_name(fun),
        argument=name,
        got=repr(x.aval),
        fix="pass it once, and use that name in the function",
    )
