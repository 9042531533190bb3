"""Define the categories, sites and errors of runtime checks, and the primitive `check`.

The primitive has no results, only an effect: the failure that `checkify` collects.
"""

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
from sagax._src.diagnostics.spans import user_position
from sagax._src.frozen_class import record
from sagax._src.source_stacks import origin


class JaxRuntimeError(SagaxError, ValueError):
    """A check failed."""

    __module__ = "sagax.experimental.checkify"
    code = "SX0130"
    during_tracing = False


class UncheckedError(SagaxError, ValueError):
    """A function with checks was compiled without `checkify` to collect their failures."""

    __module__ = "sagax.experimental.checkify"
    code = "SX0131"


class ErrorCategory:
    """A category of checks, to select by the argument `errors` of `checkify`."""

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
    """A check in a jaxpr: its message, formatted from the values that it reports.

    Sites of one source position with the same message are equal. The sites are static data of an
    `Error`, so branches, and iterations of a loop, may each return an `Error`.
    """

    __slots__ = ("avals", "kinds", "message", "traceback")

    def __init__(
        self,
        kinds: frozenset[ErrorCategory],
        avals: Sequence[Any],
        message: Callable[[list], str] | PerExample,
    ) -> None:
        self.kinds, self.avals, self.message = kinds, tuple(avals), message
        self.traceback = origin()  # the source position of the checked operation

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Site):
            return self is other
        own, others = (
            (self.kinds, self.avals, self.message),
            (other.kinds, other.avals, other.message),
        )
        return own == others and user_position(self.traceback) == user_position(other.traceback)

    def __hash__(self) -> int:
        return hash((self.kinds, self.message))

    def __repr__(self) -> str:
        return repr(self.message)


@record
class Text:
    """A message without values."""

    text: str

    def __call__(self, values: list) -> str:
        return self.text


class _Formatter(string.Formatter):
    """A formatter of scalar arrays as NumPy scalars."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(getattr(value, "dtype", None), np.dtype) and value.ndim == 0:
            value = np.asarray(value)[()]
        return format(value, format_spec)


_formatter = _Formatter()


@record
class Formatted:
    """The user's message, formatted with the leaves of a tree of (args, kwargs)."""

    message: str
    tree: Any

    def __call__(self, values: list) -> str:
        args, kwargs = self.tree.unflatten(values)
        return f"{_formatter.vformat(self.message, args, kwargs)} (`check` failed)"


@record
class OutOfBounds:
    """The message of an index out of bounds: the values are the index and a position in `axes`."""

    shape: tuple
    axes: tuple[int, ...]

    def __call__(self, values: list) -> str:
        index, axis = int(values[0]), self.axes[int(values[1])]
        return (
            f"out-of-bounds indexing for array of shape {self.shape}: index {index} is out of bounds "
            f"for axis {axis} with size {self.shape[axis]}. "
        )


@record
class PerExample:
    """The messages of several devices or examples: those of each at these sites."""

    sites: tuple[Site, ...]


@tree_util.register_pytree_node_class
class Error:
    """The failure of a checked function, or none: a pytree of arrays, which transformations accept.

    >>> from sagax.experimental import checkify
    >>> def f(x):
    ...     checkify.check(x > 0, "{} is not positive", x)
    ...     return snp.log(x)
    >>> error, out = checkify.checkify(f)(-1.0)
    >>> error.get()
    '-1.0 is not positive (`check` failed)'
    """

    def __init__(self, code: Any, payload: Sequence[Any], sites: tuple[Site, ...]) -> None:
        # The number of the site that failed first, from 1 on; 0: none. It has leading dimensions if
        # the checked function was mapped.
        self._code, self._payload, self._sites = code, list(payload), sites

    def get(self) -> str | None:
        """Return the first failure, or None; for a mapped function, a line for each failed example.

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
        return "\n".join(f"at mapped index {', '.join(map(str, at))}: {text}" for at, text in found)

    def _failed(self) -> list[tuple[tuple, int]]:
        """Return the failed examples (`()` without mapping), and the site of each."""
        code = np.asarray(self._code)
        return [(at, int(code[at]) - 1) for at in map(tuple, np.argwhere(code))]

    def _found(self) -> list[tuple[tuple, str]]:
        """Return the failed examples with their errors."""
        found = []
        for at, number in self._failed():
            site = self._sites[number]
            start = sum(len(s.avals) for s in self._sites[:number])
            values = [snp.asarray(x)[at] for x in self._payload[start : start + len(site.avals)]]
            if isinstance(site.message, PerExample):
                each = Error(values[0], values[1:], site.message.sites)
                found += [((*at, *inner), text) for inner, text in each._found()]
            else:
                found.append((at, site.message(values)))
        return found

    def get_exception(self) -> JaxRuntimeError | None:
        """Return the exception that `throw` raises, or None; if mapped, of one failed example."""
        if self.get() is None:
            return None
        code, *payload = select_failure(self._code, self._payload, self._sites)
        selected = Error(code, payload, self._sites)
        message = selected._found()[-1][1]
        return JaxRuntimeError(message, traceback=self._sites[selected._failed()[0][1]].traceback)

    def throw(self) -> None:
        """Raise JaxRuntimeError if a check failed. Inside a checked function, do as `check_error` does."""
        if self._sites:
            check_p.bind(self._code, *self._payload, sites=self._sites, debug=False)

    def tree_flatten(self) -> tuple:
        """Return the arrays, and the static data."""
        return (self._code, *self._payload), self._sites

    @classmethod
    def tree_unflatten(cls, sites: tuple[Site, ...], children: Sequence[Any]) -> Error:
        """Rebuild an error, the inverse of `tree_flatten`."""
        return cls(children[0], children[1:], sites)

    def __repr__(self) -> str:
        # Tracers, and objects that a pytree may hold instead of arrays, have no value to show.
        if isinstance(self._code, Tracer) or not hasattr(self._code, "__array__"):
            return f"Error({self._code!r}, {len(self._sites)} checks)"
        return f"Error({self.get()})"


init_error = Error(np.int32(0), (), ())

# Operands: the number of the site that failed (0: none), then the values of all sites. If mapped, all
# of them have the same leading dimensions.
check_p = Primitive(
    "check", family=OPAQUE, check_rule=None, multiple_results=True, is_higher_order=True
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


def select_failure(code: Any, payload: Sequence[Any], sites: tuple[Site, ...]) -> list:
    """Select from mapped outcomes that of the first failing check: the last example, as in jax."""
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
