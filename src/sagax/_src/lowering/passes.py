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
    from sagax._src.lowering import (
        canonicalize_dots,
        flat_draws,
        host_sorts,
        kept_nans,
        reduced_sines,
        reroll,
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
    """
    settings = config.thread.settings
    pruned = memo_keys.IS_PRUNED in jaxpr.memo
    if platform != "cpu":
        return jaxpr
    if settings.exact or several_devices:
        if settings.fusion_fences == "auto":
            jaxpr = fenced(jaxpr, ONLY_LONG)
        if pruned:
            jaxpr.memo[memo_keys.IS_PRUNED] = True
        return jaxpr
    # lazily imported, to keep the first, small function fast
    eqns = jaxpr.eqns
    nested = any(map(holds, eqns))
    passes = {eqn.primitive.rewritten_by for eqn in eqns}
    if settings.reroll == "auto" and (nested or len(eqns) >= tuning.REROLL_MIN_JAXPR):
        jaxpr = reroll.rerolled(jaxpr)
    if xla.reduces_sines and (nested or Pass.SINES in passes):
        jaxpr = reduced_sines.leave_reduced_sines(jaxpr)
    if xla.loses_nans and (nested or Pass.EXTREMA in passes):
        jaxpr = kept_nans.keep_nans(jaxpr)
    if nested or Pass.SORTS in passes:
        jaxpr = sorts.rewrite_sorts(jaxpr, least_host_sort)
    if nested or Pass.PRODUCTS in passes:
        jaxpr = canonicalize_dots.merge_contracted_dims(jaxpr)
    if settings.fusion_fences == "auto":
        if nested or any(eqn.primitive.handles_keys for eqn in eqns):
            jaxpr = flat_draws.flat_draws(jaxpr)
        # where barriers only survive with costly options, only what would not compile gets them
        jaxpr = fenced(jaxpr, LEAST_ELEMENTS if xla.barriers_last_until_fusion else ONLY_LONG)
    if pruned:  # the new equations are read
        jaxpr.memo[memo_keys.IS_PRUNED] = True
    return jaxpr
