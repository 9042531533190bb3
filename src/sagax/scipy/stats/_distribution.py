"""Make the functions of distributions: promote arguments, derive formulas, write docstrings."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec

import sagax.numpy as snp
import sagax.numpy._base as _base
from sagax._src.core import dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.primitives.structural import full_of
from sagax.numpy._fused import fused

_P = ParamSpec("_P")
Weak = Literal["never", "numbers", "arrays"]

# The first line of each docstring; `{}` is the name of the first argument.
_SUMMARIES = {
    "logpdf": "Compute the logarithm of the probability density at `{}`.",
    "pdf": "Compute the probability density at `{}`.",
    "logpmf": "Compute the logarithm of the probability of `{}`.",
    "pmf": "Compute the probability of `{}`.",
    "entropy": "Return the entropy of the distribution with mean `{}`, in nats.",
    "cdf": "Compute the cumulative distribution function: the probability of at most `{}`.",
    "logcdf": "Compute the logarithm of the cumulative distribution function at `{}`.",
    "sf": "Compute the survival function, 1 - cdf: the probability of more than `{}`.",
    "logsf": "Compute the logarithm of the survival function at `{}`.",
    "ppf": "Compute the quantile at `{}`: the inverse of cdf.",
    "isf": "Compute the inverse of the survival function at `{}`.",
}


def promoting(formula: Callable[_P, Array]) -> Callable[_P, Array]:
    """Promote arguments to floating point arrays of their common dtype, then apply `formula`."""
    return _promoting(formula, formula)


def _promoting(formula: Callable[_P, Array], evaluate: Callable[..., Array]) -> Callable[_P, Array]:
    """Promote the arguments of `formula`, then apply `evaluate`."""
    signature = inspect.signature(formula)
    name = formula.__name__

    def promoted(*args: Any) -> Array:
        bound = signature.bind(*args)
        bound.apply_defaults()
        operands = [_base.as_operand(name, x, i) for i, x in enumerate(bound.args)]
        return evaluate(*[_held(name, x) for x in _base.promote_inexact(name, *operands)])

    promoted.__name__ = name
    run = fused(promoted)

    @functools.wraps(formula)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> Array:
        if not kwargs:
            return run(*args)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()  # without them an argument that is left out would hide those after it
        return run(*bound.args)

    return call


def _held(function: str, x: Any) -> Any:
    """Convert an operand to an array; a jaxpr computes that of a number from a literal, and does not take it as an operand."""
    if isinstance(x, Array) or aval_of(x).shape:
        return _base.as_array(function, x)
    return full_of(aval_of(x), x)


@dataclass(frozen=True)
class Distribution:
    """Declare a univariate distribution: its name, and for docstrings its density and parameters.

    `valid` tells of the parameters that it names where the distribution exists; scales are positive.
    `complex_too`: its formulas compare nothing, and take complex numbers, as analytic functions do.
    """

    name: str
    density: str
    parameters: str
    valid: Callable[..., Any] | None = None
    complex_too: bool = False

    def function(
        self, arguments: str, result: str, *, weak: Weak = "numbers"
    ) -> Callable[[Callable[_P, Array]], Callable[_P, Array]]:
        """Make a public function of a formula, whose name tells what it computes.

        The docstring has an example: the function gives `result` for `arguments`. `weak` tells
        which results have a weak type, if no argument has a strong floating point type.
        """
        weak_type = "" if weak == "never" else ", weak_type=True"

        def decorate(formula: Callable[_P, Array]) -> Callable[_P, Array]:
            function = formula.__name__
            parameters = tuple(inspect.signature(formula).parameters)
            first = parameters[0]
            formula.__doc__ = f"""{_SUMMARIES[function].format(first)}

    {self.density}
    {self.parameters} Arguments broadcast, and become floating point.
    NaN where a parameter is not valid, or an argument is NaN.

    >>> from sagax.scipy.stats import {self.name}
    >>> {self.name}.{function}({arguments})
    Array({result}, dtype=float32{weak_type})
    """

            def evaluate(*args: Any) -> Array:
                if not self.complex_too and dtypes.is_complex(args[0].dtype):
                    wanted = "real numbers, as all arguments of a distribution"
                    raise ArgumentError.about(function, first, args[0], wanted)
                found = formula(*args)  # type: ignore[call-arg]
                exists = self._exists(dict(zip(parameters, args)))
                found = found + snp.where(
                    exists, 0.0, snp.nan
                )  # derivatives stay those of the formula
                is_weak = weak == "arrays" or (weak == "numbers" and not args[0].ndim)
                return found if is_weak else _base.strong(found)

            return _promoting(formula, evaluate)

        return decorate

    def _exists(self, arguments: dict[str, Any]) -> Any:
        """Tell where a function is defined: comparisons with NaN are false."""
        names = tuple(arguments)
        at = arguments[names[0]]
        conditions = [(at >= 0) & (at <= 1) if names[0] == "q" else at == at]
        if "loc" in arguments:
            conditions.append(arguments["loc"] == arguments["loc"])
        if "scale" in arguments:
            conditions.append(arguments["scale"] > 0)
        if self.valid is not None:
            named = inspect.signature(self.valid).parameters
            conditions.append(self.valid(*[arguments[name] for name in named]))
        return functools.reduce(operator.and_, conditions)


def exp_of(logarithm: Callable[_P, Array]) -> Callable[_P, Array]:
    """Exponentiate logpdf, logpmf, logcdf or logsf: the formula of that name without "log"."""
    return _derived(snp.exp, logarithm, logarithm.__name__.removeprefix("log"))


def log_of(probability: Callable[_P, Array]) -> Callable[_P, Array]:
    """Take the logarithm of cdf or sf: the formula of that name with "log" before it."""
    return _derived(_log_probability, probability, "log" + probability.__name__)


def _log_probability(p: Any) -> Array:
    """Compute log(p); where p is 0 the derivative is 0, not the quotient of zeros."""
    return snp.where(p == 0, -snp.inf, snp.log(snp.where(p == 0, 1, p)))


def _derived(
    outer: Callable[[Any], Array], inner: Callable[_P, Array], name: str
) -> Callable[_P, Array]:
    promoted: Callable[..., Array] = vars(inner)["__wrapped__"]  # does not promote once more

    @functools.wraps(inner)
    def formula(*args: _P.args, **kwargs: _P.kwargs) -> Array:
        return outer(promoted(*args, **kwargs))

    formula.__name__ = formula.__qualname__ = name
    return formula


def inside(condition: Any, found: Any) -> Array:
    """Select a log probability where `condition` holds, minus infinity elsewhere."""
    return snp.where(condition, found, -snp.inf)
