"""Find static objects that compare equal to one compiled for, though what is read of them differs."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from sagax._autofix.checks.report import Add, source_of
from sagax._src.api import arguments
from sagax._src.api.jit import JitFunction
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.source import function_code
from sagax._src.trees import leaves

__all__ = ["StaticObjects"]

_PLAIN = (bool, int, float, complex, str, bytes, tuple, type(None))


class StaticObjects:
    """Keep the static objects that functions were compiled for, with their attributes."""

    def __init__(self, add: Add) -> None:
        self.add = add
        self.known: dict[Any, list[tuple[Any, dict[str, Any]]]] = {}

    def called(self, jitted: JitFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Compare the static objects of a call with those of earlier calls."""
        if not (jitted._static_nums or jitted._static_names):
            return
        names = arguments.positional_names(jitted._fun, len(args))
        given = {names[i % len(args)]: args[i % len(args)] for i in jitted._static_nums if args}
        given |= {k: v for k, v in kwargs.items() if k in jitted._static_names}
        others = [x for n, x in zip(names, args, strict=False) if n not in given]
        others += [x for k, x in kwargs.items() if k not in given]
        types = tuple((np.shape(x), str(getattr(x, "dtype", ""))) for x in leaves(others))
        for name, value in given.items():
            if (
                isinstance(value, (*_PLAIN, type))
                or callable(value)
                or not hasattr(value, "__dict__")
            ):
                continue
            seen = self.known.setdefault((id(jitted), name, types), [])
            for earlier, attributes in seen:
                if earlier is not value and _are_equal(earlier, value):
                    self._compare(jitted, name, attributes, vars(value))
            seen.append((value, dict(vars(value))))

    def _compare(
        self, jitted: JitFunction, name: str, old: dict[str, Any], new: dict[str, Any]
    ) -> None:
        """Report an attribute that differs, if the function reads it."""
        code = function_code(jitted._fun)
        source = source_of(code.co_filename) if code is not None else None
        functions = (
            source.functions(code.co_name) if source is not None and code is not None else []
        )
        if source is None or len(functions) != 1:
            return
        for read in source.nodes(ast.Attribute, functions[0]):
            attribute = read.attr
            if (
                getattr(read.value, "id", "") != name
                or attribute not in old
                or attribute not in new
            ):
                continue
            one, other = old[attribute], new[attribute]
            if not isinstance(one, _PLAIN) or not isinstance(other, _PLAIN) or one == other:
                continue
            self.add(
                cautions.StaleValueWarning,
                f"`{name}` compares equal to the object that `{function_name(jitted._fun)}` was compiled "
                f"for, but `{name}.{attribute}` is {other!r}, and was {one!r}: the old program runs. Compare "
                "and hash static objects by all that is read of them",
                None,
                span=source.span(read),
            )
            return


def _are_equal(one: Any, other: Any) -> bool:
    """Return whether jit takes two objects for one; not if they cannot be compared."""
    try:
        return hash(one) == hash(other) and bool(one == other)
    except Exception:  # jit raises for it
        return False
