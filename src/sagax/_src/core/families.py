"""Define families of primitives, with default answers for every slot that passes read.

Besides its rules, a primitive has traits for passes over jaxprs. A family fills every slot; a
primitive overrides slots where it differs. Where there is no rule, a `Default` gives the reason.

    fusion          how the compiler fuses it with its consumers
    latency         the number of sequential operations for one element of the result
    recomputes      whether an operand that is fused into it is recomputed, or computed under a condition
    cost            floating point operations: for each element of the result, or f(operands, results, params)
    host_cost       weight in an eager function on NumPy (tuning.NUMPY_MAX_PRIMITIVES); rows: eager-take, kernel-sort
    rounds          whether results may be rounded: they are neither exact nor copies of operand elements
    creates_nan     whether a NaN in a result may be a new one
    cotangent_mask  how its transpose maps the mask of a partly zero cotangent
    moves_keys      its NumPy reference, run on ids of keys, computes which keys results hold
    handles_keys    it creates or consumes keys: without a `key` rule it consumes its key operands
    rewritten_by    the pass that may rewrite it before it is lowered for CPUs (lowering/passes.py)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sagax._src.languages.choice import worded


class Default:
    """The answer of a primitive that has no rule, with its reason."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"Default({self.reason!r})"


# Answers with several alternatives: ints, as creating an `enum` slows the import.


class Fusion:
    """Classify how the compiler fuses an operation with its consumers."""

    INLINE = 0  # computed in every consumer
    MOVES_ELEMENTS = 1  # likewise, at an index of its own within each consumer
    EXPENSIVE = 2  # written to memory if it has several consumers
    REDUCES = 3  # operands are fused into it, and its result is written
    SEPARATE = 4  # never fused


class Sums:
    """Classify how an operation takes operands that are sums not yet added up over devices."""

    REFUSED = 0
    FIRST = 1  # linear in its first operand: so is the result
    EACH = 2  # adds or arranges operands, all such sums
    PRODUCT = (
        3  # one operand is such a sum, the others are shared by the devices and marked reduced
    )
    QUOTIENT = 4  # the same, where the first operand is the sum
    CONTRACTED = 5  # takes none, and what is marked reduced meets what differs between devices


class Recompute:
    """Classify how often an operation computes an operand that is fused into it."""

    ONCE = 0
    CONDITIONALLY = 1  # only for elements of the result that read it
    REPEATEDLY = 2  # for several elements of the result


class CotangentMask:
    """Classify how the transpose of a linear operation maps the mask of a cotangent."""

    DROPPED = 0
    MOVED = (
        1  # like the cotangent: elements are moved, added, selected or scaled by nonzero numbers
    )
    SCALED = 2  # likewise, and the possibly infinite factors are masked
    SELECTED = 3  # a selection creates a mask
    INSIDE = 4  # follow it through the jaxpr of the call


class Pass:
    """Name the passes before lowering for CPUs that rewrite single primitives."""

    NONE = 0
    SINES = 1
    EXTREMA = 2
    SORTS = 3
    PRODUCTS = 4


class Indices(NamedTuple):
    """The operands that are indices: one array of index vectors, or a scalar for each axis."""

    operands: slice
    axes: Sequence[int]
    window: Sequence[Any]  # the slice size along each dimension


class Family:
    """Answers to every slot, shared by similar primitives."""

    __slots__ = ("answers", "reason")

    def __init__(self, reason: str, **answers: Any) -> None:
        if answers.keys() != SLOTS:
            raise worded(
                TypeError(f"a family answers every slot; look at {answers.keys() ^ SLOTS}")
            )
        self.reason = reason
        self.answers = answers

    def but(self, reason: str, **answers: Any) -> Family:
        """Return a family with other answers for some slots."""
        return Family(reason, **{**self.answers, **answers})

    def __repr__(self) -> str:
        return f"Family({self.reason!r})"


RULES = (
    *("shard_rule", "mask_rule", "index_rule", "wide_rule", "check_rule", "key_rule"),
    "discharge_rule",
)
TRAITS = (
    *("fusion", "latency", "recomputes", "cost", "host_cost", "rounds", "creates_nan"),
    *("cotangent_mask", "moves_keys", "handles_keys", "rewritten_by"),
)
SLOTS = {*RULES, *TRAITS}


# Rules that several families share. `call` is one of sharding_rules.py, `trace` that of lazy_masks.py.


def shard_elementwise(call: Any) -> list:
    """Shard results as the operands, which have equal shapes."""
    return call.elementwise()


def shard_as_first(call: Any) -> list:
    """Shard results as the first operand, which has their shape."""
    return call.as_first()


def shard_resized(call: Any) -> list:
    """Shard results as the first operand, where some dimensions change their size."""
    return call.resized()


def shard_reduced(call: Any) -> list:
    """Shard results as the operand, without the dimensions `axes`."""
    axes = call.params["axes"]
    return [tuple([c for i, c in enumerate(call.cuts[0]) if i not in axes])]


def shard_matrices(*counts: int) -> Callable:
    """Require the last dimensions of each operand to be unsharded; the others are batch dimensions."""
    return lambda call: call.batched(counts)


