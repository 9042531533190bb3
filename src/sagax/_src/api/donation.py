"""Assign donated buffers to outputs, and record which call donated each array."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sagax._src import source_stacks, trees, xla
from sagax._src.api.call_operands import unshared
from sagax._src.core.jaxpr import ClosedJaxpr
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.cautions import DonationWarning
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.diagnostics.spans import user_span
from sagax._src.diagnostics.wording import bilingual
from sagax._src.runtime.array import ConcreteArray
from sagax._src.transforms.prune import prune_jaxpr, used_inputs


class DonationError(SagaxError, xla.EngineError):
    """An array is both donated and used as another argument of the same call."""

    code = "SX0205"


DonationError.__module__ = "sagax.errors"  # its public home


class Plan(NamedTuple):
    """Assign the donated arguments of one executable, by position.

    `aliases` maps an argument to the result that reuses its buffer; `unusable` are the others.
    """

    aliases: Mapping[int, int]
    unusable: tuple[int, ...]


def plan(closed: ClosedJaxpr, donated: Sequence[int]) -> Plan:
    """Assign each donated argument to the first free result of its shape and dtype."""
    free: dict[tuple, list[int]] = {}
    for i, aval in reversed(list(enumerate(closed.out_avals))):
        free.setdefault((aval.shape, aval.dtype), []).append(i)
    used = used_inputs(prune_jaxpr(closed.jaxpr)) if donated else ()
    aliases: dict[int, int] = {}
    unusable: list[int] = []
    for i in donated:
        aval = closed.in_avals[i]
        fitting = free.get((aval.shape, aval.dtype)) if used[i] else None
        if fitting:
            aliases[i] = fitting.pop()
        else:
            unusable.append(i)
    return Plan(aliases, tuple(unusable))


# --- unusable donations
# -----------------------------------------------------------------------------


def warn_of_unusable(fun: Any, closed: ClosedJaxpr, out_tree: Any, planned: Plan) -> None:
    """Warn of donated arguments that no result can use, once for each executable."""
    if not planned.unusable:
        return
    names = closed.jaxpr.debug_info.arg_names
    results = _result_paths(out_tree)
    takers = {out: names[i] for i, out in planned.aliases.items()}
    used = used_inputs(prune_jaxpr(closed.jaxpr))
    listed = [f"{_with_layout(closed.in_avals[i])} ({names[i]})" for i in planned.unusable]
    lines = [f"Some donated buffers were not usable: {', '.join(listed)}."]
    for i in planned.unusable:
        why = (
            _reason(closed.in_avals[i], closed.out_avals, results, takers)
            if used[i]
            else f"`{function_name(fun)}` does not use it"
        )
        lines.append(f"  {names[i]}, {_type(closed.in_avals[i])}: {why}")
    lines.append(
        "A result takes over the memory of an argument of its own shape and dtype; donate no other argument."
    )
    warning = DonationWarning(bilingual("\n".join(lines)))
    warning.function = function_name(fun)
    warning.arguments = tuple([names[i] for i in planned.unusable])
    span = user_span(source_stacks.stack())
    warnings.warn_explicit(
        warning,
        DonationWarning,
        span.file if span is not None else "sagax",
        span.line if span is not None else 1,
    )


def _result_paths(out_tree: Any) -> list[str]:
    result = trees.of_objects(out_tree)
    return [trees.argument_path("result", path) for path in trees.key_paths(result)]


def _with_layout(aval: Any) -> str:
    """Format a layout in XLA's notation: the dimensions, and their order from minor to major."""
    order = ",".join(str(i) for i in reversed(range(len(aval.shape))))
    return f"{aval.str_short(short_dtypes=True)}{{{order}}}"


def _type(aval: Any) -> str:
    return aval.str_short(short_dtypes=False)


