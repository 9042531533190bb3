"""Parse the dimension numbers of convolutions: batch, feature and spatial dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sagax._src.diagnostics.errors import ArgumentError, ShapeError


class ConvDimensionNumbers(NamedTuple):
    """Assign roles to the dimensions of the operands and the result of a convolution.

    `lhs_spec` and `out_spec` hold the dimension numbers of batch, feature and the spatial
    dimensions; `rhs_spec` those of output feature, input feature and the spatial dimensions.

    >>> from sagax import lax
    >>> lax.conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), ('NHWC', 'HWIO', 'NHWC')).lhs_spec
    (0, 3, 1, 2)
    """

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]

    def text(self) -> str:
        """Return the attribute of a StableHLO convolution."""
        names = (("b", "f"), ("o", "i"), ("b", "f"))
        lhs, rhs, out = (_letters(spec, *name) for spec, name in zip(self, names))
        return f"#stablehlo.conv<[{lhs}]x[{rhs}]->[{out}]>"


def _letters(spec: Sequence[int], first: str, second: str) -> str:
    names = [""] * len(spec)
    for name, d in zip((first, second, *map(str, range(len(spec) - 2))), spec):
        names[d] = name
    return ", ".join(names)


ConvGeneralDilatedDimensionNumbers = tuple[str, str, str] | ConvDimensionNumbers | None

_ROLES = ("lhs", "rhs", "the result")
_REQUIRED = (("N", "C"), ("O", "I"), ("N", "C"))


def conv_general_permutations(dimension_numbers: Sequence[str]) -> tuple:
    """Return, for lhs, rhs and result, the dimensions that three strings name, in the order of a spec.

    Spatial dimensions are in the order of the second string (that of the kernel).

    >>> from sagax import lax
    >>> lax.conv_general_permutations(('NHWC', 'HWIO', 'NHWC'))
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    return tuple(_from_strings("conv_general_permutations", dimension_numbers))


def _from_strings(function: str, strings: Sequence[str]) -> ConvDimensionNumbers:
    """Parse dimension numbers from three strings of letters."""

    def wrong(i: int, message: str, **facts: Any) -> ArgumentError:
        return ArgumentError(
            f"dimension_numbers[{i}] = {strings[i]!r}, the layout of {_ROLES[i]}, {message}",
            function=function,
            **facts,
        )

    for i, (letters, required) in enumerate(zip(strings, _REQUIRED)):
        for letter in required:
            if letter not in letters:
                raise wrong(
                    i,
                    f"lacks the letter {letter!r}",
                    expected="N (batch) and C (feature) for lhs and the result, O (output feature) "
                    "and I (input feature) for rhs",
                )
        for letter in letters:
            if letters.count(letter) > 1:
                raise wrong(i, f"has the letter {letter!r} more than once")
    kernel = [letter for letter in strings[1] if letter not in _REQUIRED[1]]
    for i, (letters, required) in enumerate(zip(strings, _REQUIRED)):
        spatial = [letter for letter in letters if letter not in required]
        for letter in (*spatial, *kernel):
            if (letter in spatial) != (letter in kernel):
                has, lacks = (i, 1) if letter in spatial else (1, i)
                raise wrong(
                    has,
                    f"has the spatial letter {letter!r}, which dimension_numbers[{lacks}] = "
                    f"{strings[lacks]!r} lacks",
                    expected="the same spatial letters in all three",
                )
    return ConvDimensionNumbers(
        *[
            tuple([letters.index(letter) for letter in (*required, *kernel)])
            for letters, required in zip(strings, _REQUIRED)
        ]
    )


def conv_dimension_numbers(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    dimension_numbers: ConvGeneralDilatedDimensionNumbers,
) -> ConvDimensionNumbers:
    """Convert dimension numbers, as strings or None, to ConvDimensionNumbers.

    Args:
      lhs_shape: shape of the input.
      rhs_shape: shape of the kernel.
      dimension_numbers: three strings such as ('NHWC', 'HWIO', 'NHWC') that name each dimension of
        input, kernel and result: N batch, C feature, O and I output and input feature, and any
        other letters for spatial dimensions. None means batch and feature (output and input
        feature) first. ConvDimensionNumbers are checked.

    Raises ArgumentError, which names the letter, if they are inconsistent.

    >>> from sagax import lax
    >>> lax.conv_dimension_numbers((1, 3, 8), (4, 3, 2), None)
    ConvDimensionNumbers(lhs_spec=(0, 1, 2), rhs_spec=(0, 1, 2), out_spec=(0, 1, 2))
    """
    return numbers_of("conv_dimension_numbers", lhs_shape, rhs_shape, dimension_numbers)


def numbers_of(
    function: str, lhs_shape: Sequence[int], rhs_shape: Sequence[int], numbers: Any
) -> ConvDimensionNumbers:
    ndim = len(lhs_shape)
    if len(rhs_shape) != ndim or ndim < 2:
        raise ShapeError(
            "lhs and rhs must have the same number of dimensions, at least 2",
            function=function,
            got=f"lhs of shape {tuple(lhs_shape)} and rhs of shape {tuple(rhs_shape)}",
        )
    if numbers is None:
        return ConvDimensionNumbers(*[tuple(range(ndim))] * 3)
    if isinstance(numbers, ConvDimensionNumbers):
        for name, spec in zip(numbers._fields, numbers):
            if sorted(spec) != list(range(ndim)):
                raise ArgumentError(
                    function=function,
                    argument=f"dimension_numbers.{name}",
                    got=spec,
                    expected=f"a permutation of the dimensions 0 to {ndim - 1}",
                )
        return ConvDimensionNumbers(*[tuple(map(int, spec)) for spec in numbers])
    if (
        not isinstance(numbers, (tuple, list))
        or len(numbers) != 3
        or not all(isinstance(n, str) for n in numbers)
    ):
        raise ArgumentError(
            function=function,
            argument="dimension_numbers",
            got=numbers,
            expected="None, ConvDimensionNumbers, or three strings like ('NHWC', 'HWIO', 'NHWC')",
        )
    for i, letters in enumerate(numbers):
        if len(letters) != ndim:
            raise ArgumentError(
                f"dimension_numbers[{i}] = {letters!r}, the layout of {_ROLES[i]}, has "
                f"{len(letters)} letters",
                function=function,
                expected=f"{ndim} letters, one for each dimension of lhs {tuple(lhs_shape)} and "
                f"rhs {tuple(rhs_shape)}",
            )
    return _from_strings(function, numbers)


__all__ = [
    "ConvDimensionNumbers",
    "ConvGeneralDilatedDimensionNumbers",
    "conv_dimension_numbers",
    "conv_general_permutations",
    "numbers_of",
]
