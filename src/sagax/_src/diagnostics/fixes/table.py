"""Which repairs to ask for which error."""

from __future__ import annotations

from collections.abc import Iterator

import sagax._src.diagnostics.fixes.arrays as arrays
import sagax._src.diagnostics.fixes.axes as axes
import sagax._src.diagnostics.fixes.callbacks as callbacks
import sagax._src.diagnostics.fixes.calls as calls
import sagax._src.diagnostics.fixes.classes as classes
import sagax._src.diagnostics.fixes.devices as devices
import sagax._src.diagnostics.fixes.dims as dims
import sagax._src.diagnostics.fixes.effects as effects
import sagax._src.diagnostics.fixes.flow as flow
import sagax._src.diagnostics.fixes.kept as kept
import sagax._src.diagnostics.fixes.keys as keys
import sagax._src.diagnostics.fixes.leaks as leaks
import sagax._src.diagnostics.fixes.logic as logic
import sagax._src.diagnostics.fixes.loops as loops
import sagax._src.diagnostics.fixes.options as options
import sagax._src.diagnostics.fixes.outside as outside
import sagax._src.diagnostics.fixes.plainer as plainer
import sagax._src.diagnostics.fixes.recompiling as recompiling
import sagax._src.diagnostics.fixes.statics as statics
import sagax._src.diagnostics.fixes.types as types
from sagax._src.diagnostics.fixes.case import Candidate, Case, Fixer

__all__ = ["propose"]

_VALUE = (
    options.static, effects.debug_print, logic.builtins, arrays.numpy_calls, arrays.shape_arithmetic,
    arrays.given_size, arrays.dynamic_slices, arrays.without_conversion, axes.measured_size,
)  # fmt: skip

# by class; the classes that an error derives from are looked up too, the most special first
_BY_CLASS: dict[str, tuple[Fixer, ...]] = {
    "TracerBoolConversionError": (
        options.static, flow.branches, plainer.matches, plainer.returns_in_loops, plainer.ended_rounds, plainer.ended_loops, plainer.left_loops, plainer.throughout, flow.while_loops, flow.assertion, flow.filtered, logic.logic, logic.builtins,
        arrays.numpy_calls,
    ),
    "ConcretizationTypeError": _VALUE,
    "TracerIntegerConversionError": (
        options.static, loops.loops, arrays.indexed, arrays.stacked, *_VALUE[1:],
    ),
    "TracerArrayConversionError": (
        options.static, arrays.numpy_calls, arrays.stacked, effects.debug_print,
        arrays.shape_arithmetic, arrays.without_conversion, logic.builtins,
    ),
    "NonConcreteBooleanIndexError": (arrays.masked_update, arrays.masked),
    "IndexError": (arrays.dynamic_slices, options.static),
    "JAXTypeError": (leaks.returned, kept.at_once, kept.by_callback),
    "UnexpectedTracerError": (
        leaks.returned, effects.without_cache, kept.at_once, kept.by_callback,
    ),
    "InconclusiveDimensionOperation": (
        options.dimension_constraint, dims.rounds, dims.converted,
    ),
    "KeyReuseError": (keys.split_key,),
    "DeletedArrayError": (options.copied,),
    "RuntimeError": (options.copied,),
    "NotImplementedError": (callbacks.mapped_callback,),
    "TypeError": (
        flow.looked_up,
        options.static_self, classes.registered, options.static_object, options.has_aux, types.scalar_output,
        types.float_argument, types.carry_type, types.branch_type, types.growing, arrays.at_set,
        types.matmul, effects.debug_print, callbacks.mapped_callback, callbacks.declared_result, arrays.indexed,
        calls.pair_of_scan, calls.as_functions, calls.exchanged, calls.kept_dimensions,
        calls.table_of_dict, types.carry_container,
    ),
    "ValueError": (
        statics.hashable, options.mapped_axes, axes.axis_beyond, calls.axes_for_all, calls.known_name,
        devices.on_one_device, types.matmul, dims.rounds,
    ),
    "SideEffectWarning": (effects.debug_print, effects.logged_later),
    "StaleValueWarning": (outside.passed_argument,),
    "CapturedConstantWarning": (outside.passed_argument,),
    "RecompilationWarning": (
        effects.hoisted_jit, recompiling.jitted_once, options.traced, arrays.prefix_mask,
    ),
    "UnrolledLoopWarning": (loops.loops,),
    "NaNGradientWarning": (types.double_where,),
    "FloatingPointError": (types.double_where,),
    "DtypeTruncationWarning": (types.enable_x64,),
    "IntegerOverflowWarning": (types.wider,),
    "OutOfBoundsIndexWarning": (arrays.index_mode,),
    "DonationWarning": (options.no_donation,),
}  # fmt: skip


def propose(case: Case) -> list[Candidate]:
    """All repairs that might do, the likeliest and smallest first; none of them has been tried."""
    found: dict[tuple[object, ...], Candidate] = {}
    asked: set[Fixer] = set()
    for name in case.facts.classes:
        for fixer in _BY_CLASS.get(name, ()):
            if fixer in asked:
                continue
            asked.add(fixer)
            for candidate in _from(fixer, case):
                key = tuple(
                    sorted(
                        (e.span.file, e.span.line, e.span.column or 0, e.text)
                        for e in candidate.edits
                    )
                )
                found.setdefault(key, candidate)
    return sorted(found.values(), key=lambda c: (c.rank, c.size))


def _from(fixer: Fixer, case: Case) -> Iterator[Candidate]:
    try:
        yield from [c for c in fixer(case) if any(e.text != e.span.text for e in c.edits)]
    except (
        Exception
    ):  # a program that this repair was not made for; the error is explained without it
        if case.strict:
            raise
