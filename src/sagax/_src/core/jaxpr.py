"""Define jaxprs: typed programs of primitive applications, in A-normal form."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sagax._src.core import memo_keys
from sagax._src.core.effects import no_effects
from sagax._src.languages.choice import worded
from sagax._src.lazy_import import lazy_imports
from sagax._src.source_stacks import joined, joined_scopes, written

if TYPE_CHECKING or lazy_imports():
    from sagax._src.core import pretty_print


class Var:
    """A variable with a type and an identity; it is named when a jaxpr is printed."""

    __slots__ = ("__weakref__", "aval")

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var({self.aval.str_short(short_dtypes=True)})"


class Literal:
    """A scalar constant in an equation."""

    __slots__ = ("aval", "val")

    def __init__(self, val: Any, aval: Any) -> None:
        self.val = val
        self.aval = aval

    def __repr__(self) -> str:
        return f"{self.val}:{self.aval.str_short(short_dtypes=True)}"


Atom = Var | Literal


class SourceInfo(NamedTuple):
    """The origin of an operation."""

    traceback: Any
    name_stack: str  # names given by named_scope, joined by "/"


class Eqn:
    """One application of a primitive."""

    __slots__ = ("effects", "inner", "invars", "outer", "outvars", "params", "primitive", "scope")

    def __init__(
        self,
        primitive: Any,
        invars: list,
        outvars: list,
        params: dict,
        effects: frozenset = no_effects,
        traceback: Any = None,
        scope: str = "",
        outer: Any = None,
    ) -> None:
        self.primitive = primitive
        self.invars = invars
        self.outvars = outvars
        self.params = params
        self.effects = effects
        self.inner = traceback
        self.scope = scope
        self.outer = outer  # the stack around `traceback`, if that is only its inner part

    def replace(self, **changes: Any) -> Eqn:
        """Return the same equation with some fields replaced."""
        new = Eqn(
            self.primitive,
            self.invars,
            self.outvars,
            self.params,
            self.effects,
            self.inner,
            self.scope,
            self.outer,
        )
        for name, value in changes.items():
            if name == "traceback":
                new.inner, new.outer = value, None
            else:
                setattr(new, name, value)
        return new

    @property
    def traceback(self) -> Any:
        """The stack that recorded the operation; None if there is none."""
        return self.inner if self.outer is None else joined(self.inner, self.outer)

    @property
    def source_info(self) -> SourceInfo:
        """The origin of the operation: the stack that recorded it, and its name scopes."""
        return SourceInfo(self.traceback, self.scope)


class DebugInfo:
    """Name a traced function, and the paths of its arguments and results, for messages.

    `arg_names` may be a function, called on first use; `code` is the Python code object, if known.
    """

    __slots__ = ("_arg_names", "code", "func_name", "result_paths", "traced_for")

    def __init__(
        self,
        func_name: str = "",
        arg_names: Sequence[str] | Callable[[], Sequence[str]] = (),
        result_paths: Sequence[str] = (),
        traced_for: str = "",
        code: Any = None,
    ) -> None:
        self.func_name = func_name
        self._arg_names = arg_names if callable(arg_names) else tuple(arg_names)
        self.result_paths = tuple(result_paths)
        self.traced_for = traced_for
        self.code = code

    @property
    def arg_names(self) -> tuple[str, ...]:
        if callable(self._arg_names):
            self._arg_names = tuple(self._arg_names())
        return self._arg_names


no_debug_info = DebugInfo()


class Jaxpr:
    """Inputs (`constvars`, then `invars`), equations in order, and outputs.

    Immutable, so that `memo` can hold derived jaxprs (its derivative, transpose, lowering) for its
    lifetime. `core/memo_keys.py` lists the keys.
    """

    __slots__ = (
        "__weakref__",
        "constvars",
        "debug_info",
        "effects",
        "eqns",
        "invars",
        "memo",
        "outvars",
    )

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Atom],
        eqns: Sequence[Eqn],
        effects: frozenset | None = None,
        debug_info: DebugInfo = no_debug_info,
    ) -> None:
        self.constvars = list(constvars)
        self.invars = list(invars)
        self.outvars = list(outvars)
        self.eqns = list(eqns)
        if effects is None:
            found = [e.effects for e in self.eqns if e.effects]
            effects = frozenset().union(*found) if found else no_effects
        self.effects = effects
        self.debug_info = debug_info
        self.memo: dict = {}

    @property
    def in_avals(self) -> list:
        return [v.aval for v in self.invars]

    @property
    def out_avals(self) -> list:
        return [v.aval for v in self.outvars]

    @property
    def all_invars(self) -> list[Var]:
        return [*self.constvars, *self.invars]

    @property
    def jaxpr(self) -> Jaxpr:
        """This jaxpr: jax has one class for those with and without values of constants."""
        return self

    consts = property(lambda self: [])
    num_consts = property(lambda self: 0)

    def with_consts(self, consts: Sequence[Any]) -> ClosedJaxpr:
        """Return the jaxpr with values for its `constvars`; a ValueError unless there is one for each."""
        if len(consts) != len(self.constvars):
            raise worded(
                ValueError(
                    f"a jaxpr with {len(self.constvars)} constants got {len(consts)} values for them"
                )
            )
        return ClosedJaxpr(self, consts)

    def replace(self, **changes: Any) -> Jaxpr:
        """Return the same jaxpr with some fields replaced."""
        names = ("constvars", "invars", "outvars", "eqns", "effects", "debug_info")
        return Jaxpr(**({n: getattr(self, n) for n in names} | changes))

    def pretty_print(self, **_: Any) -> str:
        return pretty_print.jaxpr_text(self)

    def __repr__(self) -> str:
        return pretty_print.jaxpr_text(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(pretty_print.jaxpr_text(self))


class ClosedJaxpr:
    """A jaxpr together with the values of its `constvars`."""

    __slots__ = ("__weakref__", "consts", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any]) -> None:
        self.jaxpr = jaxpr
        self.consts = list(consts)

    in_avals = property(lambda self: self.jaxpr.in_avals)
    out_avals = property(lambda self: self.jaxpr.out_avals)
    invars = property(lambda self: self.jaxpr.invars)
    outvars = property(lambda self: self.jaxpr.outvars)
    constvars = property(lambda self: self.jaxpr.constvars)
    debug_info = property(lambda self: self.jaxpr.debug_info)
    literals = property(lambda self: self.consts)
    eqns = property(lambda self: self.jaxpr.eqns)
    effects = property(lambda self: self.jaxpr.effects)
    all_invars = property(lambda self: self.jaxpr.all_invars)
    num_consts = property(lambda self: len(self.consts))

    def with_consts(self, consts: Sequence[Any]) -> ClosedJaxpr:
        """Return the jaxpr with other values for its `constvars`."""
        return self.jaxpr.with_consts(consts)

    # The same jaxpr with the same constants is the same closed jaxpr: caches that have it as a
    # parameter hit.
    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not ClosedJaxpr or other.jaxpr is not self.jaxpr:
            return False
        own, theirs = self.consts, other.consts
        return len(own) == len(theirs) and all(map(operator.is_, own, theirs))

    def __hash__(self) -> int:
        return id(self.jaxpr)

    def map_jaxpr(self, f: Callable[[Jaxpr], Jaxpr]) -> ClosedJaxpr:
        return ClosedJaxpr(f(self.jaxpr), self.consts)

    def replace(
        self,
        *,
        jaxpr: Jaxpr | None = None,
        consts: Sequence[Any] | None = None,
        **changes: Any,
    ) -> ClosedJaxpr:
        """Return the same jaxpr with other constants, or with some fields of `jaxpr` replaced."""
        inner = self.jaxpr if jaxpr is None else jaxpr
        if changes:
            inner = inner.replace(**changes)
        return ClosedJaxpr(inner, self.consts if consts is None else consts)

    def pretty_print(self, **_: Any) -> str:
        return pretty_print.jaxpr_text(self.jaxpr)

    def __repr__(self) -> str:
        return pretty_print.jaxpr_text(self.jaxpr)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(pretty_print.jaxpr_text(self.jaxpr))


def eval_jaxpr(jaxpr: Jaxpr | ClosedJaxpr, consts: Sequence[Any], *args: Any) -> list:
    """Run the equations of `jaxpr` under the current trace; return its outputs."""
    jaxpr = jaxpr.jaxpr  # of one with constants, which jax takes, too
    env: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    last = _last_uses(jaxpr)
    here = written.here
    before = here.state()
    scope = here.scope
    try:
        for i, eqn in enumerate(jaxpr.eqns):
            ins = [v.val if type(v) is Literal else env[v] for v in eqn.invars]
            if eqn.scope:
                here.scope = joined_scopes(scope, eqn.scope) if scope else eqn.scope
            here.set_origin(eqn)
            out = eqn.primitive.bind(*ins, **eqn.params)
            here.scope = scope
            if eqn.primitive.multiple_results:
                env.update(zip(eqn.outvars, out, strict=True))
            else:
                env[eqn.outvars[0]] = out
            for v in last.get(i, ()):
                del env[v]
    finally:
        here.restore(before)
    return [v.val if type(v) is Literal else env[v] for v in jaxpr.outvars]


def _last_uses(jaxpr: Jaxpr) -> dict[int, list[Var]]:
    """Return for each equation the variables that nothing reads after it, to free their memory."""
    found = jaxpr.memo.get(memo_keys.LAST_USES)
    if found is None:
        found, seen = {}, {v for v in jaxpr.outvars if type(v) is Var}
        for i in range(len(jaxpr.eqns) - 1, -1, -1):
            eqn = jaxpr.eqns[i]
            for v in (*eqn.invars, *eqn.outvars):
                if type(v) is Var and v not in seen:
                    seen.add(v)
                    found.setdefault(i, []).append(v)
        jaxpr.memo[memo_keys.LAST_USES] = found
    return found


class FunctionParam:
    """A parameter that stands for a function; its jaxpr is None until the function is staged."""

    __slots__ = ()
    jaxpr: ClosedJaxpr | None


def subjaxprs(params: dict) -> list[Jaxpr]:
    """Return the jaxprs among the parameters of an equation, and those of functions that were staged."""
    found: list[Jaxpr] = []

    def look(value: Any) -> None:
        if isinstance(value, ClosedJaxpr):
            found.append(value.jaxpr)
        elif isinstance(value, Jaxpr):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            for v in value:
                look(v)
        elif isinstance(value, FunctionParam):
            look(value.jaxpr)

    for value in params.values():
        look(value)
    return found
