"""Define the precision and the algorithms of matrix products."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sagax._src import config
from sagax._src.core import dtype_predicates, dtypes
from sagax._src.diagnostics.errors import ArgumentValueError


class Precision(enum.Enum):
    """Select the precision of matrix products of narrow floats, on hardware with several.

    It may be made from the names that `precision` takes, such as "highest" or "tensorfloat32".

    >>> lax.Precision("float32")
    Precision.HIGHEST
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value: object) -> Precision | None:
        known = value is None or isinstance(value, str)
        return (_LEVELS.get(value) or cls.DEFAULT) if known and value in _LEVELS else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __str__(self) -> str:
        return self.name


class DotAlgorithm(NamedTuple):
    """Specify an algorithm for matrix products, as the `precision` of `dot`, `dot_general` and others.

    Operands are rounded to `lhs_precision_type` and `rhs_precision_type`, and products are summed in
    `accumulation_type`. An algorithm that emulates a wider type by narrow ones splits the operands into
    `lhs_component_count` and `rhs_component_count` components, and computes `num_primitive_operations`
    products of them. With `allow_imprecise_accumulation` some sums may be computed in a narrower type.

    An algorithm that a device lacks is an error at compile time; the CPU has those marked so in
    `DotAlgorithmPreset`. The fields are those of StableHLO's `dot_algorithm`.

    >>> lax.DotAlgorithm("float16", "float16", "float32").num_primitive_operations
    1
    """

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


_F16, _F32, _F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
_BF16 = np.dtype(dtypes.bfloat16)
# Presets that take their types from the operands, and a type that no array has.
_ANY_F8, _ANY, _TF32 = "any float8", "any", "tf32"


class _Recipe(NamedTuple):
    """The definition of a preset: an algorithm, and the dtypes in which its operands may be stored."""

    name: str
    algorithm: DotAlgorithm
    stored: tuple = ()
    on_cpu: bool = False


def _recipe(name: str, factor: Any, total: Any, stored: Sequence[Any] = (), **more: Any) -> _Recipe:
    on_cpu = more.pop("on_cpu", False)
    return _Recipe(name, DotAlgorithm(factor, factor, total, **more), tuple(stored), on_cpu)


class DotAlgorithmPreset(enum.Enum):
    """Name the algorithms for matrix products that some device supports.

    Names are LHS_RHS_ACCUMULATION. `_X3`, `_X6` and `_X9` compute that many products of narrow components
    to emulate the wider type; `_FAST_ACCUM` may sum in a narrower one. The operands are converted to a
    dtype of the algorithm, and the result to theirs, or to the `preferred_element_type`. On the
    CPU DEFAULT, F16_F16_F16, BF16_BF16_F32, BF16_BF16_F32_X3,
    BF16_BF16_F32_X6, F32_F32_F32 and F64_F64_F64 are accepted.

    >>> x = np.ones((2, 2), np.float32)
    >>> lax.dot(x, x, precision=lax.DotAlgorithmPreset.F32_F32_F32).dtype
    dtype('float32')
    """

    DEFAULT = None
    ANY_F8_ANY_F8_F32 = _recipe("ANY_F8_ANY_F8_F32", _ANY_F8, _F32)
    ANY_F8_ANY_F8_F32_FAST_ACCUM = _recipe(
        "ANY_F8_ANY_F8_F32_FAST_ACCUM", _ANY_F8, _F32, allow_imprecise_accumulation=True
    )
    ANY_F8_ANY_F8_ANY = _recipe("ANY_F8_ANY_F8_ANY", _ANY_F8, _ANY)
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = _recipe(
        "ANY_F8_ANY_F8_ANY_FAST_ACCUM", _ANY_F8, _ANY, allow_imprecise_accumulation=True
    )
    F16_F16_F16 = _recipe("F16_F16_F16", _F16, _F16, [_F16], on_cpu=True)
    F16_F16_F32 = _recipe("F16_F16_F32", _F16, _F32, [_F16])
    BF16_BF16_BF16 = _recipe("BF16_BF16_BF16", _BF16, _BF16, [_BF16, _F32])
    BF16_BF16_F32 = _recipe("BF16_BF16_F32", _BF16, _F32, [_BF16, _F32], on_cpu=True)
    BF16_BF16_F32_X3 = _recipe(
        "BF16_BF16_F32_X3", _BF16, _F32, [_F32], num_primitive_operations=3, on_cpu=True
    )
    BF16_BF16_F32_X6 = _recipe(
        "BF16_BF16_F32_X6", _BF16, _F32, [_F32], num_primitive_operations=6, on_cpu=True
    )
    BF16_BF16_F32_X9 = _recipe("BF16_BF16_F32_X9", _BF16, _F32, [_F32], num_primitive_operations=9)
    TF32_TF32_F32 = _recipe("TF32_TF32_F32", _TF32, _F32, [_F32])
    TF32_TF32_F32_X3 = _recipe("TF32_TF32_F32_X3", _TF32, _F32, [_F32], num_primitive_operations=3)
    F32_F32_F32 = _recipe("F32_F32_F32", _F32, _F32, [_F32], on_cpu=True)
    F64_F64_F64 = _recipe("F64_F64_F64", _F64, _F64, [_F64], on_cpu=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __str__(self) -> str:
        return self.name


DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]
PrecisionLike = (
    None
    | str
    | Precision
    | tuple[str, str]
    | tuple[Precision, Precision]
    | DotAlgorithm
    | DotAlgorithmPreset
)

