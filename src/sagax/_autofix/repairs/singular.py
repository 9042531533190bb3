"""Guard operations whose value or derivative is infinite at a point: a double `where`.

The operand is replaced by a harmless one at the singular point, inside, and the result by its value
there, outside. All other values stay, and the derivative is 0 at the point.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import PRIMARIES, Source, keyword_value, last_name
from sagax._src.diagnostics.model import Edit

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class _Guard(NamedTuple):
    """Hold the lines to insert above an operation, its new text, and the imports."""

    lines: list[str]
    text: str
    imports: list[Edit]


@at_expression
def guard_operation(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Guard the singular operations of the expression at fault."""
    found = _operations(source, node)
    if not found:
        found = _operations(source, source.statement(node))
    # what is nan or infinite may be divided by: then both operations need a guard
    around = [n for n in source.above(node) if isinstance(n, ast.expr)]
    outer = [n for n in around if n in _operations(source, source.statement(node))]
    tried = [(operation, False) for operation in found] + [(n, True) for n in reversed(outer)]
    for rank, (operation, nested) in enumerate(tried, 1):
        guard = _Builder(source, operation, nested).guard()
        if guard is None:
            continue
        text = source.code(operation)
        edits = [source.replace(operation, guard.text), *guard.imports]
        if guard.lines:
            statement = source.statement(operation)
            lines = "\n".join(source.indent(statement) + line for line in guard.lines)
            edits.append(source.insert_above(source.first_line(statement), lines))
        short = " ".join(text.split())
        short = short if len(short) <= 40 else short[:37] + "..."
        title = f"guard `{short}` where its derivative is infinite; all other values stay"
        yield Candidate("double_where", title, tuple(edits), rank)


def _operations(source: Source, node: ast.AST) -> list[ast.expr]:
    """Return the singular operations of an expression, the outermost first."""
    found: list[ast.expr] = []
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            if _function_name(source, part) in _SINGULAR:
                found.append(part)
        elif isinstance(part, ast.BinOp):
            if isinstance(part.op, ast.Div) and not isinstance(part.right, ast.Constant):
                found.append(part)
            elif isinstance(part.op, ast.Pow) and not _is_whole(part.right):
                found.append(part)
    return found


def _is_whole(node: ast.expr) -> bool:
    """Return whether an exponent is a positive whole number."""
    return isinstance(node, ast.Constant) and (
        isinstance(node.value, int) or (isinstance(node.value, float) and node.value >= 1)
    )


_SINGULAR = {
    "sqrt", "norm", "std", "arctan2", "arccos", "arcsin", "arccosh", "arctanh", "acos", "asin", "atan2", "log",
    "log2", "log10", "divide", "true_divide", "power", "float_power", "pow", "rsqrt", "cbrt", "hypot", "reciprocal",
}  # fmt: skip


def _function_name(source: Source, call: ast.Call) -> str:
    """Return the name of a function of the library, or of a method of an array."""
    meaning = source.meaning(call.func)
    if meaning.startswith("jax."):
        return meaning.rpartition(".")[2]
    if not meaning and isinstance(call.func, ast.Attribute) and call.func.attr == "std":
        return "std"
    return ""


