"""Define what a roofline consists of, and the rules by which primitives contribute to it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sagax._src.core.avals import ShapedArray
from sagax._src.core.meshes import AbstractMesh, Mesh
from sagax._src.core.primitive import Primitive
from sagax._src.diagnostics.errors import ArgumentError
from sagax.extend.source_info_util import NameStack

_Rule = TypeVar("_Rule", bound=Callable[..., "RooflineResult"])


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineShape:
    """The shape and the dtype of an operand, with its sizes.

    >>> shape = roofline.RooflineShape(shape=(2, 3), dtype=np.dtype("float32"))
    >>> shape.size, shape.bytes
    (6, 24)
    """

    shape: tuple[int, ...]
    dtype: Any

    @classmethod
    def from_aval(cls, aval: Any) -> RooflineShape:
        """Return the shape of an abstract value; a TypeError for what is no array."""
        if not isinstance(aval, ShapedArray):
            raise ArgumentError.about(
                "RooflineShape.from_aval", "aval", aval, "the type of an array"
            )
        return cls(shape=aval.shape, dtype=aval.dtype)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """The number of bytes."""
        return self.size * self.dtype.itemsize

    @classmethod
    def total_bytes(cls, avals: Sequence[Any]) -> int:
        """Return the bytes of several arrays."""
        return sum([cls.from_aval(a).bytes for a in avals])


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineResult:
    """The work of a function. Results add up; a product with a number scales all but the peak to a whole number.

    Attributes:
      flops, hbm_bytes: operations and memory traffic of matrix products, which compilers never fuse away.
      unfused_flops, unfused_hbm_bytes: the same of all operations, as if nothing was fused.
      ici_bytes, ici_latency: for each mesh axis the bytes that the busiest link sends, and the hops.
      peak_hbm_bytes: the most bytes alive between two equations, if they run in order.

    >>> one = roofline.RooflineResult(flops=3, peak_hbm_bytes=8)
    >>> (one + 2 * one).flops
    9
    """

    flops: int = 0
    unfused_flops: int = 0
    ici_bytes: dict[str, int] = field(default_factory=dict)
    ici_latency: dict[str, int] = field(default_factory=dict)
    hbm_bytes: int = 0
    peak_hbm_bytes: int = 0
    unfused_hbm_bytes: int = 0

    @classmethod
    def zeros(cls) -> RooflineResult:
        """Return the result of no work."""
        return cls()

    def __add__(self, other: RooflineResult) -> RooflineResult:
        return RooflineResult(
            flops=self.flops + other.flops,
            unfused_flops=self.unfused_flops + other.unfused_flops,
            ici_bytes=_added(self.ici_bytes, other.ici_bytes),
            ici_latency=_added(self.ici_latency, other.ici_latency),
            hbm_bytes=self.hbm_bytes + other.hbm_bytes,
            peak_hbm_bytes=max(self.peak_hbm_bytes, other.peak_hbm_bytes),
            unfused_hbm_bytes=self.unfused_hbm_bytes + other.unfused_hbm_bytes,
        )

    def __mul__(self, constant: float) -> RooflineResult:
        return RooflineResult(
            flops=int(self.flops * constant),
            unfused_flops=int(self.unfused_flops * constant),
            ici_bytes={k: int(n * constant) for k, n in self.ici_bytes.items()},
            ici_latency={k: int(n * constant) for k, n in self.ici_latency.items()},
            hbm_bytes=int(self.hbm_bytes * constant),
            peak_hbm_bytes=int(self.peak_hbm_bytes * constant),
            unfused_hbm_bytes=int(self.unfused_hbm_bytes * constant),
        )

    __rmul__ = __mul__


def _added(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    total = Counter(a)
    total.update(b)
    return dict(total)


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineRuleContext:
    """Describe an equation to a rule, which also gets shapes of operands and parameters.

    `pin_lhs_in_vmem` and `pin_rhs_in_vmem`: the first or second operand of products stays in fast memory.
    """

    name_stack: NameStack
    primitive: Primitive
    avals_in: Sequence[Any]
    avals_out: Sequence[Any]
    jaxpr_eqn_ctx: Any
    mesh: Mesh | AbstractMesh | None
    pin_lhs_in_vmem: bool
    pin_rhs_in_vmem: bool


rules: WeakKeyDictionary[Primitive, Callable[..., RooflineResult]] = WeakKeyDictionary()


def register_roofline(prim: Primitive) -> Callable[[_Rule], _Rule]:
    """Return a decorator that sets the rule of a primitive.

    The rule is a function of a `RooflineRuleContext`, a `RooflineShape` for each operand, and the parameters of
    the equation as keywords. It returns a `RooflineResult`.

    >>> from sagax.extend.core import Primitive
    >>> double_p = Primitive("double")
    >>> @roofline.register_roofline(double_p)
    ... def double(ctx, x):
    ...     return roofline.RooflineResult(unfused_flops=x.size)
    """

    def register(rule: _Rule) -> _Rule:
        rules[prim] = rule
        return rule

    return register


def register_standard_roofline(prim: Primitive) -> None:
    """Declare that a primitive does no work that counts.

    >>> from sagax.extend.core import Primitive
    >>> roofline.register_standard_roofline(Primitive("free"))
    """
    rules[prim] = lambda ctx, *shapes, **params: RooflineResult()
