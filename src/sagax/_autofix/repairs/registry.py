"""Map error classes to the repairs to try."""

from __future__ import annotations

from collections.abc import Iterator

import sagax._autofix.repairs.arrays as arrays
import sagax._autofix.repairs.axes as axes
import sagax._autofix.repairs.boolean_logic as boolean_logic
import sagax._autofix.repairs.callbacks as callbacks
import sagax._autofix.repairs.calls as calls
import sagax._autofix.repairs.captured_values as captured_values
import sagax._autofix.repairs.classes as classes
import sagax._autofix.repairs.control_flow as control_flow
import sagax._autofix.repairs.desugar as desugar
import sagax._autofix.repairs.devices as devices
import sagax._autofix.repairs.dims as dims
import sagax._autofix.repairs.effects as effects
import sagax._autofix.repairs.keys as keys
import sagax._autofix.repairs.leaked_state as leaked_state
import sagax._autofix.repairs.leaks as leaks
import sagax._autofix.repairs.loops as loops
import sagax._autofix.repairs.recompiling as recompiling
import sagax._autofix.repairs.static_arguments as static_arguments
import sagax._autofix.repairs.transform_options as transform_options
import sagax._autofix.repairs.types as types
from sagax._autofix.repairs.case import Candidate, Case, Fixer

__all__ = ["propose"]

_VALUE = (
    transform_options.static, effects.debug_print, boolean_logic.builtins, arrays.numpy_calls, arrays.shape_arithmetic,
    arrays.given_size, arrays.dynamic_slices, arrays.without_conversion, axes.measured_size,
)  # fmt: skip

# by class; the classes that an error derives from are looked up too, the most special first
_BY_CLASS: dict[str, tuple[Fixer, ...]] = {
    "TracerBoolConversionError": (
        transform_options.static, control_flow.branches, desugar.matches, desugar.returns_in_loops, desugar.ended_rounds, desugar.ended_loops, desugar.left_loops, desugar.throughout, control_flow.while_loops, control_flow.assertion, control_flow.filtered, boolean_logic.logic, boolean_logic.builtins,
        arrays.numpy_calls,
    ),
    "ConcretizationTypeError": _VALUE,
    "TracerIntegerConversionError": (
        transform_options.static, loops.loops, arrays.indexed, arrays.stacked, *_VALUE[1:],
    ),
    "TracerArrayConversionError": (
        transform_options.static, arrays.numpy_calls, arrays.stacked, effects.debug_print,
        arrays.shape_arithmetic, arrays.without_conversion, boolean_logic.builtins,
    ),
    "NonConcreteBooleanIndexError": (arrays.masked_update, arrays.masked),
    "IndexError": (arrays.dynamic_slices, transform_options.static),
    "JAXTypeError": (leaks.returned, leaked_state.at_once, leaked_state.by_callback),
    "UnexpectedTracerError": (
        leaks.returned, effects.without_cache, leaked_state.at_once, leaked_state.by_callback,
    ),
    "InconclusiveDimensionOperation": (
        transform_options.dimension_constraint, dims.rounds, dims.converted,
    ),
    "KeyReuseError": (keys.split_key,),
    "DeletedArrayError": (transform_options.copied,),
    "RuntimeError": (transform_options.copied,),
    "NotImplementedError": (callbacks.mapped_callback,),
    "TypeError": (
        control_flow.looked_up,
        transform_options.static_self, classes.registered, transform_options.static_object, transform_options.has_aux, types.scalar_output,
        types.float_argument, types.carry_type, types.branch_type, types.growing, arrays.at_set,
        types.matmul, effects.debug_print, callbacks.mapped_callback, callbacks.declared_result, arrays.indexed,
        calls.pair_of_scan, calls.as_functions, calls.exchanged, calls.kept_dimensions,
        calls.table_of_dict, types.carry_container,
    ),
    "ValueError": (
        static_arguments.hashable, transform_options.mapped_axes, axes.axis_beyond, calls.axes_for_all, calls.known_name,
        devices.on_one_device, types.matmul, dims.rounds,
    ),
    "SideEffectWarning": (effects.debug_print, effects.logged_later),
    "StaleValueWarning": (captured_values.passed_argument,),
    "CapturedConstantWarning": (captured_values.passed_argument,),
    "RecompilationWarning": (
        effects.hoisted_jit, recompiling.jitted_once, transform_options.traced, arrays.prefix_mask,
    ),
    "UnrolledLoopWarning": (loops.loops,),
    "NaNGradientWarning": (types.double_where,),
    "FloatingPointError": (types.double_where,),
    "DtypeTruncationWarning": (types.enable_x64,),
    "IntegerOverflowWarning": (types.wider,),
    "OutOfBoundsIndexWarning": (arrays.index_mode,),
    "DonationWarning": (transform_options.no_donation,),
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