class _Builder:
    """Build the guarded text of one operation."""

    def __init__(self, source: Source, operation: ast.expr, nested: bool = False) -> None:
        self.source, self.operation, self.nested = source, operation, nested
        self.lines: list[str] = []
        self.imports: list[Edit] = []
        function = source.function(operation)
        inside = source.enclosing(operation, _COMPREHENSIONS)  # type: ignore[arg-type]
        statement = source.statement(operation)
        # names that lambdas and comprehensions bind are not known above the statement
        self.inline = (
            isinstance(function, ast.Lambda)
            or inside is not None
            or isinstance(statement, (ast.While, ast.FunctionDef, ast.ClassDef))
        )

    def code(self, node: ast.expr) -> str:
        """Return the text of an operand, with guards of the operations within if they are wanted."""
        if not self.nested:
            return self.source.code(node)
        inner = _operations(self.source, node)
        outermost = [o for o in inner if not any(o is not p and o in ast.walk(p) for p in inner)]
        texts: dict[ast.AST, str] = {}
        for operation in outermost:
            text = self.text(operation)
            if text is not None:
                texts[operation] = text if isinstance(operation, ast.Call) else f"({text})"
        return substitute(self.source, node, texts)

    def atom(self, node: ast.expr) -> str:
        """Return the text of an operand beside an operator."""
        text = self.code(node)
        return text if isinstance(node, (*PRIMARIES, ast.Constant)) else f"({text})"

    def spell(self, full: str) -> str:
        text, imports = self.source.spell(full)
        self.imports += [e for e in imports if e not in self.imports]
        return text

    def named(self, node: ast.expr, wanted: str) -> str:
        """Return the text of an operand, by a variable if it is more than a name."""
        if isinstance(node, (ast.Name, ast.Constant)):
            return self.source.code(node)
        return self.computed(self.code(node), wanted)

    def computed(self, text: str, wanted: str) -> str:
        if self.inline:
            return f"({text})"
        name = self.source.fresh(wanted, self.operation)
        while any(line.startswith(f"{name} = ") for line in self.lines):
            name += "_2"
        self.lines.append(f"{name} = {text}")
        return name

    def where(self, test: str, x: str, y: str) -> str:
        return f"{self.spell('jax.numpy.where')}({test}, {x}, {y})"

    def guard(self) -> _Guard | None:
        text = self.text(self.operation)
        return None if text is None else _Guard(self.lines, text, self.imports)

    def text(self, operation: ast.expr) -> str | None:
        source = self.source
        if isinstance(operation, ast.BinOp):
            if isinstance(operation.op, ast.Div):
                return self.division(self.atom(operation.left), operation.right)
            return self.power(
                operation.left, operation.right, "{} ** " + self.atom(operation.right)
            )
        assert isinstance(operation, ast.Call)
        name, args = _function_name(source, operation), operation.args
        if any(isinstance(a, ast.Starred) for a in args):
            return None
        function = source.code(operation.func)
        if name == "norm":
            return self.norm(operation)
        if name == "std":
            return self.standard_deviation(operation)
        if not args:
            return None
        if name in ("arctan2", "atan2", "hypot") and len(args) == 2:
            y, x = self.named(args[0], "opposite"), self.named(args[1], "adjacent")
            test = self.computed(f"({y} == 0) & ({x} == 0)", "at_origin")
            inner = f"{function}({y}, {self.where(test, '1.0', x)})"
            return self.where(test, "0.0", inner)
        if name in ("divide", "true_divide") and len(args) == 2:
            divisor = self.named(args[1], "divisor")
            return (
                f"{function}({self.code(args[0])}, {self.where(f'{divisor} == 0', '1.0', divisor)})"
            )
        if name in ("power", "float_power", "pow") and len(args) == 2:
            return (
                None
                if _is_whole(args[1])
                else self.power(args[0], args[1], f"{function}({{}}, {self.code(args[1])})")
            )
        rest = "".join(f", {source.code(a)}" for a in args[1:])
        rest += "".join(f", {k.arg}={source.code(k.value)}" for k in operation.keywords)
        if name in ("sqrt", "cbrt"):
            x = self.named(args[0], "square" if name == "sqrt" else "cube")
            inner = f"{function}({self.where(f'{x} == 0', '1.0', x)}{rest})"
            return self.where(f"{x} == 0", "0.0", inner)
        if name in ("log", "log2", "log10", "rsqrt", "reciprocal"):
            x = self.named(args[0], "positive")
            return f"{function}({self.where(f'{x} == 0', '1.0', x)}{rest})"
        return self.inverse(name, function, args[0])

    def division(self, left: str, right: ast.expr) -> str:
        divisor = self.named(right, "divisor")
        return f"{left} / {self.where(f'{divisor} == 0', '1.0', divisor)}"

    def power(self, base: ast.expr, exponent: ast.expr, pattern: str) -> str:
        x = self.named(base, "base")
        inner = pattern.format(self.where(f"{x} == 0", "1.0", x))
        negative = isinstance(exponent, ast.UnaryOp) and isinstance(exponent.op, ast.USub)
        return f"({inner})" if negative else self.where(f"{x} == 0", "0.0", inner)

    def norm(self, call: ast.Call) -> str | None:
        order = keyword_value(call, "ord")
        positions = list(call.args)
        if len(positions) > 1 and order is None:
            order = positions[1]
        plain = order is None or (isinstance(order, ast.Constant) and order.value in (None, 2, 2.0))
        if not positions or not plain or len(positions) > 4:
            return None
        options = {k.arg: self.source.code(k.value) for k in call.keywords if k.arg}
        options.pop("ord", None)
        for name, value in zip(("axis", "keepdims"), positions[2:], strict=False):
            options[name] = self.source.code(value)
        passed = "".join(f", {k}={v}" for k, v in options.items())
        total = self.spell("jax.numpy.sum")
        operand = self.atom(positions[0])
        square = self.computed(f"{total}({operand} ** 2{passed})", "square")
        return self.root(square)

    def root(self, square: str) -> str:
        root = self.spell("jax.numpy.sqrt")
        inner = f"{root}({self.where(f'{square} == 0', '1.0', square)})"
        return self.where(f"{square} == 0", "0.0", inner)

    def standard_deviation(self, call: ast.Call) -> str:
        code = self.source.code(call)
        function = self.source.code(call.func)
        variance = function[: -len("std")] + "var" + code[len(function) :]
        return self.root(self.computed(variance, "variance"))

    def inverse(self, name: str, function: str, operand: ast.expr) -> str | None:
        """Guard the end points of an inverse function, where its value is finite."""
        x = self.named(operand, {"arccos": "cosine", "acos": "cosine"}.get(name, "value"))
        if name == "arccosh":
            test, harmless = self.computed(f"{x} > 1", "inside"), "2.0"
        else:
            test = self.computed(f"{self.spell('jax.numpy.abs')}({x}) < 1", "inside")
            harmless = "0.0"
        stop = self.spell("jax.lax.stop_gradient")
        inner = f"{function}({self.where(test, x, harmless)})"
        return self.where(test, inner, f"{function}({stop}({x}))")