_LEVELS = {
    None: None, "default": Precision.DEFAULT, "fastest": Precision.DEFAULT, "bfloat16": Precision.DEFAULT,
    "high": Precision.HIGH, "bfloat16_3x": Precision.HIGH, "tensorfloat32": Precision.HIGH,
    "highest": Precision.HIGHEST, "float32": Precision.HIGHEST,
}  # fmt: skip
_PRESETS = DotAlgorithmPreset.__members__


def canonical_precision(precision: Any, function: str = "dot_general") -> Any:
    """Convert a precision argument to levels for both operands, to an algorithm, or to None for the default."""
    if precision is None:
        precision = config.current().matmul_precision
        if precision is None:
            return None
    if isinstance(precision, (DotAlgorithm, DotAlgorithmPreset)):
        return precision
    if isinstance(precision, str) and precision in _PRESETS:
        return _PRESETS[precision]
    if isinstance(precision, (tuple, list)) and len(precision) == 2:
        pair = tuple(_level(p, function, precision) for p in precision)
        return None if pair == (None, None) else tuple(p or Precision.DEFAULT for p in pair)
    one = _level(precision, function, precision)
    return None if one is None else (one, one)


def canonical_levels(precision: Any, function: str) -> tuple[Precision, Precision] | None:
    """Convert a precision argument to levels, for operations that support no algorithms."""
    found = canonical_precision(precision, function)
    if found is DotAlgorithmPreset.DEFAULT:
        return None
    if isinstance(found, (DotAlgorithm, DotAlgorithmPreset)):
        if precision is None:  # a setting, for operations that support algorithms
            return None
        raise ArgumentValueError(
            f"{function} takes no algorithm for its products",
            function=function,
            argument="precision",
            got=found,
            expected="None, a Precision, one of its names, or a pair of them",
        )
    return found


def _level(p: Any, function: str, whole: Any) -> Precision | None:
    if p is None or isinstance(p, Precision):
        return p
    if isinstance(p, str) and p.lower() in _LEVELS:
        return _LEVELS[p.lower()]
    raise ArgumentValueError(
        function=function,
        argument="precision",
        got=whole,
        expected=(
            "None, a Precision, one of its names ("
            + ", ".join(repr(name) for name in _LEVELS if name)
            + "), a pair of them, a DotAlgorithm, or a DotAlgorithmPreset or its name"
        ),
    )