def _reason(aval: Any, outs: Sequence[Any], paths: Sequence[str], takers: Mapping[int, str]) -> str:
    """Explain why no result can reuse a buffer of this type."""
    if not outs:
        return "the function has no result"
    same = [k for k, out in enumerate(outs) if (out.shape, out.dtype) == (aval.shape, aval.dtype)]
    if same:
        others = [f"{paths[k]} has that of {takers[k]}" for k in same[:3] if k in takers]
        return f"each result of its type has memory already: {', '.join(others)}"
    nearest = min(range(len(outs)), key=lambda k: _distance(aval, outs[k]))
    differs = [
        word
        for word, differ in (
            ("shape", outs[nearest].shape != aval.shape),
            ("dtype", outs[nearest].dtype != aval.dtype),
        )
        if differ
    ]
    return (
        f"no result has its shape and dtype; the nearest, {paths[nearest]}, is {_type(outs[nearest])} "
        f"(another {' and '.join(differs)})"
    )


def _distance(aval: Any, other: Any) -> tuple:
    same_rank = len(aval.shape) == len(other.shape)
    axes = sum(a != b for a, b in zip(aval.shape, other.shape, strict=False))
    return aval.shape != other.shape, aval.dtype != other.dtype, not same_rank, axes


# --- donation at calls
# ------------------------------------------------------------------------------


class Donation:
    """Donate arrays at each call of a compiled function.

    `names` are those of all arguments; `donated` are the positions of the arrays whose buffers
    results reuse; `scalars` are those of them that may be numbers of Python.
    """

    __slots__ = ("donated", "fun", "names", "scalars")

    def __init__(
        self, fun: Any, names: Sequence[str], donated: Iterable[int], avals: Sequence[Any] = ()
    ) -> None:
        self.fun = fun
        self.names = tuple(names)
        self.donated = tuple(donated)
        self.scalars = tuple([i for i in self.donated if avals and avals[i].shape == ()])

    def own_numbers(self, arrays: Sequence[Any], buffers: list | None = None) -> Sequence[Any]:
        """Return `arrays` with copies of donated ones that other calls are given for equal numbers."""
        for i in self.scalars:
            array = unshared(arrays[i])
            if array is not arrays[i]:
                arrays = [*arrays[:i], array, *arrays[i + 1 :]]
                if buffers is not None:
                    buffers[i] = array.buffer()
        return arrays

    def check(self, buffers: Sequence[Any], hidden: Sequence[Any] = ()) -> None:
        """Raise if a donated buffer is also used by another argument of the same call.

        `hidden` are the buffers of captured arrays.
        """
        used = [*buffers, *hidden] if hidden else buffers
        if len(used) == 1 or len(set(map(id, used))) == len(used):
            return
        for i in self.donated:
            for k, other in enumerate(used):
                if k != i and other is buffers[i]:
                    raise self._conflict(i, k)

    def _conflict(self, i: int, k: int) -> DonationError:
        first, second = self.names[i], "an array read from outside the function"
        if k < len(self.names):
            second = self.names[k]
        both = k in self.donated
        word = "donated twice" if both else "donated and also used"
        return DonationError(
            f"one buffer is {word} in the same call: as {first} and as {second}",
            function=function_name(self.fun),
            argument=f"{first} and {second}",
            fix=f"pass a copy as one of them (x.copy()), or do not donate {first}",
            about=((first, second), function_name(self.fun))
            if k < len(self.names)
            else ((first,), function_name(self.fun)),
        )

    def wrap_entry(self, entry: Callable) -> Callable:
        """Wrap `entry`, a call of an executable on several devices, to donate its arrays."""

        def call_and_give(bufs: list, arrays: Sequence[Any]) -> Any:
            if self.scalars:
                arrays = self.own_numbers(arrays)
            self.check([a.buffer() for a in arrays])
            result = entry(bufs, arrays)
            self.mark_donated(arrays)
            return result

        return call_and_give

    def mark_donated(self, arrays: Sequence[ConcreteArray]) -> None:
        """Mark the donated arrays as deleted, and record the call that did it."""
        fun, names, stack = self.fun, self.names, source_stacks.stack()
        for i in self.donated:
            arrays[i].give_away((fun, names[i], stack))
