"""Define accumulators: sums of the cotangents of one operand, which backward rules add to."""

from __future__ import annotations

from typing import Any

from sagax._src import trees
from sagax._src.core import dtypes
from sagax._src.core.tangents import Zero
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.languages.choice import worded
from sagax._src.primitives.makers import add_tangents
from sagax._src.primitives.references import new_ref
from sagax._src.primitives.structural import zeros_of


class GradAccum:
    """The sum of the cotangents of one operand, which a backward rule adds to."""

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    def accum(self, x: Any) -> None:
        """Add a cotangent; None and symbolic zeros change nothing."""
        raise worded(NotImplementedError(f"{type(self).__name__} must define accum(x)"))

    def freeze(self) -> Any:
        """Return the sum."""
        raise worded(NotImplementedError(f"{type(self).__name__} must define freeze()"))


class NullAccum(GradAccum):
    """The sum for an operand whose cotangent is not needed: it forgets what is added."""

    def accum(self, x: Any) -> None:
        pass

    def freeze(self) -> Zero:
        return Zero(self.aval)


class ValAccum(GradAccum):
    """The sum as a value."""

    def __init__(self, aval: Any, val: Any = None) -> None:
        super().__init__(aval)
        self.val = val

    def accum(self, x: Any) -> None:
        if x is None or type(x) is Zero:
            return
        if self.val is None:
            self.val = x
        elif self.aval.is_high:
            self.val = self.aval.vspace_add(self.val, x)
        else:
            self.val = add_tangents(self.val, x)

    def freeze(self) -> Any:
        return Zero(self.aval) if self.val is None else self.val


class RefAccum(GradAccum):
    """The sum in a reference."""

    def __init__(self, aval: Any, ref: Any) -> None:
        super().__init__(aval)
        self.ref = ref

    def accum(self, x: Any) -> None:
        if x is not None and type(x) is not Zero:
            self.ref.addupdate(x)

    def freeze(self) -> Any:
        return self.ref[...]


def accumulators(args: Any, perturbed: Any, kinds: Any = ValAccum) -> Any:
    """Create an accumulator for each leaf of `args`, a pytree of avals.

    Args:
      perturbed: a pytree of bools like `args`; the others get a `NullAccum`, and so do integers.
      kinds: `ValAccum` or `RefAccum`, or a pytree of them that is a prefix of `args`.
    """
    leaves, tree = trees.flatten(args)
    wanted = trees.broadcast_prefix(kinds, args)
    made: list[GradAccum] = []
    for aval, kind, mark in zip(leaves, wanted, trees.leaves(perturbed), strict=True):
        if kind is not ValAccum and kind is not RefAccum:
            raise ArgumentError.about(
                "custom_gradient",
                "with_accums",
                repr(kind),
                "ValAccum or RefAccum, or a pytree of them that is a prefix of the arguments",
            )
        ct = aval.to_cotangent_aval()
        if not mark or ct.dtype == dtypes.float0:
            made.append(NullAccum(ct))
        elif kind is RefAccum:
            made.append(RefAccum(ct, new_ref(zeros_of(ct))))
        else:
            made.append(ValAccum(ct))
    return tree.unflatten(made)


def sums(accumulators: Any) -> Any:
    """Return what accumulators (a pytree) hold; None for zero."""
    found = trees.map(lambda a: a.freeze(), accumulators)
    return trees.map(
        lambda x: None if type(x) is Zero else x, found, is_leaf=lambda x: type(x) is Zero
    )
