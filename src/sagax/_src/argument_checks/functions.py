"""Check arguments and results of higher-order functions."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.core.avals import ShapedArray
from sagax._src.core.references import Ref
from sagax._src.core.value import Array, is_operand, not_an_array
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError, describe


def kind_of(x: Any) -> str:
    """Describe a user's value for messages: "an array of type float32[3]", "a tuple of length 2"."""
    if x is None:
        return "None"
    if isinstance(x, (Array, np.ndarray)):
        return f"an array of type {describe(x)}"
    if isinstance(x, ShapedArray):
        return f"an array of type {describe(x)}"
    if isinstance(x, (str, bytes, bool, int, float, complex)):
        return f"{x!r:.60}, of type {type(x).__name__}"
    if type(x) in (tuple, list):
        return f"a {type(x).__name__} of length {len(x)}"
    if type(x) is dict:
        return f"a dict with keys {', '.join(map(repr, list(x)[:8]))}" if x else "an empty dict"
    if isinstance(x, type):
        return f"the class {x.__name__}"
    if callable(x) and hasattr(x, "__qualname__"):
        return f"the function {function_name(x)}"
    return f"a value of type {type(x).__name__}"


def unusable_leaf(x: Any, function: str, path: str, alternative: str = "") -> SagaxError:
    """Return the error for a leaf that is neither array nor number.

    Args:     function: the called function.     path: the user's name for the leaf.
    alternative: another way to pass such a value.
    """
    if isinstance(x, np.ma.MaskedArray):
        return ArgumentValueError(
            "numpy masked arrays are not supported: the mask would be lost",
            function=function,
            argument=path,
            got=x,
            fix="fill the masked elements, x.filled(value), and pass the mask as an array of its own",
        )
    error = not_an_array(x)
    error.facts.update(fix=_advice(x, alternative), leaf=x)
    return error.attach(function=function, argument=path)


_ARRAY_ADVICE = {
    "O": "give all rows one length and the array a dtype: numpy.array(rows, dtype='float32')",
    "U": "convert it to numbers first, such as x.astype('float32')",
    "S": "convert it to numbers first, such as x.astype('float32')",
    "M": "convert it to numbers first, such as (x - x[0]) / numpy.timedelta64(1, 's')",
    "m": "convert it to numbers first, such as x / numpy.timedelta64(1, 's')",
    "V": "pass a dict with an array for each field: {name: x[name] for name in x.dtype.names}",
}


def _advice(x: Any, alternative: str) -> str:
    if x is None:
        return "pass an array or a number"
    if isinstance(x, (np.ndarray, np.generic)) and not isinstance(x, (str, bytes)):
        return _ARRAY_ADVICE.get(
            x.dtype.kind, "convert it to a narrower dtype: x.astype('float64')"
        )
    if hint := trees.container_hint(x):
        return hint
    if isinstance(x, (str, bytes)) or callable(x):
        return alternative or "only arrays and numbers can be passed"
    if isinstance(x, numbers.Number) or hasattr(type(x), "__float__"):
        return "convert it to a number: float(x)"
    if hasattr(x, "__array__"):  # a column or a table of pandas
        return "make an array of it first: numpy.asarray(x)"
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return "pass an array: this has a type but no values (eval_shape and lower take such)"
    if isinstance(x, Iterable):
        return "make an array of it first: numpy.array(list(x))"
    register = (
        f"register {type(x).__name__} as a pytree (sagax.tree_util.register_dataclass or "
        "register_pytree_node)"
    )
    return f"{register}, or {alternative}" if alternative else register


def check_function(
    f: Any, message: str, function: str, argument: str, fix: str | None = None
) -> None:
    """Raise `message` unless `f` can be called."""
    if not callable(f):
        raise ArgumentError(
            message,
            function=function,
            argument=argument,
            got=kind_of(f),
            expected="a function",
            fix=fix,
        )


def check_results(
    outs: Sequence[Any], result: Any, function: str, fun: Any, fix: str | None = None
) -> None:
    """Raise, naming the leaf, unless all leaves `outs` of what `fun` returned are arrays or numbers."""
    for i, x in enumerate(outs):
        if not is_operand(x):
            path = trees.argument_path("result", trees.key_paths(result)[i])
            if type(x) is Ref:
                raise ArgumentValueError(
                    f"{function_name(fun)} returned a reference of type {x.aval!r}, and mutable array "
                    "references cannot be returned",
                    function=function,
                    argument=path,
                    got=repr(x.aval),
                    fix="return its contents: ref[...]; the caller has the reference if it passed it in",
                )
            raise ArgumentError(
                f"{function_name(fun)} returned a value of type {type(x).__name__}, which is not a "
                "valid JAX type",
                function=function,
                argument=path,
                got=kind_of(x),
                expected="an array or a number",
                fix=fix or "return arrays and numbers; keep other results outside",
                leaf=x,  # the error knows the value
            )


def structure_error(
    function: str,
    headline: str,
    found: Sequence[Any],
    fix: str | None = None,
    kind: Any = ArgumentError,
) -> SagaxError:
    """Return the error for trees that differ at the paths `found` (`trees.structure_mismatch`)."""
    error = trees.mismatch_error(function, headline, found, kind=kind)
    return error.attach(fix=fix) if fix else error  # type: ignore[attr-defined,return-value]
