"""Provide the primitives by their jax names.

>>> from sagax.extend.core import primitives
>>> primitives.add_p
add
"""

from __future__ import annotations

from typing import Any

from sagax._src.higher_order import custom_derivatives as _custom
from sagax._src.higher_order.call import jit_p
from sagax._src.primitives.compiler_hints import dce_sink_p as dce_sink_p
from sagax._src.primitives.makers import add_any_p
from sagax._src.primitives.references import get_p as get_p
from sagax._src.primitives.references import swap_p as swap_p
from sagax._src.primitives.resharding import sharding_constraint_p as sharding_constraint_p
from sagax.lax import linalg as _linalg

import sagax.lax as _lax  # isort: skip

custom_jvp_call_p = _custom.custom_jvp_p
custom_vjp_call_p = _custom.custom_vjp_p
add_jaxvals_p = add_any_p
pjit_p = jit_p
call_p = jit_p
closed_call_p = jit_p


def __getattr__(name: str) -> Any:
    """Look up a primitive of `sagax.lax` or `sagax.lax.linalg`."""
    if name.endswith("_p"):
        for module in (_lax, _linalg):
            found = getattr(module, name, None)
            if found is not None:
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    found = {n for module in (_lax, _linalg) for n in dir(module) if n.endswith("_p")}
    return sorted(found | {n for n in globals() if n.endswith("_p")})