def is_algorithm(precision: Any) -> bool:
    """Return whether a canonical precision is an algorithm, not levels."""
    return isinstance(precision, DotAlgorithm) or (
        isinstance(precision, DotAlgorithmPreset) and precision.value is not None
    )


def levels(precision: Any) -> tuple[Precision, Precision]:
    """Return the levels of both operands, also for an algorithm."""
    return precision if type(precision) is tuple else (Precision.DEFAULT, Precision.DEFAULT)


def flipped(precision: Any) -> Any:
    """Return a canonical precision for the product with swapped operands."""
    if type(precision) is tuple:
        return precision[::-1]
    if isinstance(precision, DotAlgorithm):
        return precision._replace(
            lhs_precision_type=precision.rhs_precision_type,
            rhs_precision_type=precision.lhs_precision_type,
            lhs_component_count=precision.rhs_component_count,
            rhs_component_count=precision.lhs_component_count,
        )
    return precision


class Plan(NamedTuple):
    """An algorithm with the dtypes of its operands and of the product, and its text."""

    lhs: Any
    rhs: Any
    out: Any
    text: str


def plan(
    precision: Any, lhs: Any, rhs: Any, out: Any, platform: str, spelled: Callable[[Any], str]
) -> Plan:
    """Plan the product of operands of dtypes `lhs` and `rhs` into `out` by an algorithm.

    `spelled` formats a dtype for the module. Raises ArgumentValueError if `platform` lacks the algorithm.
    """
    recipe = precision.value if isinstance(precision, DotAlgorithmPreset) else None
    if platform == "cpu" and not (recipe is not None and recipe.on_cpu):
        raise ArgumentValueError(
            f"The precision '{precision}' is not supported by dot_general on CPU",
            function="dot_general",
            argument="precision",
            got=precision,
            expected="one of " + ", ".join(p.name for p in DotAlgorithmPreset if _works_on_cpu(p)),
            fix="leave precision out, or choose the algorithm with lax.platform_dependent",
        )
    algorithm: Any
    stored: tuple
    if recipe is None:
        algorithm, stored = precision, ()
    else:
        algorithm, stored = recipe.algorithm, recipe.stored
    factors = []
    for factor, dtype in (
        (algorithm.lhs_precision_type, lhs),
        (algorithm.rhs_precision_type, rhs),
    ):
        if factor is _ANY_F8:
            if dtypes.itemsize_bits(dtype) != 8 or not dtype_predicates.is_floating(dtype):
                raise ArgumentValueError(
                    f"The dot algorithm '{precision}' requires both inputs to have float8 dtypes.",
                    function="dot_general",
                    argument="precision",
                    got=f"operands of dtypes {dtypes.name(lhs)} and {dtypes.name(rhs)}",
                )
            factor = dtype
        factors.append(factor)
    left, right = (dtype if not stored or dtype in stored else stored[0] for dtype in (lhs, rhs))
    total = out if algorithm.accumulation_type is _ANY else algorithm.accumulation_type
    names = [_TF32 if t is _TF32 else spelled(np.dtype(t)) for t in (*factors, total)]
    fields = [
        f"lhs_precision_type = {names[0]}",
        f"rhs_precision_type = {names[1]}",
        f"accumulation_type = {names[2]}",
        f"lhs_component_count = {algorithm.lhs_component_count}",
        f"rhs_component_count = {algorithm.rhs_component_count}",
        f"num_primitive_operations = {algorithm.num_primitive_operations}",
        f"allow_imprecise_accumulation = {str(algorithm.allow_imprecise_accumulation).lower()}",
    ]
    text = f"#stablehlo.dot_algorithm<{', '.join(fields)}>"
    return Plan(left, right, np.dtype(total), text)


def _works_on_cpu(preset: DotAlgorithmPreset) -> bool:
    return preset.value is None or preset.value.on_cpu
