"""Implement `debug.print` and `debug.log`: print values of running executables."""

from __future__ import annotations

import builtins
import functools
import logging
import string
from typing import Any

import numpy as np

from sagax._src.argument_checks import checks
from sagax._src.callbacks.callbacks import debug_callback
from sagax._src.diagnostics import events
from sagax._src.diagnostics.errors import ArgumentValueError

_formatter = string.Formatter()
_log = logging.getLogger("sagax.debug")


def debug_print(
    fmt: Any = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    _use_logging: bool = False,
    **kwargs: Any,
) -> Any:
    """Print values at run time: `debug.print("x = {}, {y:.3f}", x, y=y)`.

    `fmt` is a format string as for `str.format`; the values may be traced, of any pytree. Prints of
    one executable come in source order, under `vmap` one for each example, under differentiation in
    the forward pass. With `ordered`, prints of different executables keep their order too. Nothing
    is printed while a function is traced. `debug.print(ordered=True)("x = {}", x)` is another way to write it.

    Raises ArgumentValueError where the values do not fit the format string.

    >>> f = sagax.jit(sagax.vmap(lambda x: sagax.debug.print("x = {:.1f}", x)))
    >>> f(snp.arange(3.0))
    x = 0.0
    x = 1.0
    x = 2.0
    """
    if fmt is None and not args:
        return functools.partial(
            debug_print,
            ordered=ordered,
            partitioned=partitioned,
            skip_format_check=skip_format_check,
            _use_logging=_use_logging,
            **kwargs,
        )
    checks.instance(
        "debug.print", "fmt", fmt, str, "a format string, as in debug.print('x = {}', x)"
    )
    template: Any = fmt
    if not skip_format_check:
        _check_format(template, args, kwargs)
    if events.debug_printed.function is not None:
        events.debug_printed.function(template)
    options = np.get_printoptions()  # for the rest of this thread's work

    def show(*args: Any, **kwargs: Any) -> None:
        with np.printoptions(**options):
            text = template.format(*args, **kwargs)
        if _use_logging:
            _log.info(text)
        else:
            builtins.print(text, flush=True)

    debug_callback(show, *args, ordered=ordered, partitioned=partitioned, **kwargs)


def debug_log(
    fmt: Any = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> None:
    """Log values as `debug.print` prints them: to the logger "sagax.debug", level INFO.

    >>> import logging, sys
    >>> log = logging.getLogger("sagax.debug")
    >>> handler = logging.StreamHandler(sys.stdout)
    >>> log.addHandler(handler), log.setLevel(logging.INFO)
    (None, None)
    >>> sagax.jit(lambda x: sagax.debug.log("x = {}", x))(2.5)
    x = 2.5
    >>> log.removeHandler(handler)
    """
    debug_print(
        fmt,
        *args,
        ordered=ordered,
        partitioned=partitioned,
        skip_format_check=skip_format_check,
        _use_logging=True,
        **kwargs,
    )


def _check_format(fmt: str, args: tuple, kwargs: dict) -> None:
    """Check that values and fields of the format string match."""
    used: set[int | str] = set()
    count = 0
    try:
        fields = [name for _, name, _, _ in _formatter.parse(fmt) if name is not None]
    except ValueError as error:
        raise ArgumentValueError(
            f"not a format string: {error}",
            function="debug.print",
            argument="fmt",
            got=fmt,
            fix="write { and } that are to be printed as {{ and }}",
        ) from None
    for field in fields:
        first = field.split(".")[0].split("[")[0]
        if not first:
            first, count = str(count), count + 1
        used.add(int(first) if first.isdecimal() else first)
    missing = [f for f in used if (f >= len(args) if isinstance(f, int) else f not in kwargs)]
    if missing:
        raise ArgumentValueError(
            f"the format string has places for {', '.join(map(repr, sorted(map(str, missing))))}, which were not passed",
            function="debug.print",
            argument="fmt",
            got=fmt,
            fix="pass the values after the format string",
        )
    if len(args) > len([f for f in used if isinstance(f, int)]):
        raise ArgumentValueError(
            "Unused positional arguments to `debug.print`",
            function="debug.print",
            argument="fmt",
            got=fmt,
            fix="put {} into the format string for each value, and do not pass an f-string",
        )
    unused = sorted(set(kwargs) - used)
    if unused:
        raise ArgumentValueError(
            f"Unused keyword arguments to `debug.print`: {unused}",
            function="debug.print",
            argument="fmt",
            got=fmt,
            fix="name them in the format string, as {name}, and do not pass an f-string",
        )
