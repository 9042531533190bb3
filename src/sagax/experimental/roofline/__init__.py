"""Estimate the work of a function without running it: operations, memory traffic and traffic between devices.

The numbers follow from the jaxpr alone, so no device is needed, and arguments may be `ShapeDtypeStruct`s. For the
compiled program on a described machine see `sagax.plan`.

>>> from sagax.experimental import roofline
>>> x = sagax.ShapeDtypeStruct((8, 16), np.float32)
>>> w = sagax.ShapeDtypeStruct((16, 4), np.float32)
>>> out, found = roofline.roofline(lambda x, w: x @ w)(x, w)
>>> out.shape, found.flops, found.hbm_bytes
((8, 4), 1024, 896)
"""

from sagax.experimental.roofline import (
    _rules as _rules,
)  # registers the rules of sagax's primitives
from sagax.experimental.roofline._results import (
    RooflineResult,
    RooflineRuleContext,
    RooflineShape,
    register_roofline,
    register_standard_roofline,
)
from sagax.experimental.roofline._walk import roofline, roofline_and_grad

__all__ = [
    "RooflineResult",
    "RooflineRuleContext",
    "RooflineShape",
    "register_roofline",
    "register_standard_roofline",
    "roofline",
    "roofline_and_grad",
]
