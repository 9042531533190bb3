"""Solve ordinary differential equations with adaptive steps, and differentiate the solution."""

from collections.abc import Callable
from typing import Any, TypeVar

from sagax.typing import ArrayLike

_State = TypeVar("_State")

def odeint(
    func: Callable[..., _State],
    y0: Any,
    t: ArrayLike,
    *args: Any,
    rtol: float = ...,
    atol: float = ...,
    mxstep: float = ...,
    hmax: float = ...,
) -> _State: ...
