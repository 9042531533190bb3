"""What is done to a program before it is lowered for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src import config, xla
from sagax._src.core.jaxpr import Jaxpr
from sagax._src.lazy_import import lazy_import
from sagax._src.lowering.fusion_fences import fenced
from sagax._src.lowering.map_subjaxprs import holds

if TYPE_CHECKING:
    import sagax._src.lowering.canonicalize_dots as canonicalize_dots
    import sagax._src.lowering.reroll as reroll
else:
    canonicalize_dots = lazy_import("sagax._src.lowering.canonicalize_dots", globals())
    reroll = lazy_import("sagax._src.lowering.reroll", globals())

_SHORT = 16  # equations: so few hold no repetition that pays


def prepared(jaxpr: Jaxpr, platform: str) -> Jaxpr:
    """`jaxpr` as it is lowered: the same values up to rounding, in a form that compiles and runs well.

    Programs that have to round as their operations do alone are left as they are, and so are those for
    other devices than the CPU, whose compiler works in other ways.
    """
    settings = config.thread.settings
    pruned = "is pruned" in jaxpr.memo
    if platform != "cpu" or settings.exact:
        return jaxpr
    # what a first, small program does not need is not loaded for it
    eqns = jaxpr.eqns
    nested = any(map(holds, eqns))
    if settings.reroll == "auto" and (nested or len(eqns) >= _SHORT):
        jaxpr = reroll.rerolled(jaxpr)
    if nested or any(eqn.primitive.name == "dot_general" for eqn in eqns):
        jaxpr = canonicalize_dots.flat_products(jaxpr)
    if settings.fusion_fences == "auto" and xla.keeps_barriers:
        jaxpr = fenced(jaxpr)
    if pruned:  # what the passes put in is read
        jaxpr.memo["is pruned"] = True
    return jaxpr
