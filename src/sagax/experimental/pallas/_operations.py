"""Define what kernels call: conditions, loops, scratch memory, masked reads and writes, small arithmetic."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.experimental.checkify as checkify
import sagax.experimental.pallas._frames as _frames
import sagax.numpy as snp
from sagax._src import trees
from sagax._src.api.debug_print import debug_print as print_later
from sagax._src.api.tracing_utils import make_jaxpr
from sagax._src.argument_checks.functions import check_function
from sagax._src.core import dtypes
from sagax._src.core.avals import ShapedArray
from sagax._src.core.jaxpr import subjaxprs
from sagax._src.core.references import Ref
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.frozen_class import record
from sagax._src.higher_order.cond import cond
from sagax._src.higher_order.scan import scan_p
from sagax._src.higher_order.trace_bodies import is_concrete
from sagax._src.higher_order.while_loop import fori_loop
from sagax._src.primitives.references import free_ref, freeze, new_ref
from sagax.experimental.pallas._accesses import operation
from sagax.experimental.pallas._memory import (
    MemoryRef,
    MemorySpace,
    first_contents,
    ref_aval,
    uninitialized,
)
from sagax.numpy._indexing.windows import Slice, ds

dslice = ds

# Small arithmetic ----------------------------------------------------------------------------------


def cdiv(a: Any, b: Any) -> Any:
    """Divide, and round up: how many blocks of `b` elements hold `a`.

    >>> cdiv(10, 4)
    3
    """
    if isinstance(a, int) and isinstance(b, int):
        return -(-a // b)
    return (a + (b - 1)) // b


def align_to(a: Any, alignment: Any) -> Any:
    """Return the least multiple of `alignment` that is at least `a`.

    >>> align_to(10, 8)
    16
    """
    return cdiv(a, alignment) * alignment


def next_power_of_2(x: int) -> int:
    """Return the least power of 2 that is at least `x`.

    >>> next_power_of_2(5)
    8
    """
    if x < 0:
        raise ArgumentValueError(
            function="next_power_of_2", argument="x", got=x, expected="an int of at least 0"
        )
    return 1 if x <= 1 else 1 << (x - 1).bit_length()


def strides_from_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Return how many elements apart neighbors along each dimension lie, in row-major order.

    >>> strides_from_shape((2, 3, 4))
    (12, 4, 1)
    """
    return tuple([math.prod(shape[i + 1 :]) for i in range(len(shape))])


def multiple_of(x: Any, values: Any) -> Any:
    """Promise that `x` is a multiple of `values`; on CPUs the promise is not used.

    >>> multiple_of(16, 8)
    16
    """
    values = [values] if isinstance(values, int) else list(values)
    for v in values:
        if not isinstance(v, int):
            raise ArgumentError.about("multiple_of", "values", repr(v), "ints")
        if isinstance(x, int) and x % v:
            raise ArgumentValueError(
                f"{x} is no multiple of {v}", function="multiple_of", argument="x", got=x
            )
    return x


def broadcast_to(a: Any, shape: Sequence[int]) -> Any:
    """Repeat an array to a shape.

    >>> broadcast_to(1.0, (2,)).tolist()
    [1.0, 1.0]
    """
    return snp.broadcast_to(a, tuple(shape))


def reciprocal(x: Any, *, approx: bool = False, full_range: bool = True) -> Any:
    """Return 1 / x; on CPUs `approx` and `full_range` make no difference.

    >>> float(reciprocal(4.0))
    0.25
    """
    return 1 / x


# Control flow --------------------------------------------------------------------------------------


def when(condition: Any) -> Callable[[Callable[[], None]], None]:
    """Run the decorated function if `condition` holds.

    >>> @when(True)
    ... def _():
    ...     print("it holds")
    it holds
    """

    def decorate(fun: Callable[[], None]) -> None:
        check_function(fun, "pl.when decorates a function", "when", "fun")
        if is_concrete(condition):
            if np.shape(condition) != ():
                raise ArgumentValueError.about("when", "condition", condition, "a scalar")
            if condition:
                fun()
        else:
            cond(condition, fun, _nothing)

    return decorate


