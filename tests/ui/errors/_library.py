"""A small library on top of sagax that checks its arguments."""

from sagax._src.diagnostics import spans
from sagax.errors import ArgumentError, SagaxError, TreeError

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
