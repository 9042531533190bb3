"""Check each gradient for arguments that it cannot depend on."""

from __future__ import annotations

import re
from typing import Any

from sagax._autofix.checks.dataflow import check_zero_gradients, constant_zero
from sagax._src import trees
from sagax._src.api import arguments
from sagax._src.api.tracing_utils import make_jaxpr
from sagax._src.core.trace import Tracer, state
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.errors import ConcretizationTypeError, TracerBoolConversionError
from sagax._src.diagnostics.source import function_code
from sagax._src.diagnostics.spans import user_span

__all__ = ["watch_gradients"]

_MAX_CHECKS = 2  # for each function


def watch_gradients(package: Any, checks: Any) -> None:
    """Check `grad` and `value_and_grad` of a package; `checks` are `RuntimeChecks`."""
    for name in ("value_and_grad", "grad"):
        _watch(package, name, checks)


def _watch(package: Any, name: str, checks: Any) -> None:
    real = package.__dict__[name]

    def transform(
        fun: Any, argnums: Any = 0, has_aux: bool = False, *options: Any, **named: Any
    ) -> Any:
        inner = real(fun, argnums, has_aux, *options, **named)
        count = [0]

        def gradient(*args: Any, **kwargs: Any) -> Any:
            trace: Any = state.trace
            while trace is not None and not hasattr(trace, "equations"):
                trace = trace.parent
            before = len(trace.equations) if trace is not None else 0
            result = inner(*args, **kwargs)
            if not checks.busy and count[0] < _MAX_CHECKS:
                count[0] += 1
                equations = trace.equations[before:] if trace is not None else None
                value, found = _parts(name, has_aux, result)
                _check(fun, argnums, args, kwargs, found, value, has_aux, equations, checks)
            return result

        gradient.__dict__.update(getattr(inner, "__dict__", {}))
        gradient.__wrapped__ = fun  # type: ignore[attr-defined]
        gradient.__name__ = getattr(inner, "__name__", name)
        gradient.__qualname__ = getattr(inner, "__qualname__", name)
        return gradient

    package.__dict__[name] = transform


def _parts(name: str, has_aux: bool, result: Any) -> tuple[Any, Any]:
    """Return value and gradients of a result."""
    if name == "grad":
        return None, result[0] if has_aux else result
    value, found = result
    return (value[0] if has_aux else value), found


def _check(
    fun: Any,
    argnums: Any,
    args: Any,
    kwargs: Any,
    gradient: Any,
    value: Any,
    has_aux: bool,
    equations: Any,
    checks: Any,
) -> None:
    single = isinstance(argnums, int)
    positions = (argnums,) if single else tuple(argnums)
    gradients = (gradient,) if single else gradient
    if any(not -len(args) <= i < len(args) for i in positions):
        return
    given = trees.leaves([args[i] for i in positions])
    found = trees.leaves(list(gradients))
    if len(given) != len(found):
        return
    zero = [i for i, g in enumerate(found) if constant_zero(g, equations or ())]
    if not zero:
        return
    paths = arguments.leaf_paths(fun, args, kwargs)
    ids = {id(x): p for x, p in zip(trees.leaves((args, kwargs)), paths, strict=True)}
    stops = len(zero) == len(found)  # else a part is frozen on purpose
    if equations is None:  # eager, or within eager transformations
        if function_code(fun) is None:
            return
        checks.busy = True
        try:
            closed = make_jaxpr(lambda *a: fun(*a, **kwargs))(*args)
        except ConcretizationTypeError as error:
            _check_conversion(
                error, [ids[id(given[i])] for i in zero if id(given[i]) in ids], checks
            )
            return
        except Exception:  # what fails when traced for another reason
            return
        finally:
            checks.busy = False
        by_id = dict(zip(map(id, trees.leaves(args)), closed.jaxpr.invars, strict=False))
        zeros = [(by_id[id(given[i])], ids[id(given[i])]) for i in zero if id(given[i]) in by_id]
        check_zero_gradients(closed.jaxpr.eqns, zeros, closed.jaxpr.outvars[0], checks.add, stops)
        return
    if has_aux and value is None:
        return
    zeros = [
        (variable, ids[id(given[i])])
        for i in zero
        if (variable := _variable(given[i])) is not None and id(given[i]) in ids
    ]
    check_zero_gradients(equations, zeros, _variable(value), checks.add, stops)


def _check_conversion(error: ConcretizationTypeError, paths: list[str], checks: Any) -> None:
    """Report a conversion to a number, if the gradient is 0 and the number leads to the value."""
    if not paths or isinstance(error, TracerBoolConversionError):
        return
    span = user_span(error.__traceback__)
    if span is None or not re.search(r"\.item\(\)|\bfloat\(|\.tolist\(\)", span.text):
        return
    names = ", ".join(f"`{p}`" for p in paths)
    checks.add(
        cautions.ZeroGradientWarning,
        f"the gradient of {names} is 0: `{span.text}` is a number, which derivatives do not pass",
        error.__traceback__,
        span=span,
        depends=tuple(paths),
    )


def _variable(value: Any) -> Any:
    while value is not None and not hasattr(value, "_var"):
        value = getattr(value, "inner", None) if isinstance(value, Tracer) else None
    return getattr(value, "_var", None)