def _nothing() -> None:
    return None


def loop(
    lower: Any, upper: Any, *, init_carry: Any = None, step: Any = 1, unroll: Any = None
) -> Callable[[Callable], Any]:
    """Run the decorated function for each index from `lower` up to `upper`, and return the last carry.

    Args:
      init_carry: the first carry; with it the function takes and returns a carry after the index.

    >>> @loop(0, 3)
    ... def _(i):
    ...     pass
    """

    def decorate(body: Callable) -> Any:
        check_function(body, "pl.loop decorates a function", "loop", "body")
        count = cdiv(upper - lower, step) if not (isinstance(step, int) and step == 1) else None

        def run(i: Any, carry: Any) -> Any:
            index = i if count is None else lower + i * step
            if init_carry is None:
                body(index)
                return carry
            return body(index, carry)

        first = () if init_carry is None else init_carry
        if count is None:
            last = fori_loop(lower, upper, run, first, unroll=unroll)
        else:
            last = fori_loop(0, count, run, first, unroll=unroll)
        return None if init_carry is None else last

    return decorate


# Scratch memory ------------------------------------------------------------------------------------


def run_scoped(
    f: Callable[..., Any], *types: Any, collective_axes: Any = (), **kw_types: Any
) -> Any:
    """Call `f` with references to new memory of the given types; return its result.

    Args:
      types: such as `pl.ANY((8,), sagax.numpy.float32)`, or pytrees of these; keywords are passed by name.

    >>> def f(ref):
    ...     ref[...] = snp.ones(3)
    ...     return ref[...].sum()
    >>> float(run_scoped(f, MemorySpace.ANY((3,), snp.float32)))
    3.0
    """
    check_function(f, "run_scoped: f should be a callable.", "run_scoped", "f")
    made: list[Ref] = []

    def allocate(x: Any) -> Ref:
        aval = ref_aval(x, "run_scoped", "types")
        ref = new_ref(first_contents(aval), memory_space=aval.memory_space)
        made.append(ref)
        return ref

    def of(tree: Any) -> Any:
        return trees.map(allocate, tree, is_leaf=lambda x: hasattr(x, "get_ref_aval"))

    result = f(*[of(t) for t in types], **{name: of(t) for name, t in kw_types.items()})
    if not _frames.inside_kernel():
        for ref in made:
            free_ref(ref)
    return result


def with_scoped(*types: Any, collective_axes: Any = (), **kw_types: Any) -> Callable:
    """Decorate a function: calls pass references to new memory after their own arguments.

    >>> @with_scoped(MemorySpace.ANY((2,), snp.float32))
    ... def total(x, ref):
    ...     ref[...] = x
    ...     return ref[...].sum()
    >>> float(total(snp.ones(2)))
    2.0
    """

    def decorate(f: Callable) -> Callable:
        def call(*args: Any, **kwargs: Any) -> Any:
            def inner(*refs: Any, **named: Any) -> Any:
                return f(*args, *refs, **kwargs, **named)

            return run_scoped(inner, *types, collective_axes=collective_axes, **kw_types)

        return call

    return decorate


def run_state(f: Callable[[Any], None]) -> Callable[[Any], Any]:
    """Return a function of arrays that calls `f` with references to them, and returns their last contents.

    >>> def f(ref):
    ...     ref[0] = 5.0
    >>> run_state(f)(snp.zeros(2)).tolist()
    [5.0, 0.0]
    """
    check_function(f, "run_state: f should be a callable.", "run_state", "f")

    def run(x: Any) -> Any:
        refs = trees.map(new_ref, x)
        f(refs)
        return trees.map(freeze, refs, is_leaf=lambda r: type(r) is Ref)

    return run


