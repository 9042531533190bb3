"""The primitives, by the names they have in jax.

>>> from sagax.extend.core import primitives
>>> primitives.add_p
add
"""

from __future__ import annotations

from typing import Any

from sagax._src.higher_order import custom_derivatives as _custom
from sagax._src.higher_order.call import jit_p
from sagax.lax import linalg as _linalg

import sagax.lax as _lax  # isort: skip

custom_jvp_call_p = _custom.custom_jvp_p
custom_vjp_call_p = _custom.custom_vjp_p
pjit_p = jit_p
call_p = jit_p
closed_call_p = jit_p


def __getattr__(name: str) -> Any:
    """Those of `sagax.lax` and `sagax.lax.linalg`."""
    if name.endswith("_p"):
        for module in (_lax, _linalg):
            found = getattr(module, name, None)
            if found is not None:
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    found = {n for module in (_lax, _linalg) for n in dir(module) if n.endswith("_p")}
    return sorted(found | {n for n in globals() if n.endswith("_p")})
