"""A small library on top of sagax that checks its arguments."""

import sagax
from sagax._src.diagnostics import spans
from sagax.errors import ArgumentError, JAXIndexError, JAXTypeError, SagaxError, TreeError

spans.hide(__file__)  # its users see the line that calls it


def schedule(rate, decay):
    if not isinstance(decay, float):
        raise ArgumentError(
            function="schedule",
            argument="decay",
            got=decay,
            expected="a float between 0 and 1",
            fix="decay=0.9 keeps 90 % of the rate in each step",
        )
    return rate * decay


def check_carry(before, after):
    for name in before:
        if type(before[name]) is not type(after[name]):
            raise TreeError(
                "a value changed its type from one step to the next",
                argument="carry",
                path=f"[{name!r}]",
                expected=type(before[name]),
                got=type(after[name]),
            )


def loop(before, after):
    try:
        check_carry(before, after)
    except SagaxError as error:
        error.attach(function="loop", argument="state")
        raise


class UnitError(SagaxError, ValueError):
    """An error of this library's own; it has no code, and so no page."""


def read_units(text, known):
    number, unit = text.split()
    if unit not in known:
        raise UnitError(
            f"unit {unit!r} is not known", function="read_units", got=repr(text), expected=" or ".join(known)
        )
    return float(number)


def host_only(x):
    if isinstance(x, sagax.core.Tracer):
        error = JAXTypeError("host_only: a traced value has no number yet")
        raise error.attach(got=x, fix="call it outside of the traced function")
    return float(x)


def window(data, start, size):
    if start + size > len(data):
        error = JAXIndexError("window: the window ends after the data")
        raise error.attach(got=start + size, expected=f"start + size of at most {len(data)}")
    return data[start : start + size]
