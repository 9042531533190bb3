"""Donated arguments whose memory no result can take over."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sagax._src import xla
from sagax._src.core.jaxpr import ClosedJaxpr
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.cautions import DonationWarning
from sagax._src.diagnostics.spans import user_span

__all__ = ["check"]


def check(fun: Any, closed: ClosedJaxpr, donated: Sequence[int]) -> None:
    """Warn, once for each compiled program, of donated arguments that fit no result."""
    free = Counter((a.shape, a.dtype) for a in closed.out_avals)
    names = closed.jaxpr.debug_info.arg_names
    unused: list[str] = []
    for i in donated:
        aval = closed.in_avals[i]
        key = (aval.shape, aval.dtype)
        if free[key]:
            free[key] -= 1
        else:
            name = names[i] if i < len(names) else f"operand {i}"
            unused.append(f"{name} ({aval.str_short(short_dtypes=False)})")
    if not unused:
        return
    results = ", ".join(a.str_short(short_dtypes=False) for a in closed.out_avals) or "none"
    place = user_span(xla.get_traceback())
    warnings.warn_explicit(
        f"Some donated buffers were not usable: {', '.join(unused)}. A result of `{function_name(fun)}` takes over the memory "
        f"of an argument of its own shape and dtype; its results are {results}. Do not donate the others.",
        DonationWarning,
        place.file if place is not None else "sagax",
        place.line if place is not None else 1,
    )
