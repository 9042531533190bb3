"""Run the passes that rewrite a jaxpr before lowering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src import config, tuning, xla
from sagax._src.core import memo_keys
from sagax._src.core.families import Pass
from sagax._src.core.jaxpr import Jaxpr
from sagax._src.lazy_import import lazy_imports
from sagax._src.lowering.fusion_fences import LEAST_ELEMENTS, ONLY_LONG, fenced
from sagax._src.lowering.map_subjaxprs import holds

if TYPE_CHECKING or lazy_imports():
    from sagax._src.core import verify
    from sagax._src.lowering import (
        canonicalize_dots,
        flat_draws,
        host_sorts,
        reduced_sines,
        reroll,
        shifting_extrema,
        sorts,
    )


def least_host_sort(jaxpr: Jaxpr) -> int | None:
    """Return the elements from which on NumPy sorts in the executable of this jaxpr; None: never."""
    if not any(eqn.primitive.rewritten_by is Pass.SORTS or holds(eqn) for eqn in jaxpr.eqns):
        return None
    return host_sorts.least_size(jaxpr)


def prepared(
    jaxpr: Jaxpr, platform: str, several_devices: bool = False, least_host_sort: int | None = None
) -> Jaxpr:
    """Rewrite `jaxpr` for fast compilation and execution, with the same values up to rounding.

    For other platforms than the CPU it stays unchanged. An exact jaxpr, or one for several devices, only
    gets fences after expensive values. NumPy sorts arrays of at least `least_host_sort` elements.
    Under `enable_checks` the jaxpr is verified before and after each pass.
    """
    settings = config.thread.settings
    checked = _verified if settings.enable_checks else _trusted
    checked(jaxpr, "tracing and transformations")
    pruned = memo_keys.IS_PRUNED in jaxpr.memo
    if platform != "cpu":
        return jaxpr
    if settings.exact or several_devices:
        if settings.fusion_fences == "auto":
            jaxpr = checked(fenced(jaxpr, ONLY_LONG), "fences")
        if pruned:
            jaxpr.memo[memo_keys.IS_PRUNED] = True
        return jaxpr
    # lazily imported, to keep the first, small function fast
    eqns = jaxpr.eqns
    nested = any(map(holds, eqns))
    passes = {eqn.primitive.rewritten_by for eqn in eqns}
    if settings.reroll == "auto" and (nested or len(eqns) >= tuning.REROLL_MIN_JAXPR):
        jaxpr = checked(reroll.rerolled(jaxpr), "re-rolling")
    if xla.reduces_sines and (nested or Pass.SINES in passes):
        jaxpr = checked(reduced_sines.leave_reduced_sines(jaxpr), "reduced sines")
    if xla.loses_nans and (nested or Pass.EXTREMA in passes):
        jaxpr = checked(shifting_extrema.mark_shifts(jaxpr), "shifting extrema")
    if nested or Pass.SORTS in passes:
        jaxpr = checked(sorts.rewrite_sorts(jaxpr, least_host_sort), "sorts")
    if nested or Pass.PRODUCTS in passes:
        jaxpr = checked(canonicalize_dots.merge_contracted_dims(jaxpr), "products")
    if settings.fusion_fences == "auto":
        if nested or any(eqn.primitive.handles_keys for eqn in eqns):
            jaxpr = checked(flat_draws.flat_draws(jaxpr), "draws")
        # where barriers only survive with costly options, only what would not compile gets them
        least = LEAST_ELEMENTS if xla.barriers_last_until_fusion else ONLY_LONG
        jaxpr = checked(fenced(jaxpr, least), "fences")
    if pruned:  # the new equations are read
        jaxpr.memo[memo_keys.IS_PRUNED] = True
    return jaxpr


def _verified(jaxpr: Jaxpr, after: str) -> Jaxpr:
    verify.check_after(after, jaxpr)
    return jaxpr


def _trusted(jaxpr: Jaxpr, after: str) -> Jaxpr:
    return jaxpr
