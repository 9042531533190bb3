"""What can go wrong, as data: kinds of checks, the places that check, the outcome of a program, and the
primitive behind `check`, an operation that has no result, only an outcome that must not be bad."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.numpy as snp
import sagax.tree_util as tree_util
from sagax._src.core.effects import Effect, no_effects
from sagax._src.core.families import OPAQUE
from sagax._src.core.primitive import Primitive
from sagax._src.core.trace import Tracer
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.diagnostics.spans import user_place
from sagax._src.frozen_class import record
from sagax._src.source_stacks import origin


class JaxRuntimeError(SagaxError, ValueError):
    """A check failed."""

    __module__ = "sagax.experimental.checkify"
    code = "SX0130"
    during_tracing = False


class UncheckedError(SagaxError, ValueError):
    """A program with checks was compiled without a place for what they find."""

    __module__ = "sagax.experimental.checkify"
    code = "SX0131"


class ErrorCategory:
    """A kind of check; `checkify` is told which kinds to make."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


USER = ErrorCategory("user_checks")
NAN = ErrorCategory("nan_checks")
DIVISION = ErrorCategory("div_checks")
INDEX = ErrorCategory("index_checks")

user_checks = frozenset({USER})
nan_checks = frozenset({NAN})
div_checks = frozenset({DIVISION})
index_checks = frozenset({INDEX})


class Site:
    """A place in a program that checks something: what to say if it fails, given the values it reports.

    Sites that say the same of the same place are equal, so that branches and rounds of a loop may each
    return an `Error`: it is a part of the structure of what they return.
    """

    __slots__ = ("avals", "kinds", "say", "traceback")

    def __init__(
        self,
        kinds: frozenset[ErrorCategory],
        avals: Sequence[Any],
        say: Callable[[list], str] | OfEach,
    ) -> None:
        self.kinds, self.avals, self.say = kinds, tuple(avals), say
        # where what is checked was written
        self.traceback = origin()

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Site):
            return self is other
        mine, others = (self.kinds, self.avals, self.say), (other.kinds, other.avals, other.say)
        return mine == others and user_place(self.traceback) == user_place(other.traceback)

    def __hash__(self) -> int:
        return hash((self.kinds, self.say))

    def __repr__(self) -> str:
        return repr(self.say)


@record
class Text:
    """Says the same whatever is found."""

    text: str

    def __call__(self, values: list) -> str:
        return self.text