def mask_all(trace: Any, primitive: Any, args: tuple, params: dict, out: Any) -> Any:
    """Compute all elements, also unselected ones."""
    return trace.bind(primitive, args, params, out)


def mask_filled(axes: str, neutral: Callable[[Any], Any]) -> Callable:
    """Fill unselected elements along the axes of this parameter with the dtype's neutral element."""

    def rule(trace: Any, primitive: Any, args: tuple, params: dict, out: Any) -> Any:
        (x,) = args
        filled = trace.filled(x, _tuple(params[axes]), neutral(x.dtype))
        return trace.bind(primitive, [filled], params, out)

    return rule


def mask_other_axes(axes: str) -> Callable:
    """Compute all elements, unless an axis of this parameter belongs to a view."""

    def rule(trace: Any, primitive: Any, args: tuple, params: dict, out: Any) -> Any:
        return trace.bind_other_axes(_tuple(params[axes]), primitive, args, params, out)

    return rule


def _tuple(axes: Any) -> tuple:
    return axes if isinstance(axes, tuple) else (axes,)


def operand_size(operands: Any, results: Any, params: dict) -> float:
    """Count one operation for each element of the largest operand."""
    return max([a.size for a in operands], default=0)


def matrix_size(operands: Any, results: Any, params: dict) -> float:
    """Count as many operations for each element of the result as a matrix has columns."""
    return max([a.size for a in results], default=0) * operands[0].shape[-1]


WHOLE = Family(
    "an operation on arrays that passes know nothing more about",
    fusion=Fusion.SEPARATE,
    latency=0,
    recomputes=Recompute.ONCE,
    cost=1,
    host_cost=1,
    rounds=True,
    creates_nan=True,
    cotangent_mask=CotangentMask.DROPPED,
    moves_keys=False,
    handles_keys=False,
    rewritten_by=Pass.NONE,
    shard_rule=Default("an element of the result may depend on all of each operand"),
    mask_rule=Default("it needs the selected elements contiguously"),
    index_rule=Default("no operand is an index"),
    wide_rule=Default("it does not count in integers, or wraps around on purpose"),
    check_rule=Default("it has no jaxpr: its operands and results are checked"),
    key_rule=Default("its results are no keys, or keys of unknown origin"),
    discharge_rule=Default("it computes with arrays: references are read before"),
)
# of a primitive that a user registers; `sagax.interpreters` overrides its answers
UNKNOWN = WHOLE.but("registered outside of sagax: the safe answers")
FORMULA = WHOLE.but(
    "elementwise, by a long formula such as a sine's",
    fusion=Fusion.INLINE,
    latency=20,
    shard_rule=shard_elementwise,
    mask_rule=mask_all,
)
EXPENSIVE = FORMULA.but(
    "elementwise, and too expensive for XLA to recompute", fusion=Fusion.EXPENSIVE
)
SIMPLE = FORMULA.but("elementwise, and about as fast as a sum", latency=1)
EXACT = SIMPLE.but(
    "elementwise, with exact results or elements of its operands", rounds=False, creates_nan=False
)
MOVEMENT = WHOLE.but(
    "moves the elements of its operands to other indices",
    fusion=Fusion.MOVES_ELEMENTS,
    cost=0,
    rounds=False,
    creates_nan=False,
    cotangent_mask=CotangentMask.MOVED,
    moves_keys=True,
)
JOINING = MOVEMENT.but(
    "selects an operand for each element of the result",
    recomputes=Recompute.CONDITIONALLY,
)
# its results are its operands, or the same numbers under another name
IDENTITY = MOVEMENT.but(
    "returns the elements of its operand at their indices",
    fusion=Fusion.INLINE,
    moves_keys=False,
    shard_rule=shard_as_first,
    mask_rule=mask_all,
)


def passes_elements(eqn: Any) -> bool:
    """Return whether the result consists of elements of the one operand, maybe in another dtype."""
    return len(eqn.invars) == len(eqn.outvars) == 1 and eqn.primitive.family in (MOVEMENT, IDENTITY)


REDUCTION = WHOLE.but(
    "reduces axes",
    fusion=Fusion.REDUCES,
    cost=operand_size,
    shard_rule=shard_reduced,
)
MATRICES = WHOLE.but("operates on whole matrices", shard_rule=shard_matrices(2))
KEYS = WHOLE.but("creates or consumes keys", fusion=Fusion.INLINE, handles_keys=True)
# Checks and key tracking inside of jaxprs: every higher-order primitive answers both
HIGHER_ORDER = WHOLE.but(
    "applies a jaxpr",
    shard_rule=Default("the types of its results are those of its jaxpr's outputs"),
    check_rule=None,
    key_rule=None,
)
UNTRACKED = Default("keys that pass through its jaxpr are of unknown origin")
COMBINING = HIGHER_ORDER.but(
    "applies a jaxpr that combines two elements",
    check_rule=Default("the jaxpr operates on scalars: operands and results are checked"),
    key_rule=UNTRACKED,
)
# Collectives, callbacks, custom calls: their own rules define the types of results
OPAQUE = WHOLE.but(
    "runs on other devices, or outside of XLA",
    shard_rule=Default("its abstract rule sets the shardings of results"),
)
