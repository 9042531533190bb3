"""Find dicts that are paired with leaves in another order, and types that change too late."""

from __future__ import annotations

import ast
import os
import re
import sys
import types
from typing import Any

import numpy as np

from sagax._autofix.checks.instrument import Site
from sagax._autofix.checks.report import Add, direct_caller, is_own_file, own_caller, source_of
from sagax._src import config
from sagax._src.core.dtypes import DtypeTruncationWarning
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.spans import span_at
from sagax._src.runtime.array import ConcreteArray

__all__ = ["check_order", "watch_x64"]


def check_order(add: Add, site: Site, args: tuple[Any, ...]) -> None:
    """Check that a dict whose items are paired with leaves has sorted keys."""
    node = site.node
    if isinstance(node, ast.Call):  # zip(d.values(), leaves(tree))
        dicts = [
            d
            for d, part in zip(args, node.args, strict=True)
            if isinstance(d, dict) and "leaves" not in _function_text(part)
        ]
    elif re.search(r"(stack|concatenate|hstack|array)\([^\n]*leaves\(", site.source.text):
        dicts = [d for d in args if isinstance(d, dict)]
    else:
        return
    for found in dicts:
        keys = list(found)
        if all(isinstance(k, str) for k in keys) and keys != sorted(keys):
            add(
                cautions.AmbiguousAxesWarning,
                f"the leaves of a dict are in the order of its sorted keys, {_listed(sorted(keys))}, and its items are "
                f"in the order of insertion, {_listed(keys)}",
                None,
                span=site.source.span(node),
            )
            return


def _function_text(node: ast.expr) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _listed(keys: list[str]) -> str:
    return ", ".join([*keys[:3], *(["..."] if len(keys) > 3 else [])])


def watch_x64(add: Add) -> None:
    """Report arrays in 32 bits that exist when 64 bits are turned on."""
    options: Any = type(config.config)
    update = options.update

    def updated(name: str, value: Any) -> None:
        late = name == "jax_enable_x64" and value and not config.current().x64
        update(name, value)
        found = own_caller() if late else None
        if found is None:
            return
        names = _single_precision(found[0])
        if names:
            listed = ", ".join(f"`{n}`" for n in names[:3])
            add(
                DtypeTruncationWarning,
                f"64 bits are turned on after {listed} {'was' if len(names) == 1 else 'were'} created: "
                f"{'it stays' if len(names) == 1 else 'they stay'} in 32 bits. Turn them on before the first array",
                None,
                span=span_at(found[1]),
                data={"arrays": ", ".join(names)},
            )

    options.update = staticmethod(updated)
    kind = type(os.environ)
    store = kind.__setitem__

    def setitem(self: Any, key: Any, value: Any) -> None:
        store(self, key, value)
        asks = key in ("JAX_ENABLE_X64", "SAGAX_X64") and value.lower() in (
            "1",
            "true",
            "on",
            "yes",
        )
        found = direct_caller() if asks and not config.current().x64 else None
        if found is not None and _has_imported(found[0]):
            add(
                DtypeTruncationWarning,
                f"{key} is read when the package is imported, and set after that: types stay in 32 bits",
                None,
                span=span_at(found[1]),
            )

    kind.__setitem__ = setitem  # type: ignore[method-assign]


def _has_imported(frame: Any) -> bool:
    """Return whether the script has imported the package."""
    modules = [v for v in frame.f_globals.values() if isinstance(v, types.ModuleType)]
    return "jax" in sys.modules or any(m.__name__.split(".")[0] == "sagax" for m in modules)


def _single_precision(frame: Any) -> list[str]:
    """Return the variables that hold floats in 32 bits, which no dtype asked for."""
    found: list[str] = []
    scopes = [(frame.f_code.co_filename, frame.f_locals)]
    scopes += [
        (str(m.__file__), vars(m))
        for m in list(sys.modules.values())
        if is_own_file(getattr(m, "__file__", None) or "<")
    ]
    for file, variables in scopes:
        source = source_of(file)
        if source is None:
            continue
        for name, value in list(variables.items()):
            arrays = value if isinstance(value, (list, tuple)) else [value]
            if not any(_is_single(x) for x in arrays):
                continue
            made = " ".join(ast.unparse(v) for v in source.assigned(name, source.tree))
            if "32" not in made and "dtype=" not in made.replace("dtype=float", ""):
                found.append(name)
    return list(dict.fromkeys(found))


def _is_single(value: Any) -> bool:
    return isinstance(value, ConcreteArray) and value.aval.dtype in (np.float32, np.complex64)