# --- quotients of exponentials ---------------------------------------------------------------------


@at_expression
def use_softmax(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `e / e.sum(axis=1, keepdims=True)` with `e = exp(x)` as `softmax(x, axis=1)`."""
    function = source.function(node) or source.tree

    def exponent(part: ast.expr) -> ast.expr | None:
        if isinstance(part, ast.Name):
            values = source.assigned(part.id, function)
            part = values[0] if len(values) == 1 else part
        if (
            isinstance(part, ast.Call)
            and source.meaning(part.func) == "jax.numpy.exp"
            and part.args
        ):
            return part.args[0]
        return None

    for division in source.nodes(ast.BinOp, function):
        if not isinstance(division.op, ast.Div):
            continue
        x, total = exponent(division.left), division.right
        if isinstance(total, ast.Name):
            values = source.assigned(total.id, function)
            total = values[0] if len(values) == 1 else total
        if x is None or not isinstance(total, ast.Call):
            continue
        summed = None
        if source.meaning(total.func) == "jax.numpy.sum" and total.args:
            summed = exponent(total.args[0])
        elif last_name(total.func) == "sum" and isinstance(total.func, ast.Attribute):
            summed = exponent(total.func.value)
        if summed is None or ast.unparse(summed) != ast.unparse(x):
            continue
        axis = keyword_value(total, "axis")
        keeps = keyword_value(total, "keepdims") is not None
        softmax, imports = source.spell("jax.nn.softmax")
        if axis is not None and not keeps:
            continue
        text = (
            f"{softmax}({source.code(x)}, axis={source.code(axis) if axis is not None else None})"
        )
        title = "softmax subtracts the maximum, so that exp does not overflow"
        yield Candidate("stable_function", title, (source.replace(division, text), *imports), 0)
