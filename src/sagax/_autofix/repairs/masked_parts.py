"""Compute with all of an array where a script takes a part of it whose size is traced.

A slice with a traced bound, a dynamic slice of traced size, and `x[mask]` keep some elements of the
first axis. The value is followed through the function, and through functions that it is passed to. Its
axis is kept whole, and each operation that joins the elements along it gets a mask.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import resolve_functions
from sagax._autofix.repairs.source_file import (
    PRIMARIES,
    Function,
    Source,
    argument,
    keyword_value,
    parameters,
    stores,
)
from sagax._src.diagnostics.model import Edit

_MAX_DEPTH = 3
_SLICES = ("jax.lax.dynamic_slice_in_dim",)
# functions of one array, element by element
_ELEMENTWISE = {
    "abs", "absolute", "cos", "cosh", "exp", "exp2", "expm1", "floor", "log", "log1p", "log2", "negative", "relu", "round",
    "sigmoid", "sign", "sin", "sinh", "softplus", "sqrt", "square", "tan", "tanh", "gelu", "silu", "asarray", "array",
}  # fmt: skip
_PRODUCTS = {"dot", "matmul", "vdot"}
_OF_TWO = {"add", "subtract", "multiply", "divide", "power", "maximum", "minimum"}
# reductions, with what an element that does not count is replaced by; "" where `where=` is enough
_REDUCTIONS = {
    "sum": "", "mean": "", "prod": "", "any": "", "all": "", "var": "", "std": "", "max": "-{np}.inf", "min": "{np}.inf",
}  # fmt: skip
_NAN_REDUCTIONS = {"median", "quantile", "percentile"}
_NORMALIZERS = ("jax.nn.softmax", "jax.nn.log_softmax")
_LOGSUMEXPS = ("jax.nn.logsumexp", "jax.scipy.special.logsumexp")
_POSITIONS = {"argmax": "-", "argmin": ""}


class _Unknown(Exception):
    """A use of a part that has no counterpart with a mask."""


class _Value(NamedTuple):
    """Describe an expression: its text, the axis that is longer than meant, and what stands there.

    `axis` counts from the last one, as -1; 0 if all elements count. `zero` tells whether those that do
    not count are zeros.
    """

    text: str
    axis: int = 0
    zero: bool = False


class _Part(NamedTuple):
    """Describe a part: the array it is taken from, its bounds as texts, and the mask of a masked one."""

    base: ast.expr
    start: str
    stop: str
    mask: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.start, self.stop, self.mask


@at_expression
def mask_part(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `softmax(x[:n]) @ y[:n]` with all of `x` and `y` and a mask of the first `n`."""
    part = next(filter(None, (_part(source, n) for n in _near(source, node))), None)
    function = source.function(node)
    if part is None or function is None:
        return
    rewriting = _Rewriting(case, part)
    if case.measured is None:
        rewriting.request(source, function)
        return
    try:
        rewriting.rewrite(source, function, {})
    except _Unknown:
        return
    title = "keep all elements, and leave those that do not count out of what joins them"
    edits = (*rewriting.with_mask(), *rewriting.imports.values())
    yield Candidate("mask_part", title, edits, 2)


def _near(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """Yield an expression, those around it, and those in its statement."""
    yield node
    for found in source.above(node):
        if isinstance(found, ast.stmt):
            break
        yield found
    yield from source.nodes((ast.Subscript, ast.Call), source.statement(node))  # type: ignore[arg-type]


def _part(source: Source, node: ast.AST) -> _Part | None:
    """Return the part that an expression takes along the first axis of an array, if it does."""
    if isinstance(node, ast.Call) and source.meaning(node.func) in _SLICES:
        base, start = argument(node, 0, "operand"), argument(node, 1, "start_index")
        size, axis = argument(node, 2, "slice_size"), argument(node, 3, "axis")
        if base is None or start is None or size is None or axis is not None:
            return None
        first = "" if getattr(start, "value", None) == 0 else source.code(start)
        stop = f"{source.operand(start)} + {source.operand(size)}" if first else source.code(size)
        return _Part(base, first, stop, "")
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return None
    if isinstance(node.value, ast.Attribute) and node.value.attr == "at":
        return None
    index = node.slice
    if isinstance(index, ast.Tuple) and index.elts and all(_is_whole(e) for e in index.elts[1:]):
        index = index.elts[0]
    if isinstance(index, ast.Slice):
        if index.step is not None or (index.lower is None and index.upper is None):
            return None
        bounds = [source.code(b) if b is not None else "" for b in (index.lower, index.upper)]
        if any(b.startswith("-") for b in bounds):  # counted from the end
            return None
        return _Part(node.value, bounds[0], bounds[1], "")
    return _Part(node.value, "", "", source.code(index)) if _is_mask(source, index) else None


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and not (node.lower or node.upper or node.step)


def _is_mask(source: Source, index: ast.expr) -> bool:
    """Return whether an index is written as a mask, or is a name that one is assigned to."""
    if isinstance(index, ast.Name):
        scope = source.function(index) or source.tree
        return any(
            _is_mask(source, v)
            for v in source.assigned(index.id, scope)
            if not isinstance(v, ast.Name)
        )
    if isinstance(index, ast.BinOp) and isinstance(index.op, (ast.BitAnd, ast.BitOr)):
        return _is_mask(source, index.left) or _is_mask(source, index.right)
    inverted = isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.Invert)
    return inverted or isinstance(index, ast.Compare)