def empty(shape: Sequence[int], dtype: Any, *, out_sharding: Any = None) -> Any:
    """Return an array that was never written: it holds NaN, or the least integer.

    >>> empty((2,), snp.int32).shape
    (2,)
    """
    return uninitialized(ShapedArray(tuple(shape), dtypes.as_dtype(dtype)))


def empty_like(x: Any) -> Any:
    """Return a pytree of arrays like those of `x` that were never written.

    >>> empty_like(snp.ones(3)).shape
    (3,)
    """
    return trees.map(lambda a: empty(a.shape, a.dtype), x)


def empty_ref_like(x: Any) -> Any:
    """Return references to memory with the shapes and dtypes of `x`, never written."""
    return trees.map(lambda a: new_ref(empty(a.shape, a.dtype), memory_space=MemorySpace.ANY), x)


def get_global(what: Any) -> Any:
    """Return memory that all programs of a kernel share.

    Raises an error: threads of one kernel run in order on CPUs, and share scratch memory.
    """
    aval = ref_aval(what, "get_global", "what")
    raise ArgumentValueError(
        "memory that outlives a kernel needs a TPU or a GPU",
        function="get_global",
        argument="what",
        got=repr(aval),
        fix="pass it as an operand, and return it with input_output_aliases",
    )


# Output --------------------------------------------------------------------------------------------


def debug_print(fmt: str, *args: Any) -> None:
    """Print values while the kernel runs; `fmt` is a format string, or a text before one value.

    >>> debug_print("x = {}", 3)
    x = 3
    """
    if args and "{" not in fmt:
        fmt = fmt + " {}" * len(args)

    def show(*values: Any) -> tuple:
        print_later(fmt, *values, ordered=False)
        return ()

    operation("print", fmt, show, *args)


def debug_check(condition: Any, message: str) -> None:
    """Check a condition in the checking interpreter and under `checkify`; elsewhere it is left out.

    >>> debug_check(True, "never shown")
    """
    checkify.debug_check(
        snp.asarray(condition, bool), message.replace("{", "{{").replace("}", "}}")
    )


def delay(nanos: Any) -> None:
    """Wait, on accelerators; on CPUs nothing happens."""


@record
class CostEstimate:
    """The work of a kernel, which accelerators schedule by.

    >>> CostEstimate(flops=10, transcendentals=0, bytes_accessed=8).flops
    10
    """

    flops: int
    transcendentals: int
    bytes_accessed: int
    remote_bytes_transferred: int = 0


def estimate_cost(fun: Callable, *args: Any, **kwargs: Any) -> CostEstimate:
    """Count the operations of a function, and the bytes of its arguments and results.

    >>> estimate_cost(lambda x, y: x @ y, snp.ones((4, 4)), snp.ones((4, 4))).flops
    128
    """
    closed = make_jaxpr(functools.partial(fun, **kwargs))(*args)
    flops, formulas = _operations_of(closed.jaxpr)
    moved = sum(a.size * a.dtype.itemsize for a in (*closed.in_avals, *closed.out_avals))
    return CostEstimate(flops, formulas, moved)


def _operations_of(jaxpr: Any) -> tuple[int, int]:
    """Return the number of simple operations, and of long formulas such as a sine's."""
    flops = formulas = 0
    for eqn in jaxpr.eqns:
        p, operands = eqn.primitive, [v.aval for v in eqn.invars]
        times = eqn.params["length"] if p is scan_p else 1
        for inner in subjaxprs(eqn.params):
            simple, long = _operations_of(inner)
            flops, formulas = flops + times * simple, formulas + times * long
        if p.is_higher_order:
            continue
        results = [v.aval for v in eqn.outvars]
        cost: Any = p.cost
        if callable(cost):
            flops += int(cost(operands, results, eqn.params))  # type: ignore[arg-type]
        elif p.elementwise and p.latency >= _LONG:
            formulas += results[0].size
        elif p.elementwise:
            flops += cost * results[0].size
    return flops, formulas


# The latency of an elementwise operation from which it counts as a long formula.
_LONG = 10

__all__ = ["MemoryRef", "Slice"]
