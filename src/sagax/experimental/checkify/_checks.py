"""The primitive behind `check`: an operation that has no result, only an outcome that must not be bad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.numpy as snp
import sagax.tree_util as tree_util
from sagax._src.core.effects import Effect, no_effects
from sagax._src.core.primitive import Primitive
from sagax._src.core.trace import evaluation, state
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.errors import ArgumentError, SagaxError
from sagax.experimental.checkify._errors import Error, Site

# Operands: the number of the site that failed (0: none), then what all sites report. Mapped, all of
# them have the same leading dimensions.
check_p = Primitive("check", multiple_results=True, holds_program=True)
CHECKS = frozenset({Effect("check")})


class UncheckedError(SagaxError, ValueError):
    """A program with checks was compiled without a place for what they find."""

    __module__ = "sagax.experimental.checkify"
    code = "SX0131"


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
def _(b: Any, *args: Any, debug: bool, **_: Any) -> list:
    if not debug:
        raise UncheckedError(
            "a `checkify.check` is in a program that is compiled, but nothing takes up what it finds",
            fix="apply checkify to the function, inside of jit: error, out = jit(checkify(f))(...), then error.throw(); "
            "or use checkify.debug_check, which is left out where nothing takes it up",
        )
    return []


def _evaluate(code: Any, *payload: Any, sites: tuple[Site, ...], debug: bool) -> list:
    if not debug:
        code, *found = one_of(code, payload, sites)
        Error(code, found, sites).throw()
    return []


check_p.impl = _evaluate
check_p.reference_rule = _evaluate


def one_of(code: Any, payload: Sequence[Any], sites: tuple[Site, ...]) -> list:
    """Of mapped outcomes the first that is bad, with what it reports."""
    if not snp.ndim(code):
        return [code, *payload]
    numbers = snp.ravel(code)
    first = snp.argmax(numbers != 0)
    avals = [a for site in sites for a in site.avals]
    return [
        numbers[first],
        *(snp.reshape(x, (-1, *a.shape))[first] for x, a in zip(payload, avals)),
    ]


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Have `checkify` report an error if a value is not true; outside of any tracing, raise it.

    Args:
      pred: what has to hold: a boolean scalar.
      msg: what to say if it does not, as for `str.format`.
      *fmt_args: pytrees of arrays to format it with.
      debug: leave the check out of programs that are compiled without `checkify`; without it,
        compiling them is an error.
      **fmt_kwargs: further ones, by name.

    Raises:
      TypeError: `pred` is no boolean scalar, or a value to format is no array.
      JaxRuntimeError: at once, outside of any tracing, if `pred` is false.

    >>> from sagax.experimental import checkify
    >>> def root(x):
    ...     checkify.check(x >= 0, "{x} has no root", x=x)
    ...     return x**0.5
    >>> error, out = checkify.checkify(root)(-4.0)
    >>> error.get()
    '-4.0 has no root (`check` failed)'
    """
    _check("check", pred, msg, fmt_args, fmt_kwargs, debug)


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """`check` where `checkify` is at work, nothing elsewhere.

    >>> from sagax.experimental import checkify
    >>> checkify.debug_check(False, "not looked at here")
    """
    _check("debug_check", pred, msg, fmt_args, fmt_kwargs, True)


def _check(function: str, pred: Any, msg: str, args: tuple, kwargs: dict, debug: bool) -> None:
    if not is_operand(pred) or aval_of(pred).dtype != np.bool_ or aval_of(pred).shape != ():
        raise ArgumentError(
            f"{function} takes a scalar pred as argument",
            function=f"checkify.{function}",
            argument="pred",
            got=pred,
            expected="a boolean scalar",
            fix="reduce it with all() or any()" if getattr(pred, "ndim", 0) else None,
        )
    leaves, tree = tree_util.tree_flatten((args, kwargs))
    for x in leaves:
        if not is_operand(x):
            raise ArgumentError(
                "what a message is formatted with must be arrays or numbers",
                function=f"checkify.{function}",
                got=x,
                fix="put it into the message itself, with an f-string",
            )

    def say(values: list) -> str:
        positional, named = tree_util.tree_unflatten(tree, values)
        return f"{str(msg).format(*positional, **named)} (`check` failed)"

    site = Site([aval_of(x) for x in leaves], say)
    code = snp.where(pred, np.int32(0), np.int32(1))
    check_p.bind(code, *leaves, sites=(site,), debug=debug)


def check_error(error: Error) -> None:
    """Report the error that a checked function returned as one of the function around it.

    Outside of any tracing it raises, as `error.throw()` does.

    Raises:
      JaxRuntimeError: outside of any tracing, if there is an error.
      ArgumentError: `error` is not an `Error`.

    >>> from sagax.experimental import checkify
    >>> import sagax.numpy as snp
    >>> def f(x):
    ...     error, out = checkify.checkify(snp.log, errors=checkify.nan_checks)(x)
    ...     checkify.check_error(error)
    ...     return out
    >>> checkify.checkify(f)(-1.0)[0].get()
    'nan generated by primitive: log.'
    """
    if not isinstance(error, Error):
        raise ArgumentError(
            function="checkify.check_error",
            argument="error",
            got=error,
            expected="the Error that a function wrapped by checkify returned",
        )
    if state.trace is evaluation:
        error.throw()
    elif error._sites:
        check_p.bind(error._code, *error._payload, sites=error._sites, debug=False)