class _Formatter(string.Formatter):
    """Formats arrays of one number as NumPy formats numbers."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(getattr(value, "dtype", None), np.dtype) and value.ndim == 0:
            value = np.asarray(value)[()]
        return format(value, format_spec)


_formatter = _Formatter()


@record
class Formatted:
    """Says what the user wrote, formatted with the leaves of a tree of (args, kwargs)."""

    message: str
    tree: Any

    def __call__(self, values: list) -> str:
        args, kwargs = self.tree.unflatten(values)
        return f"{_formatter.vformat(self.message, args, kwargs)} (`check` failed)"


@record
class OutOfBounds:
    """Says of an index into an array of this shape and of its axis, by its number among `axes`, where it is."""

    shape: tuple
    axes: tuple[int, ...]

    def __call__(self, values: list) -> str:
        index, axis = int(values[0]), self.axes[int(values[1])]
        return (
            f"out-of-bounds indexing for array of shape {self.shape}: index {index} is out of bounds "
            f"for axis {axis} with size {self.shape[axis]}. "
        )


@record
class OfEach:
    """What is said of several devices: what each found at these sites."""

    sites: tuple[Site, ...]


@tree_util.register_pytree_node_class
class Error:
    """Whether a checked program failed, and how: a pytree of arrays, so it goes through transformations.

    >>> from sagax.experimental import checkify
    >>> import sagax.numpy as snp
    >>> def f(x):
    ...     checkify.check(x > 0, "{} is not positive", x)
    ...     return snp.log(x)
    >>> error, out = checkify.checkify(f)(-1.0)
    >>> error.get()
    '-1.0 is not positive (`check` failed)'
    """

    def __init__(self, code: Any, payload: Sequence[Any], sites: tuple[Site, ...]) -> None:
        # The number of the site that failed first, from 1 on; 0: none. With leading dimensions where
        # the checked function was mapped.
        self._code, self._payload, self._sites = code, list(payload), sites

    def get(self) -> str | None:
        """What went wrong first, or None; of a mapped function a line for each example that failed.

        Raises:
          TracerBoolConversionError: inside of a transformation, where it is not known yet.
        """
        if isinstance(self._code, Tracer):
            try:
                bool(self._code)
            except SagaxError as error:
                fix = "return the Error and ask it outside, or hand it on with checkify.check_error(error)"
                raise error.attach(fix=fix) from None
        found = self._found()
        if not found:
            return None
        if found[0][0] == ():
            return found[0][1]
        return "\n".join(f"at mapped index {', '.join(map(str, at))}: {said}" for at, said in found)

    def _failed(self) -> list[tuple[tuple, int]]:
        """Which examples failed (of a function that is not mapped: the one at ()), and at which site."""
        code = np.asarray(self._code)
        return [(at, int(code[at]) - 1) for at in map(tuple, np.argwhere(code))]

    def _found(self) -> list[tuple[tuple, str]]:
        """Which examples failed, and how."""
        found = []
        for at, number in self._failed():
            site = self._sites[number]
            start = sum(len(s.avals) for s in self._sites[:number])
            values = [snp.asarray(x)[at] for x in self._payload[start : start + len(site.avals)]]
            if isinstance(site.say, OfEach):
                each = Error(values[0], values[1:], site.say.sites)
                found += [((*at, *where), said) for where, said in each._found()]
            else:
                found.append((at, site.say(values)))
        return found

    def get_exception(self) -> JaxRuntimeError | None:
        """The exception that `throw` raises, or None."""
        message = self.get()
        if message is None:
            return None
        return JaxRuntimeError(message, traceback=self._sites[self._failed()[0][1]].traceback)

    def throw(self) -> None:
        """Raises JaxRuntimeError if something went wrong. Inside of a checked function: `check_error` of this."""
        if self._sites:
            check_p.bind(self._code, *self._payload, sites=self._sites, debug=False)

    def tree_flatten(self) -> tuple:
        """The arrays, and what there is to say about them."""
        return (self._code, *self._payload), self._sites

    @classmethod
    def tree_unflatten(cls, sites: tuple[Site, ...], children: Sequence[Any]) -> Error:
        """The opposite of `tree_flatten`."""
        return cls(children[0], children[1:], sites)

    def __repr__(self) -> str:
        # A tracer, or what a pytree may hold instead of arrays: nothing that could be asked.
        if isinstance(self._code, Tracer) or not hasattr(self._code, "__array__"):
            return f"Error({self._code!r}, {len(self._sites)} checks)"
        return f"Error({self.get()})"


init_error = Error(np.int32(0), (), ())

# Operands: the number of the site that failed (0: none), then what all sites report. Mapped, all of
# them have the same leading dimensions.
check_p = Primitive(
    "check", family=OPAQUE, check_rule=None, multiple_results=True, holds_program=True
)
CHECKS = frozenset({Effect("check")})


@check_p.abstract
def _(*avals: Any, **_: Any) -> list:
    return []


@check_p.effect
def _(*, debug: bool, **_: Any) -> frozenset:
    return no_effects if debug else CHECKS


@check_p.show
def _(*, debug: bool, **_: Any) -> dict:
    return {"debug": debug}


@check_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    return check_p.bind(*primals, **params), []


@check_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    rows = [
        snp.broadcast_to(x, (axis.size, *snp.shape(x))) if d is None else snp.moveaxis(x, d, 0)
        for x, d in zip(args, in_dims, strict=True)
    ]
    return check_p.bind(*rows, **params), []


@check_p.lower
def _(b: Any, *args: Any, sites: tuple[Site, ...], debug: bool) -> list:
    if not debug:
        raise UncheckedError(
            "a `checkify.check` is in a program that is compiled, but nothing takes up what it finds",
            traceback=sites[0].traceback,
            fix="apply checkify to the function, inside of jit: error, out = jit(checkify(f))(...), then error.throw(); "
            "or use checkify.debug_check, which is left out where nothing takes it up",
        )
    return []


def _evaluate(code: Any, *payload: Any, sites: tuple[Site, ...], debug: bool) -> list:
    failed = None if debug else Error(code, payload, sites).get_exception()
    if failed is not None:
        raise failed
    return []


check_p.impl = _evaluate
check_p.reference_rule = _evaluate


def one_of(code: Any, payload: Sequence[Any], sites: tuple[Site, ...]) -> list:
    """Of mapped outcomes one of the check that comes first in the program: the last one, as in jax."""
    if not snp.ndim(code):
        return [code, *payload]
    numbers = snp.ravel(code)
    first = snp.min(numbers, where=numbers != 0, initial=len(sites) + 1)
    at = numbers.size - 1 - snp.argmax(snp.flip(numbers == first))
    avals = [a for site in sites for a in site.avals]
    return [
        numbers[at],
        *(snp.reshape(x, (-1, *a.shape))[at] for x, a in zip(payload, avals, strict=True)),
    ]
