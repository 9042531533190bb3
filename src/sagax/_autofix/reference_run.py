"""Run a script without transformations, to learn its expected result.

jit calls the function, vmap is a loop over examples, the control flow of lax is that of Python, and
a value that is being differentiated may be asked for its number. A program that fails because a
value is traced then has a result, and a repair can be compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

import sagax.lax
import sagax.numpy as snp
from sagax._src import config
from sagax._src.api.autodiff_common import has_derivative
from sagax._src.api.vmap import vmap as real_vmap
from sagax._src.core.trace import Tracer
from sagax._src.diagnostics import events
from sagax._src.diagnostics.errors import ConcretizationTypeError
from sagax._src.trees import leaves
from sagax.tree_util import tree_map

__all__ = ["install"]


def install(package: ModuleType) -> None:
    """Make `package` (sagax) run programs plainly, for the rest of this process."""
    config.config.update("jax_disable_jit", True)
    package.__dict__["vmap"] = vmap
    for function in (scan, while_loop, fori_loop, cond, switch, loop_map):
        name = "map" if function is loop_map else function.__name__
        setattr(sagax.lax, name, function)
    events.number_taken.function = _number_taken
    events.tracer_to_numpy.function = _known_array


# The numbers that were taken out of values that are being differentiated: what is computed from
# them has no derivative, so that the gradients of the program may be wrong.
_taken: list[str] = []


def derivatives_lost() -> bool:
    """Whether gradients of this run may lack what was computed from numbers."""
    return bool(_taken)


def _number_taken(tracer: Tracer, error: type) -> None:
    if error is ConcretizationTypeError and has_derivative(tracer):
        _taken.append(type(tracer).__name__)


def _known_array(tracer: Tracer, *args: Any) -> np.ndarray:
    value = tracer.concrete()
    if value is None:
        raise TypeError("a value without a number")
    if has_derivative(tracer):
        _taken.append(type(tracer).__name__)
    return np.asarray(value, *args)


def _none(x: Any) -> bool:
    return x is None


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: Any = None,
    **options: Any,
) -> Callable[..., Any]:
    """A loop over examples; named axes need the real one."""
    if axis_name is not None:
        return real_vmap(fun, in_axes, out_axes, axis_name, axis_size, **options)

    def mapped(*args: Any, **kwargs: Any) -> Any:
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        sizes: set[int] = set()

        def note(axis: Any, part: Any) -> None:
            if axis is not None:
                sizes.update(np.shape(x)[axis] for x in leaves(part))

        for axis, arg in zip(axes, args, strict=True):
            tree_map(note, axis, arg, is_leaf=_none)
        for value in kwargs.values():
            tree_map(note, 0, value, is_leaf=_none)
        if len(sizes) != 1:  # which the real one explains
            return real_vmap(fun, in_axes, out_axes, axis_name, axis_size)(*args, **kwargs)

        def example(i: int, axis: Any, part: Any) -> Any:
            if axis is None:
                return part
            return tree_map(lambda x: snp.take(snp.asarray(x), i, axis=axis), part)

        outs: list[Any] = []
        for i in range(sizes.pop()):
            one = [
                tree_map(lambda axis, part, i=i: example(i, axis, part), a, arg, is_leaf=_none)
                for a, arg in zip(axes, args, strict=True)
            ]
            named = {k: example(i, 0, v) for k, v in kwargs.items()}
            outs.append(fun(*one, **named))
        if not isinstance(out_axes, int):
            return tree_map(lambda *xs: snp.stack(xs), *outs)
        return tree_map(lambda *xs: snp.stack(xs, axis=out_axes), *outs)

    return mapped


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    **_: Any,
) -> Any:
    n = length if xs is None or not leaves(xs) else len(leaves(xs)[0])
    carry, outs = init, []
    order = range(n or 0)
    for i in reversed(order) if reverse else order:
        carry, y = f(carry, tree_map(lambda x, i=i: x[i], xs))
        outs.append(y)
    if reverse:
        outs.reverse()
    return carry, tree_map(lambda *ys: snp.stack([snp.asarray(y) for y in ys]), *outs)


def while_loop(
    cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val: Any, **_: Any
) -> Any:
    while bool(cond_fun(init_val)):
        init_val = body_fun(init_val)
    return init_val


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any, **_: Any) -> Any:
    for i in range(int(lower), int(upper)):
        init_val = body_fun(i, init_val)
    return init_val


def cond(pred: Any, true_fun: Any, false_fun: Any, *operands: Any, **_: Any) -> Any:
    return (true_fun if bool(pred) else false_fun)(*operands)


def switch(index: Any, branches: Sequence[Any], *operands: Any, **_: Any) -> Any:
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


def loop_map(f: Callable[..., Any], xs: Any, **_: Any) -> Any:
    return scan(lambda carry, x: (carry, f(x)), None, xs)[1]
