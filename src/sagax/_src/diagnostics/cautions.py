"""Define the warnings about code that runs but may not do what its author means.

`python -m sagax explain` checks for all of them. Ordinary runs give only those that cost nothing:
DonationWarning and DtypeTruncationWarning, when a function is compiled or an array is created, and
StaleValueWarning, when a compiled function is called. `python -m sagax check` finds those from SX0410 on,
and some of the others, in the source.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "AmbiguousAxesWarning", "AsyncTimingWarning", "BroadcastWarning", "CapturedConstantWarning", "DonationWarning",
    "HostSyncWarning", "ImpureTraceWarning", "IntegerOverflowWarning", "LostUpdateWarning", "NaNGradientWarning",
    "NaNWarning", "OutOfBoundsIndexWarning", "PrecisionLossWarning", "RecompilationWarning", "SideEffectWarning",
    "StaleValueWarning", "UnrolledLoopWarning", "UnusedResultWarning", "ZeroGradientWarning",
]  # fmt: skip


class SideEffectWarning(UserWarning):
    """A traced function does something besides returning, which happens only while it is traced.

    The compiled program runs without Python: a print in it is not repeated. Print with
    sagax.debug.print, which prints when the program runs, and with the values.
    """

    code = "SX0401"


class StaleValueWarning(UserWarning):
    """A compiled function goes on with the old value of something that has changed since.

    What a jitted function reads from outside (a global, an attribute of a static argument) is a
    constant of the program. Pass it as an argument. The option `stale` has other ways to deal with it.
    `function` is the name of the function, `read` what it reads, in line `line_read` of `code_read`.
    """

    code = "SX0402"
    function: str = ""
    arguments: tuple[str, ...] = ()
    read: str = ""
    code_read: Any = None
    line_read: int = 0


class RecompilationWarning(UserWarning):
    """One call is compiled again and again: five times or more.

    Each new shape, dtype, structure and value of a static argument is a new program, and so is each
    new function: apply jit once, outside of loops; keep shapes; leave numbers traced.
    """

    code = "SX0403"


class UnrolledLoopWarning(UserWarning):
    """A Python loop puts a hundred copies of its body, or more, into one program.

    Tracing and compiling take time in proportion. lax.fori_loop and lax.scan compile the body once.
    """

    code = "SX0404"


class NaNGradientWarning(UserWarning):
    """A gradient is nan although all inputs are finite.

    Often `where(x > 0, f(x), y)`: the side that is not used is differentiated too, and 0 * inf is
    nan. Give that side a harmless x: f(where(x > 0, x, 1)).
    """

    code = "SX0405"


class IntegerOverflowWarning(UserWarning):
    """An integer result does not fit its dtype and wrapped around.

    Compute with floating point numbers, or turn 64-bit types on.
    """

    code = "SX0406"


class OutOfBoundsIndexWarning(UserWarning):
    """An index is out of bounds: the nearest element is read, an update is left out.

    Arrays in compiled programs cannot raise. Say what is meant: x.at[i].get(mode="fill"), "clip".
    """

    code = "SX0407"


class DonationWarning(UserWarning):
    """A donated argument whose memory no result can use.

    A result takes over the memory of a donated argument of the same shape and dtype. `function` is
    the name of the function, `arguments` those of the arguments.
    """

    code = "SX0408"
    function: str = ""
    arguments: tuple[str, ...] = ()


class CapturedConstantWarning(UserWarning):
    """A traced function reads an array of more than a mebibyte from outside.

    It stays in memory as long as the compiled program. Pass it as an argument.
    """

    code = "SX0409"


class UnusedResultWarning(UserWarning):
    """The result of a pure function is thrown away, so that the call does nothing.

    Arrays do not change: x.at[i].set(v) returns a new array, as jnp.sort(x) and random.split(key) do.
    """

    code = "SX0410"


class ImpureTraceWarning(UserWarning):
    """A traced function reads a clock, a random generator of the host, or the environment.

    That happens once, while it is traced: all calls of the compiled program use that one value. So it is
    with the next item of an iterator, and with a file. Pass it as an argument; draw random numbers with
    jax.random from a key.
    """

    code = "SX0411"


class AsyncTimingWarning(UserWarning):
    """A clock is read before the work between two readings has finished.

    Calls of compiled functions return at once. Wait for the result: block_until_ready.
    """

    code = "SX0412"


class HostSyncWarning(UserWarning):
    """Each iteration of a loop waits for a number of the device, only to keep it.

    The next step then starts when this one has finished. Keep the arrays, and turn them into numbers
    after the loop. An `if` that only chooses between values waits too: choose with where.
    """

    code = "SX0413"


class BroadcastWarning(UserWarning):
    """A column meets a vector, so that a whole matrix is summed.

    (n, 1) with (n,) is (n, n). Give both operands the same shape. A square matrix that is divided by its
    sums over axis 1 needs keepdims=True.
    """

    code = "SX0414"


class ZeroGradientWarning(UserWarning):
    """A gradient is 0 by construction, since nothing between the argument and the value has a slope.

    Rounding, argmax, comparisons and conversions to integers are constant almost everywhere.
    """

    code = "SX0415"


class PrecisionLossWarning(UserWarning):
    """A result loses its digits although it could be computed well.

    Examples: a counter in float32 beyond 2**24, log(sum(exp(x))), mean(x**2) - mean(x)**2, 1 - exp(x) for
    small x, a difference quotient whose step is rounded away, large 64-bit arguments that are subtracted.
    """

    code = "SX0416"


class AmbiguousAxesWarning(UserWarning):
    """Two orders that differ are taken for one, such as that of a dict and that of its leaves.

    The leaves of a dict are in the order of its sorted keys.
    """

    code = "SX0417"


class NaNWarning(UserWarning):
    """A result is nan although all inputs are finite, and nothing is differentiated.

    The warning names the operation, the element, and its operands.
    """

    code = "SX0418"


class LostUpdateWarning(UserWarning):
    """An index that occurs several times sets its element to what it was with a change: one change stays.

    All updates read the array as it was before. Add them up: x.at[i].add(v).
    """

    code = "SX0419"


for _name in __all__:  # their public home
    globals()[_name].__module__ = "sagax.errors"
