"""Repairs of everyday mistakes, on whole programs: `explain` finds them, and what it verifies is right."""

from __future__ import annotations

import json

import pytest

from autofix.test_explain import FULL, HERE, explained, header, same

# with FULL=1 all programs of the folders whose mistakes have a repair
SAMPLE = [
    "trekkers/adam_without_state_for_bias",
    "trekkers/classes_counted_from_the_labels",
    "trekkers/counts_of_tokens_overflow_int8",
    "trekkers/history_buffer_indexed_by_float_time",
    "trekkers/learning_rate_of_each_leaf",
    "trekkers/list_of_sensor_readings_scanned",
    "trekkers/mask_of_another_length",
    "trekkers/scan_over_time_needs_time_first",
    "trekkers/vmap_over_a_class_instance",
    "anglers/bandit_rounds_scanned_without_a_length",
    "anglers/cart_pole_linearised_without_argnums",
    "anglers/embedding_gradient_taken_at_the_tokens",
    "anglers/ising_checkerboard_flips_masked_spins",
    "anglers/particles_resampled_with_numpy_choice",
    "anglers/random_crop_forgets_the_colour_channels",
    "anglers/rewards_and_dones_given_to_scan_as_two_arguments",
    "anglers/sensors_resampled_with_too_few_in_axes",
    "anglers/sharded_policy_loss_leaves_as_a_split_scalar",
    "ramblers/norm_of_zero_vector_normalised",
    "ramblers/segments_counted_while_traced",
    "ramblers/sparse_update_of_two_axes_by_lists",
    "ramblers/static_number_as_an_array",
]
# of a folder in which others have none
MENDED = [
    "oarsmen/adam_moments_start_as_plain_zeros",
    "oarsmen/filter_bank_mapped_over_gain_only",
    "oarsmen/galaxy_template_redshifted_with_numpy_interp",
    "oarsmen/gaussian_process_gram_forgets_the_hyperparameters_in_in_axes",
    "oarsmen/hybrid_thermostat_branches_return_state_and_tuple",
    "oarsmen/kepler_equation_jvp_returns_only_the_tangent",
    "oarsmen/patches_cut_around_detected_corners",
    "oarsmen/periodic_advection_reads_past_the_last_cell",
    "oarsmen/vae_elbo_returns_its_parts_to_grad",
]
LEFT = {
    "hessian_of_a_dict_inverted",
    "reward_appended_per_step_in_while_loop",
    "state_machine_with_match_strings_in_scan",
    "window_of_a_traced_length",  # a sum in another order, whose last digit differs
    "carry_grows_an_axis_by_broadcasting",  # without jit it grows, which the repair keeps
    "key_carried_as_part_of_float_state",
    "progress_bar_text_formatted_in_the_train_step",
    "trajectory_appended_to_the_scan_carry",
    "newton_step_solves_with_a_dict_hessian",
    # another line: that of the return, and of the call
    "kalman_gain_column_times_scalar_innovation",
    "lennard_jones_cutoff_rule_misses_the_cutoff",
    "early_stopping_forgets_to_reset_its_patience",
    "parallel_chains_walk_with_one_key",
    "positional_encoding_kept_in_an_lru_cache",
}
PROGRAMS = (
    sorted(
        path
        for folder in ("trekkers", "ramblers", "joggers", "anglers")
        for path in (HERE / folder).glob("*.py")
        if path.stem not in LEFT
    )
    if FULL
    else [HERE / f"{name}.py" for name in SAMPLE]
) + [HERE / f"{name}.py" for name in MENDED]


@pytest.fixture(scope="module")
def reports(once):
    return json.loads(once("everyday", lambda: json.dumps(explained(PROGRAMS))))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_a_program_has_a_repair_that_works(path, reports):
    wanted, found = header(path), reports[path.stem]
    lines = [wanted["line"], *wanted.get("also-line", "").split(",")]
    assert str(found["line"]) in [line.strip() for line in lines], found
    ran = [s for s in found["suggestions"] if "output" in s]
    right = [s for s in ran if same(s["output"], wanted["result"])]
    assert right, found
    assert all(s in right for s in ran if s["verified"]), found
