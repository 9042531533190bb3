"""Keep the cotangents that a `where` masks zero in the backward pass.

`where(x > 0, log(x), 0)` gives log(x) the cotangent 0 where x is not positive, and the transpose of log
multiplies it by 1/x: at x = 0 that is 0 times infinity, which is NaN. With the option `safe_where` the
backward pass tracks where each cotangent can be nonzero, and replaces factors and divisors by 1 elsewhere.
So a masked cotangent stays zero, as with a second `where` inside of the logarithm. Other numbers are unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from sagax._src import config
from sagax._src.core import dims
from sagax._src.core.families import CotangentMask
from sagax._src.core.jaxpr import Eqn, Var
from sagax._src.core.tangents import Linear, Zero
from sagax._src.core.value import aval_of
from sagax._src.primitives.bitwise import bitwise_or
from sagax._src.primitives.comparison import ne
from sagax._src.primitives.makers import broadcast_to
from sagax._src.primitives.selection import select_n_p
from sagax._src.primitives.structural import convert, full_of, instantiate


def is_enabled() -> bool:
    """Return whether masked cotangents stay zero.

    Lazy masks compute unselected elements and exclude them from reductions, as a `where` does.
    """
    settings = config.thread.settings
    return settings.safe_where or settings.masks == "lazy"


class Masks:
    """Track where the cotangents of a linear jaxpr can be nonzero, in the backward pass.

    A mask is a boolean array of the shape of its cotangent; None: anywhere. Variables without an entry have no
    cotangent yet.
    """

    def __init__(
        self, work: Sequence[Eqn], linear: Collection[Var], rule: Callable[[Any], Callable]
    ) -> None:
        self._of: dict[Var, Any] = {}
        self._rule = rule
        # Only operations that scale use masks, so only variables of equations before them need one.
        useful: set[Var] = set()
        for eqn in work:
            if (
                eqn.primitive.cotangent_mask == CotangentMask.SCALED
                or eqn.primitive.is_higher_order
                or any(type(v) is Var and v in useful for v in eqn.invars)
            ):
                useful.update(eqn.outvars)
        self._useful = useful

    def add(self, v: Var, mask: Any) -> None:
        """Add a cotangent of `v`, which is nonzero in `mask` only."""
        if v not in self._of:
            self._of[v] = mask
        elif self._of[v] is not None:
            self._of[v] = None if mask is None else bitwise_or(self._of[v], mask)

    def take(self, eqn: Eqn) -> list:
        """Return the masks of the results of an equation, whose cotangents are complete."""
        return [self._of.pop(v, None) for v in eqn.outvars]

    def of(self, v: Var) -> Any:
        return self._of.get(v)

    def operands(self, eqn: Eqn, args: Sequence[Any], masks: Sequence[Any]) -> Sequence[Any]:
        """Return the operands for the transpose of an equation: harmless ones where its result is masked."""
        (mask, *_) = masks
        if eqn.primitive.cotangent_mask != CotangentMask.SCALED or mask is None:
            return args
        return [a if type(a) is Linear else _where(mask, a, eqn.outvars[0].aval) for a in args]

    def pass_on(
        self, eqn: Eqn, args: Sequence[Any], masks: Sequence[Any], cts: Sequence[Any]
    ) -> None:
        """Derive the masks of an equation's operands from those of its results."""
        kind = eqn.primitive.cotangent_mask
        targets = [v for v, a in zip(eqn.invars, args, strict=True) if type(a) is Linear]
        # the cotangents determine which results have no mask if another has one
        if (
            kind == CotangentMask.DROPPED
            or (kind != CotangentMask.SELECTED and all(m is None for m in masks))
            or not any(v in self._useful for v in targets)
        ):
            for v in targets:
                self.add(v, None)
            return
        sources = [
            Zero(v.aval) if type(ct) is Zero else _as_numbers(m, v.aval)
            for v, m, ct in zip(eqn.outvars, masks, cts, strict=True)
        ]
        if kind == CotangentMask.SCALED:
            args = [a if type(a) is Linear else full_of(aval_of(a), 1) for a in args]
        given: Any = sources if eqn.primitive.multiple_results else sources[0]
        found = self._rule(eqn.primitive)(given, *args, **eqn.params)
        for v, a, back in zip(eqn.invars, args, found, strict=True):
            if type(a) is Linear:
                self.add(v, _as_mask(back, a.aval))


def _where(mask: Any, x: Any, aval: Any) -> Any:
    """Select `x`, broadcast to the type `aval`, in the mask, and 1 elsewhere."""
    x_aval = aval_of(x)
    if not dims.same_shape(x_aval.shape, aval.shape):
        x = broadcast_to(x, aval.shape)
    return select_n_p.bind(mask, full_of(aval_of(x), 1), x)


def _as_numbers(mask: Any, aval: Any) -> Any:
    return full_of(aval, 1) if mask is None else convert(mask, aval.dtype)


def _as_mask(back: Any, aval: Any) -> Any:
    if back is None or type(back) is Zero:
        back = instantiate(Zero(aval))
    return ne(back, np.zeros((), aval.dtype)[()])
