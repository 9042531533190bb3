"""What is done to a program before it is lowered for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src import config, tuning, xla
from sagax._src.core import memo_keys
from sagax._src.core.jaxpr import Jaxpr
from sagax._src.lazy_import import lazy_imports
from sagax._src.lowering.fusion_fences import LEAST_ELEMENTS, ONLY_LONG, fenced
from sagax._src.lowering.map_subjaxprs import holds

if TYPE_CHECKING or lazy_imports():
    from sagax._src.lowering import canonicalize_dots, flat_draws, reroll


def prepared(jaxpr: Jaxpr, platform: str, several_devices: bool = False) -> Jaxpr:
    """`jaxpr` as it is lowered: the same values up to rounding, in a form that compiles and runs well.

    Programs for other devices than the CPU, whose compiler works in other ways, are left as they are. Those that
    have to round as their operations do alone, or run on several devices, only get fences after what is long to
    compute.
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
    # what a first, small program does not need is not loaded for it
    eqns = jaxpr.eqns
    nested = any(map(holds, eqns))
    if settings.reroll == "auto" and (nested or len(eqns) >= tuning.REROLL_MIN_JAXPR):
        jaxpr = reroll.rerolled(jaxpr)
    if nested or any(eqn.primitive.name == "dot_general" for eqn in eqns):
        jaxpr = canonicalize_dots.flat_products(jaxpr)
    if settings.fusion_fences == "auto":
        if nested or any(eqn.primitive.handles_keys for eqn in eqns):
            jaxpr = flat_draws.flat_draws(jaxpr)
        # where barriers only last with options that cost time, only what would not compile has them
        jaxpr = fenced(jaxpr, LEAST_ELEMENTS if xla.barriers_last_until_fusion else ONLY_LONG)
    if pruned:  # what the passes put in is read
        jaxpr.memo[memo_keys.IS_PRUNED] = True
    return jaxpr
