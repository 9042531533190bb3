"""Print jaxprs: `{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }`.

Works on anything with the attributes of a jaxpr. A jaxpr that is used several times is printed only the
first time, with a name, so that the text stays as small as the jaxpr.
"""

from __future__ import annotations

import enum
import functools
from typing import Any

WIDTH = 80
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def variable_name(index: int) -> str:
    """Return the name of the index-th variable: a, b, ..., z, ba, bb, ..."""
    name = ""
    while True:
        index, digit = divmod(index, 26)
        name = _LETTERS[digit] + name
        if index == 0:
            return name


class _Printer:
    def __init__(self, root: Any) -> None:
        self.names: dict[Any, str] = {}
        self.shared: dict[int, str] = {}
        counts: dict[int, int] = {}
        order: list[Any] = []
        _count(root, counts, order)
        taken: set[str] = set()
        self.definitions = []
        for jaxpr in order:  # inner ones first
            if counts[id(jaxpr)] > 1:
                base = name = (jaxpr.debug_info.func_name or "f").replace("<lambda>", "lambda")
                k = 1
                while name in taken:
                    name, k = f"{base}{k}", k + 1
                taken.add(name)
                self.definitions.append((name, jaxpr))
                self.shared[id(jaxpr)] = name

    def var(self, v: Any) -> str:
        if hasattr(v, "val"):
            return f"{literal_text(v.val)}:{v.aval.str_short(short_dtypes=True)}"
        name = self.names.get(v)
        if name is None:
            name = self.names[v] = variable_name(len(self.names))
        return name

    def binder(self, v: Any) -> str:
        return f"{self.var(v)}:{v.aval.str_short(short_dtypes=True)}"

    def binders(self, variables: Any) -> str:
        return " ".join(map(self.binder, variables))

    def jaxpr(self, jaxpr: Any, indent: int) -> list[str]:
        """Return the lines of a jaxpr; all but the first are indented."""
        used = {v for e in jaxpr.eqns for v in e.invars if not hasattr(v, "val")}
        used.update(v for v in jaxpr.outvars if not hasattr(v, "val"))
        pad = " " * indent
        consts, ins = self.binders(jaxpr.constvars), self.binders(jaxpr.invars)
        head = "{ lambda " + consts + "; " + ins + ". let"
        body = [self.eqn(eqn, used, indent + 4) for eqn in jaxpr.eqns]
        outs = [self.var(v) for v in jaxpr.outvars]
        result = f"({', '.join(outs)}{',' if len(outs) == 1 else ''})"
        if _fits(body, WIDTH):
            flat = f"{head} {'; '.join(lines[0] for lines in body)} in {result} }}"
            if indent + len(flat) <= WIDTH:
                return [flat]
        lines = [head]
        for first, *rest in body:
            lines.append(f"{pad}    {first}")
            lines += rest
        lines.append(f"{pad}  in {result} }}")
        return lines

    def eqn(self, eqn: Any, used: set, indent: int) -> list[str]:
        """Return the lines of an equation; all but the first are indented."""
        outs = " ".join(
            self.binder(v) if v in used else f"_:{v.aval.str_short(short_dtypes=True)}"
            for v in eqn.outvars
        )
        # name inputs before the variables of inner jaxprs, in reading order
        ins = " ".join(self.var(v) for v in eqn.invars)
        show = getattr(eqn.primitive, "show_rule", None)
        text = getattr(eqn.primitive, "text", None)
        if text is not None:
            return text(eqn, outs, any(v in used for v in eqn.outvars), self).split("\n")
        params = show(**eqn.params) if show is not None else dict(sorted(eqn.params.items()))
        start = f"{outs} = " if outs else ""
        name_rule = getattr(eqn.primitive, "name_rule", None)
        name = eqn.primitive.name if name_rule is None else name_rule(**eqn.params)
        if not params:
            return [f"{start}{name} {ins}".rstrip()]
        texts = [_after(f"{k}=", self.param(v, indent + 2)) for k, v in params.items()]
        if _fits(texts, WIDTH):
            flat = f"{start}{name}[{' '.join(lines[0] for lines in texts)}] {ins}".rstrip()
            if indent + len(flat) <= WIDTH:
                return [flat]
        pad = " " * indent
        lines = [f"{start}{name}["]
        for first, *rest in texts:
            lines.append(f"{pad}  {first}")
            lines += rest
        lines.append(f"{pad}] {ins}".rstrip())
        return lines

    def param(self, value: Any, indent: int) -> list[str]:
        """Return the lines of a parameter; all but the first are indented."""
        if hasattr(value, "jaxpr") and hasattr(value, "consts"):
            value = value.jaxpr
        if hasattr(value, "eqns") and hasattr(value, "outvars"):
            name = self.shared.get(id(value))
            return [name] if name is not None else self.jaxpr(value, indent)
        if isinstance(value, (tuple, list)) and any(hasattr(v, "eqns") for v in value):
            pad = " " * indent
            lines = ["("]
            for v in value:
                lines += _after(f"{pad}  ", self.param(v, indent + 2))
            return [*lines, f"{pad})"]
        return param_text(value).split("\n")


def _fits(parts: list[list[str]], width: int) -> bool:
    """Return whether all parts are single lines that may fit into one; only then is it worth joining them."""
    return (
        all(len(lines) == 1 for lines in parts) and sum(len(lines[0]) for lines in parts) <= width
    )


def _after(prefix: str, lines: list[str]) -> list[str]:
    return [prefix + lines[0], *lines[1:]]


def _count(jaxpr: Any, counts: dict[int, int], order: list) -> None:
    """Count uses of each inner jaxpr, visiting each only the first time; `order` lists inner ones first."""
    counts[id(jaxpr)] = counts.get(id(jaxpr), 0) + 1
    if counts[id(jaxpr)] > 1:
        return
    for eqn in jaxpr.eqns:
        for inner in _inner(tuple(eqn.params.values())):
            _count(inner, counts, order)
    order.append(jaxpr)


def _inner(values: Any) -> list:
    found = []
    for v in values:
        if hasattr(v, "jaxpr") and hasattr(v, "consts"):
            found.append(v.jaxpr)
        elif hasattr(v, "eqns") and hasattr(v, "outvars"):
            found.append(v)
        elif isinstance(v, (tuple, list)):
            found.extend(_inner(v))
    return found


def literal_text(value: Any) -> str:
    """Format a literal as a Python number, whatever its scalar type."""
    item = getattr(value, "item", None)
    return str(item() if item is not None else value)


def param_text(value: Any) -> str:
    """Format a parameter: short, and the same in every process."""
    if isinstance(value, enum.Enum):
        return str(value)
    if isinstance(value, functools.partial):
        return param_text(value.func)
    if isinstance(value, tuple):
        inner = ", ".join(map(param_text, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    return str(value)


def jaxpr_text(jaxpr: Any) -> str:
    """Format a jaxpr, with jaxprs that it uses several times named in front."""
    printer = _Printer(jaxpr)
    text = []
    for name, shared in printer.definitions:
        if shared is not jaxpr:
            *first, last = _after(f"let {name} = ", printer.jaxpr(shared, 0))
            text += [*first, f"{last} in"]
    text += printer.jaxpr(jaxpr, 0)
    return "\n".join(text)
