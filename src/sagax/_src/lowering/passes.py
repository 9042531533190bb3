"""What is done to a program before it is lowered for a device."""

from __future__ import annotations

from sagax._src import config, xla
from sagax._src.core.jaxpr import Jaxpr
from sagax._src.lowering.fences import fenced
from sagax._src.lowering.products import flat_products
from sagax._src.lowering.reroll import rerolled


def prepared(jaxpr: Jaxpr, platform: str, reroll: str | None = None) -> Jaxpr:
    """`jaxpr` as it is lowered: the same values up to rounding, in a form that compiles and runs well.

    `reroll` stands in for the option of that name. Programs that have to round as their operations do
    alone are left as they are, and so are those for other devices than the CPU, whose compiler works
    in other ways.
    """
    settings = config.thread.settings
    pruned = "is pruned" in jaxpr.memo
    if platform != "cpu" or settings.exact:
        return jaxpr
    if (reroll or settings.reroll) == "auto":
        jaxpr = rerolled(jaxpr)
    jaxpr = flat_products(jaxpr)
    if settings.fusion_fences == "auto" and xla.keeps_barriers:
        jaxpr = fenced(jaxpr)
    if pruned:  # what the passes put in is read
        jaxpr.memo["is pruned"] = True
    return jaxpr
