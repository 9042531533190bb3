"""Answer what passes ask of a primitive, for whole families of primitives.

Besides its rules a primitive has traits, by which passes over jaxprs decide. A family answers every
slot; a primitive of it says what differs. Where there is no rule, a `Default` gives the reason.

    fusion          how the compiler merges it with its readers
    latency         operations in a row that an element of the result takes
    recomputes      whether an operand that is merged into it is computed again, or at a condition
    cost            floating point operations: for each element of the result, or f(operands, results, params)
    host_cost       weight in an eager function that NumPy does (tuning.NUMPY_MAX_PRIMITIVES); rows: eager-take, kernel-sort
    rounds          whether results may be rounded: they are neither exact nor among the operands' numbers
    creates_nan     whether a NaN in a result may be a new one
    cotangent_mask  what becomes, in its transpose, of the mask of a cotangent that is partly zero
    moves_keys      its NumPy reference, run on ids of keys, tells which keys results hold
    handles_keys    it makes or uses keys: without a `key` rule of its own it uses those that it is given
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Default:
    """The answer of a primitive that has no rule, with its reason."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"Default({self.reason!r})"


# Answers of one of several: numbers, as an `enum` takes time to make when sagax is imported.


class Fusion:
    """How the compiler merges an operation with those that read its result."""

    INLINE = 0  # computed wherever it is read
    MOVES_ELEMENTS = 1  # so too, and at a place of its own within each reader
    EXPENSIVE = 2  # written to memory where it has several readers
    REDUCES = 3  # its operands are merged into it, it is written
    SEPARATE = 4  # nothing is merged with it


class Recompute:
    """How often an operation computes an operand that is merged into it."""

    ONCE = 0
    CONDITIONALLY = 1  # for those elements of the result that it is the source of
    REPEATEDLY = 2  # for several elements of the result


class CotangentMask:
    """What becomes of the mask of a cotangent in the transpose of a linear operation."""

    DROPPED = 0
    MOVED = 1  # as the cotangent is: elements are moved, added, chosen or scaled by nonzero numbers
    SCALED = 2  # so too, and the factors, which may be infinite, are put out of the way
    SELECTED = 3  # a selection makes a mask
    INSIDE = 4  # it is followed through the jaxpr that is called


class Indices(NamedTuple):
    """Which operands are indices: one array of index vectors, or a scalar for each axis."""

    operands: slice
    axes: Sequence[int]
    window: Sequence[Any]  # for each dimension the size of what starts at an index


class Family:
    """Answers to every slot, for primitives of one kind."""

    __slots__ = ("answers", "reason")

    def __init__(self, reason: str, **answers: Any) -> None:
        if answers.keys() != SLOTS:
            raise TypeError(f"a family answers every slot; look at {answers.keys() ^ SLOTS}")
        self.reason = reason
        self.answers = answers

    def but(self, reason: str, **answers: Any) -> Family:
        """A family that answers some slots in another way."""
        return Family(reason, **{**self.answers, **answers})

    def __repr__(self) -> str:
        return f"Family({self.reason!r})"


RULES = ("shard_rule", "mask_rule", "index_rule", "wide_rule", "check_rule", "key_rule")
TRAITS = (
    *("fusion", "latency", "recomputes", "cost", "host_cost", "rounds", "creates_nan"),
    *("cotangent_mask", "moves_keys", "handles_keys"),
)
SLOTS = {*RULES, *TRAITS}


# Rules that several families share. `call` is one of sharding_rules.py, `trace` that of lazy_masks.py.


def shard_elementwise(call: Any) -> list:
    """Operands of one shape, which results have as well."""
    return call.elementwise()


def shard_as_first(call: Any) -> list:
    """Results are divided as the first operand, whose shape they have."""
    return call.as_first()


def shard_resized(call: Any) -> list:
    """As the first operand, some of whose dimensions change their size."""
    return call.resized()


def shard_reduced(call: Any) -> list:
    """As the operand, without the dimensions `axes`."""
    axes = call.params["axes"]
    return [tuple([c for i, c in enumerate(call.cuts[0]) if i not in axes])]


def shard_matrices(*counts: int) -> Callable:
    """So many last dimensions of each operand are whole, those before are a batch."""
    return lambda call: call.batched(counts)


def mask_all(trace: Any, primitive: Any, args: tuple, params: dict, out: Any) -> Any:
    """Done on all elements, also on those that are not selected."""
    return trace.bind(primitive, args, params, out)


def mask_filled(axes: str, neutral: Callable[[Any], Any]) -> Callable:
    """Along the axes of this parameter, what is not selected is the neutral element of the dtype."""

    def rule(trace: Any, primitive: Any, args: tuple, params: dict, out: Any) -> Any:
        (x,) = args
        filled = trace.filled(x, _tuple(params[axes]), neutral(x.dtype))
        return trace.bind(primitive, [filled], params, out)

    return rule