class _Rewriting:
    """Rewrite a function, and those it passes parts to, with whole arrays and a mask."""

    def __init__(self, case: Case, part: _Part) -> None:
        self.case, self.part = case, part
        self.edits: list[Edit] = []
        self.imports: dict[str, Edit] = {}
        self.mask = ""  # the text of the mask in the function at work
        self.assigned: tuple[Source, ast.stmt, str] | None = None  # the statement it stands above
        self.takes_place = False  # of that statement, which took the part and nothing else
        self.depth = 0

    def request(self, source: Source, function: Function) -> None:
        """Ask for the values of all expressions whose rank may count, here and in called functions."""
        done: set[int] = set()
        todo = [(source, function, 0)]
        while todo:
            there, at, depth = todo.pop()
            if id(at) in done or depth > _MAX_DEPTH:
                continue
            done.add(id(at))
            for node in there.nodes(ast.expr, at):
                read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
                if read and isinstance(node, (*PRIMARIES, ast.BinOp, ast.UnaryOp)):
                    if not there.meaning(node):  # modules and their functions have no rank
                        self.case.measure(there, node)
                if isinstance(node, ast.Call) and not there.meaning(node.func):
                    found = resolve_functions(self.case, there, node.func)
                    todo += [(s, f, depth + 1) for s, f in list(found)[:1]]

    # -- functions --------------------------------------------------------------------------------

    def rewrite(self, source: Source, function: Function, known: dict[str, _Value]) -> None:
        """Rewrite the body of a function; `known` holds its parameters that are longer than meant."""
        if isinstance(function, ast.Lambda):
            self.name_mask(source, None)
            found = self.value(source, function.body, known)
            self.finish(source, function.body, found)
            return
        first = self.first_statement(source, function)
        self.name_mask(source, first)
        for statement in function.body:
            self.statement(source, function, statement, known)

    def first_statement(self, source: Source, function: Function) -> ast.stmt | None:
        """Return the first statement of a function that takes such a part."""
        for statement in getattr(function, "body", ()):
            for node in source.nodes((ast.Subscript, ast.Call), statement):  # type: ignore[arg-type]
                found = _part(source, node)
                if found is not None and found.key == self.part.key:
                    return statement
        return None

    def name_mask(self, source: Source, first: ast.stmt | None) -> None:
        """Choose the text of the mask: that of the script, a parameter, or a new variable."""
        if self.depth:
            return
        if self.part.mask:
            self.mask = self.part.mask
            return
        text = self.bounds(source)
        if first is None:
            self.mask = f"({text})"
            return
        self.mask = source.fresh("inside", first)
        self.assigned = source, first, f"{self.mask} = {text}"

    def bounds(self, source: Source) -> str:
        """Return the comparison of positions with the bounds of the part."""
        numpy, imports = source.spell("jax.numpy")
        self.imports.update({e.text: e for e in imports})
        positions = f"{numpy}.arange({source.primary(self.part.base)}.shape[0])"
        tests = [f"{positions} >= {_beside(self.part.start)}"] if self.part.start else []
        tests += [f"{positions} < {_beside(self.part.stop)}"] if self.part.stop else []
        return tests[0] if len(tests) == 1 else f"({tests[0]}) & ({tests[1]})"

    def statement(
        self, source: Source, function: Function, statement: ast.stmt, known: dict[str, _Value]
    ) -> None:
        if isinstance(statement, (ast.Return, ast.Expr)) and statement.value is not None:
            found = self.value(source, statement.value, known)
            self.finish(source, statement.value, found)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            self.assign(source, function, statement, known)
        elif self.is_touched(source, statement, known):
            raise _Unknown

    def assign(
        self, source: Source, function: Function, statement: ast.Assign, known: dict[str, _Value]
    ) -> None:
        target, value = statement.targets[0], statement.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            if len(target.elts) != len(value.elts):
                raise _Unknown
            pairs = list(zip(target.elts, value.elts, strict=True))
        found = [(name, part, self.value(source, part, known)) for name, part in pairs]
        for name, part, result in found:
            if result.axis and not isinstance(name, ast.Name):
                raise _Unknown
            if not isinstance(name, ast.Name):
                self.replace(source, part, result)
                continue
            known.pop(name.id, None)
            if not result.axis:
                self.replace(source, part, result)
                continue
            whole = _part(source, part) is not None and len(pairs) == 1
            once = sum(
                name.id in stores(s) for s in ast.walk(function) if isinstance(s, ast.Assign)
            )
            if whole and once == 1:  # the name stood for the part only
                self.drop(source, statement)
                known[name.id] = result
                continue
            self.replace(source, part, result)
            known[name.id] = result._replace(text=name.id)

    def drop(self, source: Source, statement: ast.stmt) -> None:
        """Delete a statement, or put the mask in its place."""
        if self.assigned is not None and self.assigned[1] is statement:
            self.takes_place = True
        else:
            self.edits.append(source.delete(statement))

    def with_mask(self) -> list[Edit]:
        """Return the edits, with the assignment of the mask if they read it."""
        if self.assigned is None:
            return self.edits
        source, first, line = self.assigned
        name = line.partition(" ")[0]
        if any(re.search(rf"\b{name}\b", e.text) for e in self.edits):
            if self.takes_place:
                return [source.replace(first, line), *self.edits]
            above = source.insert_above(source.first_line(first), source.indent(first) + line)
            return [above, *self.edits]
        return [source.delete(first), *self.edits] if self.takes_place else self.edits

    def replace(self, source: Source, node: ast.expr, found: _Value) -> None:
        if found.text != source.code(node):
            self.edits.append(source.replace(node, found.text))

    def finish(self, source: Source, node: ast.expr, found: _Value) -> None:
        """Replace an expression whose value leaves the function, where all elements must count."""
        if found.axis:
            raise _Unknown
        self.replace(source, node, found)

    def is_touched(self, source: Source, node: ast.AST, known: dict[str, _Value]) -> bool:
        """Return whether code reads a part, or a variable that is longer than meant."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in known:
                return True
            part = _part(source, inner)
            if part is not None and part.key == self.part.key:
                return True
        return False

    # -- expressions ------------------------------------------------------------------------------

    def rank(self, source: Source, node: ast.expr) -> int:
        for measured in self.case.measure(source, node):
            if measured.shape is not None:
                return len(measured.shape)
        raise _Unknown

    def size(self, source: Source, node: ast.expr, axis: int) -> int:
        """Return the size of an axis, counted from the last; 1 if there is none."""
        for measured in self.case.measure(source, node):
            if measured.shape is not None and len(measured.shape) >= -axis:
                return measured.shape[axis]
        return 1

    def value(self, source: Source, node: ast.expr, known: dict[str, _Value]) -> _Value:
        """Return an expression with whole arrays in place of parts."""
        if not self.is_touched(source, node, known):
            return _Value(source.code(node))
        part = _part(source, node)
        if part is not None and part.key == self.part.key:
            if self.is_touched(source, part.base, known):
                raise _Unknown
            return _Value(source.code(part.base), -self.rank(source, part.base))
        match node:
            case ast.Name():
                return known[node.id]
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                return self.around(source, node, [node.operand], known)
            case ast.BinOp(op=ast.MatMult()):
                return self.product(source, node, (node.left, node.right), known)
            case ast.BinOp() | ast.Compare():
                sides = (
                    [node.left, node.right]
                    if isinstance(node, ast.BinOp)
                    else [node.left, *node.comparators]
                )
                return self.around(source, node, sides, known)
            case ast.Tuple() | ast.List() | ast.Dict() | ast.IfExp() | ast.BoolOp() | ast.Starred():
                parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
                if (found := self.whole(source, node, parts, known)) is not None:
                    return found
                raise _Unknown
            case ast.Subscript():
                return self.item(source, node, known)
            case ast.Attribute():
                return self.attribute(source, node, known)
            case ast.Call():
                return self.call(source, node, known)
            case _:
                raise _Unknown

    def whole(
        self, source: Source, node: ast.expr, parts: Sequence[ast.expr], known: dict[str, _Value]
    ) -> _Value | None:
        """Return an expression all of whose parts have as many elements as meant; None of others."""
        made = len(self.edits)
        texts: dict[ast.expr, str] = {}
        for part in parts:
            if self.is_touched(source, part, known):
                found = self.value(source, part, known)
                if found.axis:
                    del self.edits[made:]
                    return None
                texts[part] = _like(source, part, found.text)
        return _Value(substitute(source, node, texts))

    def around(
        self, source: Source, node: ast.expr, sides: Sequence[ast.expr], known: dict[str, _Value]
    ) -> _Value:
        """Return an operation on elements: the axis stays where it is, counted from the last."""
        parts = [self.value(source, side, known) for side in sides]
        axes = {p.axis for p in parts if p.axis}
        if len(axes) > 1:
            raise _Unknown
        for side, part in zip(sides, parts, strict=True):
            if axes and not part.axis and self.size(source, side, *axes) != 1:
                raise _Unknown  # as long as the part is in this run
        texts = {
            side: _like(source, side, p.text)
            for side, p in zip(sides, parts, strict=True)
            if p.text != source.code(side)
        }
        text = substitute(source, node, texts) if texts else source.code(node)
        times = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div))
        zero = parts[0].zero and (len(parts) == 1 or times)
        return _Value(text, axes.pop() if axes else 0, zero)

    def product(
        self,
        source: Source,
        node: ast.expr,
        sides: tuple[ast.expr, ast.expr],
        known: dict[str, _Value],
    ) -> _Value:
        """Return a matrix product: elements that do not count are zeros on one side."""
        left, right = (self.value(source, side, known) for side in sides)
        ranks = [self.rank(source, side) for side in sides]
        summed = -1 if ranks[1] == 1 else -2
        joins = left.axis == -1 or right.axis == summed
        if joins and (left.axis, right.axis) != (-1, summed):
            raise _Unknown  # the whole axis against a part of it
        if not joins and left.axis and right.axis:
            raise _Unknown
        if joins and not (left.zero or right.zero):
            left = _Value(self.chosen(source, left, "0"), left.axis, True)
        texts = {
            side: _like(source, side, found.text)
            for side, found in zip(sides, (left, right), strict=True)
            if found.text != source.code(side)
        }
        text = substitute(source, node, texts) if texts else source.code(node)
        axis = 0
        if not joins:
            axis = left.axis + (ranks[1] == 1) if left.axis else right.axis
        return _Value(text, axis)

    def item(self, source: Source, node: ast.Subscript, known: dict[str, _Value]) -> _Value:
        """Return new axes, columns, and single elements of a part, and what a part indexes."""
        if self.is_touched(source, node.slice, known):
            index = self.value(source, node.slice, known)
            if not index.axis or self.is_touched(source, node.value, known):
                raise _Unknown
            text = substitute(source, node, {node.slice: index.text})
            return _Value(text, index.axis - (self.rank(source, node.value) - 1))
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            whole = self.value(source, node.value.value, known)
            index = getattr(node.slice, "value", None)
            if whole.axis == -self.rank(source, node.value.value) and index == 0:
                return _Value(self.count(source))
            raise _Unknown
        base = self.value(source, node.value, known)
        if not base.axis:
            return _Value(substitute(source, node, {node.value: base.text}))
        rank = self.rank(source, node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        new = [isinstance(e, ast.Constant) and e.value is None for e in items]
        text = substitute(source, node, {node.value: _like(source, node.value, base.text)})
        if base.axis == -rank and _is_whole(items[0]):  # the axis is the first one
            plain = [e for e, is_new in zip(items[1:], new[1:], strict=True) if not is_new]
            if all(isinstance(e, ast.Constant) and isinstance(e.value, int) for e in plain):
                return _Value(text, base.axis - sum(new) + len(plain), base.zero)
            if all(_is_whole(e) for e in plain):
                return _Value(text, base.axis - sum(new), base.zero)
        if base.axis == -1 and all(new[:-1]) and _is_whole(items[-1]):  # x[None, :]
            return _Value(text, -1, base.zero)
        index = items[0]
        if base.axis == -rank and len(items) == 1 and not self.part.mask:
            last = isinstance(index, ast.UnaryOp) and source.code(index) == "-1"
            if last and self.part.stop:
                return _Value(f"{base.text}[{_beside(self.part.stop)} - 1]")
            if isinstance(index, ast.Constant) and index.value == 0:
                return _Value(f"{base.text}[{self.part.start or '0'}]")
        raise _Unknown

    def attribute(self, source: Source, node: ast.Attribute, known: dict[str, _Value]) -> _Value:
        base = self.value(source, node.value, known)
        if not base.axis or node.attr in ("dtype", "ndim"):
            text = substitute(source, node, {node.value: _like(source, node.value, base.text)})
            return _Value(text)
        rank = self.rank(source, node.value)
        if node.attr == "T" and rank <= 2:
            text = substitute(source, node, {node.value: _like(source, node.value, base.text)})
            return _Value(text, base.axis if rank == 1 else -3 - base.axis, base.zero)
        if node.attr == "size" and rank == 1:
            return _Value(self.count(source))
        raise _Unknown

    def count(self, source: Source) -> str:
        """Return the number of elements that count."""
        part = self.part
        if part.mask or not part.stop:
            numpy, imports = source.spell("jax.numpy")
            self.imports.update({e.text: e for e in imports})
            return f"{numpy}.sum({self.mask})"
        return f"({part.stop} - {_beside(part.start)})" if part.start else _beside(part.stop)

    def call(self, source: Source, node: ast.Call, known: dict[str, _Value]) -> _Value:
        meaning = source.meaning(node.func)
        method = isinstance(node.func, ast.Attribute) and not meaning
        parts = [*node.args, *(k.value for k in node.keywords)]
        parts += [node.func.value] if method and isinstance(node.func, ast.Attribute) else []
        if (found := self.whole(source, node, parts, known)) is not None:
            return found
        if meaning:
            module, _, name = meaning.rpartition(".")
            operand, rest = (node.args[0], node.args[1:]) if node.args else (None, [])
        else:
            module, name = "", getattr(node.func, "attr", "")
            operand = node.func.value if isinstance(node.func, ast.Attribute) else None
            rest = node.args
        if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
            base = self.value(source, node.args[0], known)
            if base.axis == -self.rank(source, node.args[0]):
                return _Value(self.count(source))
            raise _Unknown
        if isinstance(node.func, ast.Name) and not meaning:
            return self.called(source, node, known)
        others = [*rest, *(k.value for k in node.keywords)]
        if operand is None or (
            name not in _OF_TWO | _PRODUCTS
            and any(self.is_touched(source, o, known) for o in others)
        ):
            raise _Unknown
        if name == "astype" and not module:
            return self.around(source, node, [operand], known)
        if module in ("jax.numpy", "jax.nn", "jax.lax", "numpy"):
            if name in _OF_TWO and len(node.args) == 2:
                return self.around(source, node, node.args, known)
            if name in _ELEMENTWISE and len(node.args) == 1:
                return self.around(source, node, [operand], known)
            if name in _PRODUCTS and len(node.args) == 2 and not node.keywords:
                return self.product(source, node, (node.args[0], node.args[1]), known)
        if module in ("", "jax.numpy", "jax.nn", "jax.scipy.special"):
            return self.reduction(source, node, operand, rest, known)
        raise _Unknown

    def reduction(
        self,
        source: Source,
        node: ast.Call,
        operand: ast.expr,
        rest: Sequence[ast.expr],
        known: dict[str, _Value],
    ) -> _Value:
        """Return a reduction or a normalization along the axis, with the mask."""
        name = source.meaning(node.func) or getattr(node.func, "attr", "")
        last = name.rpartition(".")[2]
        base = self.value(source, operand, known)
        rank = self.rank(source, operand)
        given = rest[0] if rest else keyword_value(node, "axis")
        along = self.axis(given, rank, -1 if name in _NORMALIZERS else None)
        numpy, imports = source.spell("jax.numpy")
        self.imports.update({e.text: e for e in imports})
        more = [source.code(a) for a in rest]
        more += [f"{k.arg}={source.code(k.value)}" for k in node.keywords]
        if along is not None and along != base.axis:
            if name in _NORMALIZERS:
                text = substitute(source, node, {operand: base.text})
                return _Value(text, base.axis)
            raise _Unknown
        function = name if "." not in name else source.spell(name)[0]
        if name in _NORMALIZERS:
            text = ", ".join([self.chosen(source, base, f"-{numpy}.inf"), *more])
            return _Value(f"{function}({text})", base.axis, last == "softmax")
        if name in _LOGSUMEXPS:
            text = ", ".join([self.chosen(source, base, f"-{numpy}.inf"), *more])
            return _Value(f"{function}({text})")
        if last in _REDUCTIONS:
            fill = _REDUCTIONS[last].format(np=numpy)
            text = ", ".join([base.text, *more, f"where={self.spread(base.axis)}"])
            text += f", initial={fill}" if fill else ""
            return _Value(f"{numpy}.{last}({text})")
        if last in _NAN_REDUCTIONS:
            text = ", ".join([self.chosen(source, base, f"{numpy}.nan"), *more])
            return _Value(f"{numpy}.nan{last}({text})")
        if last in _POSITIONS and not (self.part.start or self.part.mask):
            text = ", ".join([self.chosen(source, base, f"{_POSITIONS[last]}{numpy}.inf"), *more])
            return _Value(f"{numpy}.{last}({text})")
        raise _Unknown

    def axis(self, given: ast.expr | None, rank: int, default: int | None) -> int | None:
        """Return the axis of a reduction, counted from the last; None for all of them."""
        if given is None:
            return default
        try:
            axis = ast.literal_eval(given)
        except ValueError:
            raise _Unknown from None
        if axis is None:
            return None
        if not isinstance(axis, int):
            raise _Unknown
        return axis if axis < 0 else axis - rank

    def spread(self, axis: int) -> str:
        """Return the mask with the axes of size 1 that lie behind its own."""
        if axis == -1:
            return self.mask
        new = ", ".join([":", *["None"] * (-axis - 1)])
        mask = self.mask if re.fullmatch(r"[\w.]+|\(.*\)", self.mask) else f"({self.mask})"
        return f"{mask}[{new}]"

    def chosen(self, source: Source, value: _Value, fill: str) -> str:
        numpy, imports = source.spell("jax.numpy")
        self.imports.update({e.text: e for e in imports})
        return f"{numpy}.where({self.spread(value.axis)}, {value.text}, {fill})"

    # -- functions of the script ------------------------------------------------------------------

    def called(self, source: Source, node: ast.Call, known: dict[str, _Value]) -> _Value:
        """Pass whole arrays and the mask to a function that is called here only."""
        found = list(resolve_functions(self.case, source, node.func))
        if len(found) != 1 or node.keywords:
            raise _Unknown
        there, function = found[0]
        if not isinstance(function, ast.FunctionDef):
            raise _Unknown
        calls = [call for _, call, _ in self.case.calls(function)]
        names = parameters(function)
        if calls != [node] or len(node.args) != len(names) or self.depth >= _MAX_DEPTH:
            raise _Unknown
        values = [self.value(source, a, known) for a in node.args]
        inner: dict[str, _Value] = {}
        for name, value in zip(names, values, strict=True):
            if value.axis:
                inner[name] = _Value(name, value.axis, value.zero)
        if not inner:
            raise _Unknown
        parameter = there.fresh("inside", function.body[0])
        last = [*function.args.posonlyargs, *function.args.args][-1]
        end = there.span(last)
        if function.args.kwonlyargs or function.args.defaults:
            raise _Unknown
        self.edits.append(there.insert(end.end_line, end.end_column or 0, f", {parameter}"))
        mask, self.mask, self.depth = self.mask, parameter, self.depth + 1
        part, self.part = self.part, self.part._replace(mask=parameter)  # counted by its mask
        self.rewrite(there, function, inner)
        self.mask, self.depth, self.part = mask, self.depth - 1, part
        texts = [v.text for v in values]
        return _Value(f"{source.code(node.func)}({', '.join([*texts, _bare(mask)])})")


def _bare(mask: str) -> str:
    """Return a mask without the parentheses around it."""
    return mask[1:-1] if re.fullmatch(r"\([^()]*\)", mask) else mask


def _beside(text: str) -> str:
    """Return a text as it may stand beside an operator."""
    return text if re.fullmatch(r"[\w.]+(?:\[[^\]]*\])?", text) else f"({text})"


def _like(source: Source, node: ast.expr, text: str) -> str:
    """Return a text in place of a part of an expression, in parentheses where it needs them."""
    plain = isinstance(node, PRIMARIES) and not re.fullmatch(r"[\w.]+(?:[\[(].*[\])])?", text)
    return f"({text})" if plain else text
