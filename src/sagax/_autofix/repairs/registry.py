"""Map error classes to the repairs to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sagax._autofix.repairs.argument_forms as argument_forms
import sagax._autofix.repairs.arrays as arrays
import sagax._autofix.repairs.autojit as autojit
import sagax._autofix.repairs.axes as axes
import sagax._autofix.repairs.axis_order as axis_order
import sagax._autofix.repairs.boolean_logic as boolean_logic
import sagax._autofix.repairs.buffers as buffers
import sagax._autofix.repairs.caches as caches
import sagax._autofix.repairs.call_arguments as call_arguments
import sagax._autofix.repairs.call_corrections as call_corrections
import sagax._autofix.repairs.call_forms as call_forms
import sagax._autofix.repairs.callbacks as callbacks
import sagax._autofix.repairs.calls as calls
import sagax._autofix.repairs.cancellation as cancellation
import sagax._autofix.repairs.captured_values as captured_values
import sagax._autofix.repairs.carried_state as carried_state
import sagax._autofix.repairs.classes as classes
import sagax._autofix.repairs.containers as containers
import sagax._autofix.repairs.control_flow as control_flow
import sagax._autofix.repairs.custom_rules as custom_rules
import sagax._autofix.repairs.derivatives as derivatives
import sagax._autofix.repairs.desugar as desugar
import sagax._autofix.repairs.devices as devices
import sagax._autofix.repairs.dims as dims
import sagax._autofix.repairs.effects as effects
import sagax._autofix.repairs.foreign_names as foreign_names
import sagax._autofix.repairs.hoisting as hoisting
import sagax._autofix.repairs.host_arrays as host_arrays
import sagax._autofix.repairs.host_numbers as host_numbers
import sagax._autofix.repairs.host_waits as host_waits
import sagax._autofix.repairs.index_bounds as index_bounds
import sagax._autofix.repairs.key_lanes as key_lanes
import sagax._autofix.repairs.keys as keys
import sagax._autofix.repairs.leaked_state as leaked_state
import sagax._autofix.repairs.leaks as leaks
import sagax._autofix.repairs.loops as loops
import sagax._autofix.repairs.mapped_axes as mapped_axes
import sagax._autofix.repairs.masked_parts as masked_parts
import sagax._autofix.repairs.missing_parts as missing_parts
import sagax._autofix.repairs.mixed_up_names as mixed_up_names
import sagax._autofix.repairs.not_a_number as not_a_number
import sagax._autofix.repairs.operand_forms as operand_forms
import sagax._autofix.repairs.operands as operands
import sagax._autofix.repairs.other_places as other_places
import sagax._autofix.repairs.passed_functions as passed_functions
import sagax._autofix.repairs.precision as precision
import sagax._autofix.repairs.predicates as predicates
import sagax._autofix.repairs.pytree_operands as pytree_operands
import sagax._autofix.repairs.ranks as ranks
import sagax._autofix.repairs.recompiling as recompiling
import sagax._autofix.repairs.singular as singular
import sagax._autofix.repairs.slices as slices
import sagax._autofix.repairs.small_edits as small_edits
import sagax._autofix.repairs.smooth as smooth
import sagax._autofix.repairs.static_arguments as static_arguments
import sagax._autofix.repairs.static_entries as static_entries
import sagax._autofix.repairs.static_numbers as static_numbers
import sagax._autofix.repairs.structures as structures
import sagax._autofix.repairs.threaded_state as threaded_state
import sagax._autofix.repairs.traced_programs as traced_programs
import sagax._autofix.repairs.traced_state as traced_state
import sagax._autofix.repairs.transform_options as transform_options
import sagax._autofix.repairs.tree_parts as tree_parts
import sagax._autofix.repairs.types as types
import sagax._autofix.repairs.unused_results as unused_results
from sagax._autofix.repairs.case import Candidate, Case, Repair

_VALUE_REPAIRS = (
    transform_options.mark_static, effects.use_debug_print, boolean_logic.replace_builtins, arrays.use_jax_numpy, arrays.compute_shape_statically,
    arrays.give_size, slices.use_dynamic_slice, arrays.drop_conversion, axes.give_known_size, axes.give_measured_size,
    static_numbers.pass_number, host_numbers.compute_on_host, masked_parts.mask_part,
)  # fmt: skip

_NAN_REPAIRS = (
    not_a_number.use_log_softmax, singular.use_softmax, not_a_number.mask_softmax, not_a_number.add_jitter, not_a_number.use_cube_root,
    not_a_number.keep_old_value, singular.guard_operation, call_arguments.count_steps_from_one,
)  # fmt: skip

# by class; the base classes of an error are looked up too, the most derived first
_BY_CLASS: dict[str, tuple[Repair, ...]] = {
    "TracerBoolConversionError": (
        operand_forms.parenthesize_comparisons, transform_options.mark_static, control_flow.rewrite_if, desugar.rewrite_match, desugar.rewrite_return_in_loop, desugar.rewrite_continue, desugar.rewrite_return_in_while, desugar.rewrite_break, desugar.rewrite_related_ifs, control_flow.use_while_loop, control_flow.check_in_callback, control_flow.rewrite_search, control_flow.rewrite_filter, boolean_logic.use_logical_functions, boolean_logic.replace_builtins,
        containers.compare_leaves, arrays.use_jax_numpy, autojit.use_autojit,
    ),
    "ConcretizationTypeError": (other_places.scan_over_tuple, operand_forms.wrap_sequence, call_arguments.reduce_elementwise, *_VALUE_REPAIRS, traced_programs.give_segment_count, static_numbers.pass_segment_count),
    "TracerIntegerConversionError": (
        call_forms.assign_update, transform_options.mark_static, loops.rewrite_for, arrays.use_switch, arrays.index_array, *_VALUE_REPAIRS[1:],
    ),
    "TracerArrayConversionError": (
        other_places.draw_with_key,
        transform_options.mark_static, arrays.use_jax_numpy, arrays.index_array, effects.use_debug_print,
        arrays.compute_shape_statically, arrays.drop_conversion, boolean_logic.replace_builtins,
    ),
    "NonConcreteBooleanIndexError": (arrays.update_with_where, arrays.reduce_with_mask, masked_parts.mask_part),
    "IndexError": (call_forms.drop_outer_vmap, slices.use_dynamic_slice, masked_parts.mask_part, transform_options.mark_static),
    "JAXTypeError": (threaded_state.thread_state, leaks.return_leaked_value, leaked_state.compute_eagerly, leaked_state.store_in_callback),
    "UnexpectedTracerError": (
        containers.make_default_fresh, caches.drop_cache, carried_state.carry_variable, threaded_state.thread_state, leaks.return_leaked_value, effects.fix_cached_function, leaked_state.compute_eagerly, leaked_state.store_in_callback,
    ),
    "InconclusiveDimensionOperation": (
        transform_options.add_constraint, dims.rewrite_symbolic_loop, dims.compute_with_size,
    ),
    "KeyReuseError": (
        key_lanes.use_unused_key, key_lanes.split_for_examples, key_lanes.split_for_iterations, keys.split_key,
    ),
    "DeletedArrayError": (transform_options.copy_donated,),
    "RuntimeError": (transform_options.copy_donated, call_corrections.name_mesh),
    "NotImplementedError": (
        callbacks.set_vmap_method, unused_results.pass_inplace_false, call_forms.assign_output,
        call_forms.use_supported_value, call_forms.use_symmetric_solver,
    ),
    "TypeError": (
        control_flow.rewrite_membership, host_arrays.match_tangent,
        transform_options.mark_self_static, classes.register_pytree, transform_options.mark_object_static, static_entries.pass_text_apart, transform_options.set_has_aux, types.reduce_output,
        types.cast_argument_to_float, types.match_carry_types, types.match_branch_types, types.preallocate, arrays.use_at_set,
        types.transpose_operands, effects.use_debug_print, callbacks.set_vmap_method, callbacks.match_declared_result, arrays.use_switch,
        calls.return_scan_pair, calls.pass_branches_as_functions, calls.swap_key_argument, calls.keep_dimensions,
        calls.index_dict_as_array, types.match_carry_container, operands.convert_booleans, operands.take_real_part,
        operands.align_shapes, derivatives.pass_by_position, derivatives.use_reverse_mode, derivatives.use_jacobian, derivatives.differentiate_entry, operand_forms.unpack_index, call_arguments.stack_sequence, call_arguments.scan_along_second_axis, axes.change_mapped_axis, operand_forms.make_subscript_integer, keys.pass_through_without_key, structures.complete_branch,
        structures.start_carry, classes.mark_field_static,
        argument_forms.wrap_in_tuples, argument_forms.make_key, argument_forms.make_array,
        argument_forms.promote_operands, argument_forms.shape_cotangent, argument_forms.pass_hashable_number,
        custom_rules.return_residuals, custom_rules.return_primal, custom_rules.take_nondiff_arguments, custom_rules.complete_cotangents, custom_rules.reshape_cotangent,
        tree_parts.arrange_cotangents, tree_parts.keep_argument, tree_parts.transpose_mapped_results, call_forms.swap_two_axes,
        containers.start_with_entry, containers.leave_out_entry, predicates.reduce_condition,
        predicates.reduce_predicate, ranks.match_ranks, ranks.give_vectors_an_axis, ranks.reorder_labels,
        traced_programs.drop_jit, traced_programs.return_partial, traced_programs.mark_static_in_checkpoint,
        traced_programs.look_up_in_table, traced_programs.swap_body_parameters,
        traced_programs.pack_auxiliary,
        call_forms.assign_update, call_forms.pass_function, call_forms.correct_argnums, call_forms.wrap_axes,
        call_forms.fold_in_number, call_forms.divide_whole, call_forms.drop_function_cache,
        call_forms.mark_size_static, call_forms.assign_output, call_forms.pad_rows, call_forms.give_scan_length,
        foreign_names.use_existing_keyword, missing_parts.return_updated_argument, missing_parts.complete_tuple,
        missing_parts.return_unpacked_values, missing_parts.drop_new_entry, missing_parts.drop_text_entry,
        missing_parts.rename_key,
        call_arguments.pass_operands, call_arguments.map_over_tuple, call_arguments.bind_plain_argument,
        call_arguments.give_shape_as_tuple, call_arguments.give_start_for_each_axis, call_arguments.give_update_its_axes,
        call_arguments.round_bound, call_arguments.swap_loop_functions, call_arguments.convert_for_json,
        call_arguments.drop_call_of_attribute, call_arguments.reduce_elementwise, call_arguments.complement_mask,
        call_arguments.unpack_rule_arguments, call_arguments.unwrap_cotangent, call_arguments.map_combination, call_arguments.show_printed_value,
        pytree_operands.map_over_leaves, pytree_operands.flatten_tree, pytree_operands.convert_container,
        pytree_operands.unpack_result, pytree_operands.index_leaves,
        operand_forms.parenthesize_comparisons, operand_forms.wrap_sequence, operand_forms.infer_reshape_size,
        operand_forms.swap_results, operand_forms.name_bounds, operand_forms.make_index_integer,
        operand_forms.use_squared_magnitude, operand_forms.return_real_part,
        call_corrections.number_argnums, call_corrections.give_dimension, call_corrections.give_other_choice,
        call_corrections.broadcast_choices, call_corrections.bind_decorator_options, call_corrections.take_answer,
        call_corrections.carry_one_tuple, call_corrections.drop_further_trees, call_corrections.infer_one_size,
        call_corrections.return_last_value, call_corrections.pack_carry, call_corrections.return_whole_carry, call_corrections.name_carry_class, call_corrections.map_over_trees,
        passed_functions.add_parameters,
        other_places.differentiate_floats, other_places.scan_over_tuple, other_places.multiply_matrices,
        mixed_up_names.exchange_sizes, mixed_up_names.exchange_targets, mixed_up_names.spread_trees, mixed_up_names.give_axis,
    ),
    "NameError": (mapped_axes.name_mapped_axis, mapped_axes.use_axis_in_scope),
    "AttributeError": (
        custom_rules.set_rule, foreign_names.use_existing_name, foreign_names.use_array_method,
        pytree_operands.unpack_result, call_corrections.read_entry, call_corrections.replace_fields,
    ),
    "ImportError": (foreign_names.replace_host_callback, foreign_names.import_existing_name, foreign_names.import_from_existing_module),
    "OverflowError": (call_forms.make_float, types.enable_x64),
    "ValueError": (
        host_arrays.copy_before_assignment, host_arrays.convert_called_argument,
        static_arguments.make_hashable, transform_options.set_in_axes, axes.change_mapped_axis, calls.complete_in_axes, calls.correct_argument_name,
        devices.move_to_one_device, types.transpose_operands, dims.rewrite_symbolic_loop, operands.give_scalars_an_axis,
        operands.trim_sequences, derivatives.bound_loop, derivatives.use_forward_mode, derivatives.mark_bound_static,
        structures.complete_axes_of_dict, structures.export_symbolic_sizes, unused_results.pass_inplace_false,
        key_lanes.draw_for_each_key,
        argument_forms.shape_cotangent, custom_rules.reshape_cotangent, containers.map_common_entries,
        mapped_axes.change_output_axis, mapped_axes.pass_mapped_by_position, predicates.reduce_truth_value,
        ranks.give_vectors_an_axis, ranks.match_ranks, ranks.reorder_labels,
        traced_programs.mark_outer_static, traced_programs.pack_auxiliary, traced_programs.share_scope, traced_programs.take_up_checks,
        boolean_logic.replace_builtins, call_forms.make_buffer_traced, call_forms.split_for_names, call_forms.give_scan_length,
        call_forms.pad_rows, call_forms.mark_size_static, call_forms.wrap_axes, call_forms.correct_argnums,
        devices.fit_mesh_to_devices, call_forms.count_bound_arguments, mapped_axes.use_axis_in_scope, call_forms.drop_outer_vmap, missing_parts.return_unpacked_values, missing_parts.rename_key, tree_parts.transpose_mapped_results, call_forms.swap_two_axes,
        call_arguments.scan_over_array, call_arguments.stack_sequence, call_arguments.scan_along_second_axis, call_arguments.export_jitted, call_arguments.complete_in_specs, call_arguments.shorten_spec, call_arguments.name_all_fields,
        call_arguments.show_printed_value, call_arguments.unwrap_cotangent, operand_forms.drop_batch_label, call_arguments.round_bound,
        pytree_operands.convert_container, pytree_operands.broadcast_prefix,
        operand_forms.parenthesize_comparisons, operand_forms.wrap_sequence, operand_forms.infer_reshape_size,
        operand_forms.swap_results, operand_forms.name_bounds, operand_forms.map_output, operand_forms.relabel_axis,
        call_corrections.split_unequally, call_corrections.correct_option, call_corrections.name_printed_values, call_corrections.take_one_key,
        call_corrections.stack_members, call_corrections.give_other_choice,
        passed_functions.add_parameters,
        other_places.differentiate_each, other_places.give_counted_length, other_places.shorten_output_spec,
        call_arguments.give_start_for_each_axis,
    ),
    "JaxRuntimeError": (host_arrays.put_explicitly,),
    "KeyError": (missing_parts.correct_key, index_bounds.count_from_zero),
    "SideEffectWarning": (
        effects.use_debug_print, effects.log_in_callback, effects.write_in_callback, hoisting.pass_result_of_effect,
        traced_state.update_at_calls, traced_state.return_stored_value, traced_state.return_changed_argument, threaded_state.thread_state,
    ),
    "AsyncTimingWarning": (host_waits.wait_before_clock,),
    "HostSyncWarning": (host_waits.convert_after_loop, host_waits.choose_on_device),
    "ImpureTraceWarning": (hoisting.pass_impure_value,),
    "ZeroGradientWarning": (arrays.drop_conversion, smooth.use_smooth_function),
    "PrecisionLossWarning": (
        not_a_number.use_log_softmax, precision.use_logsumexp, precision.use_variance, precision.count_in_integers,
        cancellation.use_small_argument_function, cancellation.use_gradient, cancellation.multiply_steps,
        cancellation.subtract_before_call,
    ),
    "BroadcastWarning": (axis_order.align_column, axis_order.keep_dimension),
    "AmbiguousAxesWarning": (axis_order.sort_keys,),
    "UnusedResultWarning": (unused_results.assign_result,),
    "StaleValueWarning": (captured_values.pass_as_argument,),
    "CapturedConstantWarning": (captured_values.pass_as_argument,),
    "RecompilationWarning": (
        effects.hoist_jit, recompiling.jit_once, transform_options.unmark_static, slices.pass_length,
    ),
    "UnrolledLoopWarning": (loops.count_while, loops.rewrite_for, loops.map_comprehension),
    "NaNGradientWarning": (
        not_a_number.use_log_softmax, types.use_double_where, not_a_number.use_guarded_power, not_a_number.mask_softmax, singular.guard_operation, call_arguments.count_steps_from_one,
    ),
    "NaNWarning": _NAN_REPAIRS,
    "FloatingPointError": (not_a_number.use_log_softmax, types.use_double_where, not_a_number.use_guarded_power, *_NAN_REPAIRS),
    "DtypeTruncationWarning": (buffers.fill_with_floats, types.enable_x64),
    "IntegerOverflowWarning": (types.widen_dtype,),
    "LostUpdateWarning": (call_forms.combine_updates,),
    "OutOfBoundsIndexWarning": (
        index_bounds.correct_size, index_bounds.start_of_interval, index_bounds.shorten_range, index_bounds.wrap_around, index_bounds.count_from_zero, buffers.enlarge_buffer,
        buffers.write_around, buffers.pad_window, arrays.set_index_mode,
    ),
    "DonationWarning": (transform_options.drop_donation,),
}  # fmt: skip


# errors about values that edits of expressions may mend, but for those of tracers and keys
_OF_VALUES = {"AttributeError", "IndexError", "NotImplementedError", "TypeError", "ValueError"}
_OF_TRACERS = {"JAXIndexError", "JAXTypeError"}
_GENERAL_REPAIRS = (small_edits.edit_expression, passed_functions.exchange_parameters)


def propose(case: Case) -> list[Candidate]:
    """Return the candidates of repairs that know the error, untried, the likeliest and smallest first."""
    return _candidates(case, [r for name in case.facts.classes for r in _BY_CLASS.get(name, ())])


def propose_general(case: Case) -> list[Candidate]:
    """Return the candidates of repairs that know no error; they take a run of the script to find."""
    classes = set(case.facts.classes)
    general = classes & _OF_VALUES and not classes & _OF_TRACERS
    return _candidates(case, _GENERAL_REPAIRS) if general else []


def _candidates(case: Case, repairs: Sequence[Repair]) -> list[Candidate]:
    found: dict[tuple[object, ...], Candidate] = {}
    for repair in dict.fromkeys(repairs):
        for candidate in _run_repair(repair, case):
            key = tuple(
                sorted(
                    (e.span.file, e.span.line, e.span.column or 0, e.text) for e in candidate.edits
                )
            )
            found.setdefault(key, candidate)
    return sorted(found.values(), key=lambda c: (c.rank, c.size))


def _run_repair(repair: Repair, case: Case) -> Iterator[Candidate]:
    try:
        yield from [c for c in repair(case) if any(e.text != e.span.text for e in c.edits)]
    except Exception:  # a script that this repair does not expect; explain the error without it
        if case.strict:
            raise
