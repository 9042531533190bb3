"""What is done to a program before it is lowered for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src import config, tuning, xla
from sagax._src.core import memo_keys
from sagax._src.core.jaxpr import Jaxpr
from sagax._src.later import later
from sagax._src.lowering.fences import fenced
from sagax._src.lowering.inside import holds

if TYPE_CHECKING:
    import sagax._src.lowering.products as products
    import sagax._src.lowering.reroll as reroll
else:
    products = later("sagax._src.lowering.products", globals())
    reroll = later("sagax._src.lowering.reroll", globals())


def prepared(jaxpr: Jaxpr, platform: str) -> Jaxpr:
    """`jaxpr` as it is lowered: the same values up to rounding, in a form that compiles and runs well.

    Programs that have to round as their operations do alone are left as they are, and so are those for
    other devices than the CPU, whose compiler works in other ways.
    """
    settings = config.thread.settings
    pruned = memo_keys.IS_PRUNED in jaxpr.memo
    if platform != "cpu" or settings.exact:
        return jaxpr
    # what a first, small program does not need is not loaded for it
    eqns = jaxpr.eqns
    nested = any(map(holds, eqns))
    if settings.reroll == "auto" and (nested or len(eqns) >= tuning.REROLL_MIN_JAXPR):
        jaxpr = reroll.rerolled(jaxpr)
    if nested or any(eqn.primitive.name == "dot_general" for eqn in eqns):
        jaxpr = products.flat_products(jaxpr)
    if settings.fusion_fences == "auto" and xla.barriers_last_until_fusion:
        jaxpr = fenced(jaxpr)
    if pruned:  # what the passes put in is read
        jaxpr.memo[memo_keys.IS_PRUNED] = True
    return jaxpr