def mask_beside(axes: str) -> Callable:
    """Done on all elements, unless an axis of this parameter is one of a view."""

    def rule(trace: Any, primitive: Any, args: tuple, params: dict, out: Any) -> Any:
        return trace.bind_beside(_tuple(params[axes]), primitive, args, params, out)

    return rule


def _tuple(axes: Any) -> tuple:
    return axes if isinstance(axes, tuple) else (axes,)


def operand_size(operands: Any, results: Any, params: dict) -> float:
    """An operation for each element of the largest operand."""
    return max([a.size for a in operands], default=0)


def matrix_size(operands: Any, results: Any, params: dict) -> float:
    """As many operations for each element of the result as a matrix has columns."""
    return max([a.size for a in results], default=0) * operands[0].shape[-1]


WHOLE = Family(
    "an operation on arrays, of which passes know nothing more",
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
    shard_rule=Default("an element of the result may depend on all of each operand"),
    mask_rule=Default("it needs the selected elements side by side"),
    index_rule=Default("no operand is an index"),
    wide_rule=Default("it does not count in integers, or wraps around on purpose"),
    check_rule=Default("it holds no jaxpr: its operands and results are looked at"),
    key_rule=Default("what it gives are no keys, or keys of unknown origin"),
)
# of a primitive that a user registers, who may say more through `sagax.interpreters`
UNKNOWN = WHOLE.but("made outside of sagax: the safe answers")
FORMULA = WHOLE.but(
    "computed for each element alone, by a long formula such as a sine's",
    fusion=Fusion.INLINE,
    latency=20,
    shard_rule=shard_elementwise,
    mask_rule=mask_all,
)
EXPENSIVE = FORMULA.but(
    "takes the processor so long that XLA computes it once", fusion=Fusion.EXPENSIVE
)
SIMPLE = FORMULA.but("takes about as long as a sum", latency=1)
EXACT = SIMPLE.but("gives exact numbers, or those of its operands", rounds=False, creates_nan=False)
MOVEMENT = WHOLE.but(
    "puts the elements of its operands in other places",
    fusion=Fusion.MOVES_ELEMENTS,
    cost=0,
    rounds=False,
    creates_nan=False,
    cotangent_mask=CotangentMask.MOVED,
    moves_keys=True,
)
JOINING = MOVEMENT.but(
    "chooses for each element of the result the operand that it is of",
    recomputes=Recompute.CONDITIONALLY,
)
# its results are its operands, or name the same numbers in another way
IDENTITY = MOVEMENT.but(
    "gives the numbers of its operand in their places",
    fusion=Fusion.INLINE,
    moves_keys=False,
    shard_rule=shard_as_first,
    mask_rule=mask_all,
)
REDUCTION = WHOLE.but(
    "combines elements along axes",
    fusion=Fusion.REDUCES,
    cost=operand_size,
    shard_rule=shard_reduced,
)
MATRICES = WHOLE.but("works on whole matrices", shard_rule=shard_matrices(2))
KEYS = WHOLE.but("makes or uses keys", fusion=Fusion.INLINE, handles_keys=True)
# Checks and keys inside of a jaxpr: each primitive that holds one is asked for both
HIGHER_ORDER = WHOLE.but(
    "holds a jaxpr",
    shard_rule=Default("the types of its results are those that its jaxpr gives"),
    check_rule=None,
    key_rule=None,
)
UNTRACKED = Default("keys that pass through its jaxpr are of unknown origin")
COMBINING = HIGHER_ORDER.but(
    "holds a jaxpr that combines two elements",
    check_rule=Default("the jaxpr works on scalars: operands and results are looked at"),
    key_rule=UNTRACKED,
)
# Collectives, callbacks, custom calls: rules of their own say the types of their results
OPAQUE = WHOLE.but(
    "done beside the program: on other devices, or outside of XLA",
    shard_rule=Default("its abstract rule says how results are divided"),
)

__all__ = [
    "COMBINING", "EXACT", "EXPENSIVE", "FORMULA", "HIGHER_ORDER", "IDENTITY", "JOINING", "KEYS", "MATRICES", "MOVEMENT", "OPAQUE", "REDUCTION", "RULES", "SIMPLE", "SLOTS", "TRAITS",
    "UNKNOWN", "UNTRACKED", "WHOLE", "CotangentMask", "Default", "Family", "Fusion", "Indices", "Recompute", "mask_all", "mask_beside", "mask_filled",
    "matrix_size", "operand_size", "shard_as_first", "shard_elementwise", "shard_matrices", "shard_reduced", "shard_resized",
]  # fmt: skip
