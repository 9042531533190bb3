"""The syntax tree of a function, with its control flow as calls of operators.

    if test: a = f(a)        def _sx_then(a): a = f(a); return (a,)
    else: a = 1        ->    def _sx_else(a): a = 1; return (a,)
                             (a,) = _sx.if_(test, _sx_then, _sx_else, (a,), place)

The operators (operators.py) run plain Python where the test is a plain value, and control flow of the
compiled program where it is traced. Line numbers stay those of the source.
"""

from __future__ import annotations

import ast
import copy
import linecache
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sagax._autojit import exits, variables
from sagax._autojit.source import OPERATORS, function_definition


@dataclass(eq=False)
class Site:
    """A statement or expression that was changed: what the operator needs to know of it."""

    line: int
    text: str  # "if x > 0:"
    names: tuple[str, ...] = ()
    effects: tuple[tuple[int, str], ...] = ()  # statements inside that change something else
    leaves_by: int | None = None  # which of the variables tells that the loop is left
    plain: bool = True  # nothing is called for its effect alone
    function: str = ""
    file: str = ""


# Methods that change the object they are called on.
_MUTATE = frozenset(
    "append extend insert pop remove clear update add setdefault sort reverse discard popitem write fill put".split()
)


def rewritten(
    node: ast.FunctionDef | ast.Lambda, file: str, name: str
) -> tuple[ast.FunctionDef, list[Site]]:
    """The definition with operators, and the sites in it, to which its calls refer by number."""
    sites: list[Site] = []
    if isinstance(node, ast.Lambda):
        value = ast.copy_location(ast.Return(value=node.body), node.body)
        made = function_definition("_sx_definition", node.args, [value])
        definition = ast.copy_location(made, node)
    else:
        definition = copy.copy(node)
        definition.decorator_list = []
    definition = copy.deepcopy(definition)
    definition.args = copy.deepcopy(definition.args)
    _plain_defaults(definition.args)
    definition.returns = None
    _Function(definition, file, name, sites).rewrite()
    return ast.fix_missing_locations(definition), sites


def _plain_defaults(arguments: ast.arguments) -> None:
    """Defaults are those of the function that is converted: here they only say that there are some."""
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(None) for d in arguments.kw_defaults]
    for a in ast.walk(arguments):
        if isinstance(a, ast.arg):
            a.annotation = None


def _parameters(arguments: ast.arguments) -> list[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [a.arg for a in (*every, arguments.vararg, arguments.kwarg) if a is not None]


class _Function:
    """The rewriting of one function; inner functions have one of their own."""

    def __init__(
        self, definition: ast.FunctionDef, file: str, name: str, sites: list[Site]
    ) -> None:
        self.definition, self.file, self.name, self.sites = definition, file, name, sites
        self.outer: dict[str, str] = {}  # variables declared global or nonlocal
        self.unset: dict[str, None] = {}  # variables that a block may find without value
        self.expressions = _Expressions(self)

    def rewrite(self) -> None:
        d = self.definition
        for n in variables.here(d):
            if isinstance(n, (ast.Global, ast.Nonlocal)) and n is not d:
                word = "global" if isinstance(n, ast.Global) else "nonlocal"
                self.outer.update(dict.fromkeys(n.names, word))
        d.body = exits.without_exits(d.body, self.name)
        self.needed = variables.Needed(d.body, variables.captured(d))
        body = self.block(d.body)
        parameters = set(_parameters(d.args))
        start = [
            _copied(_assign(n, _call("unset", [ast.Constant(n)])), d)
            for n in self.unset
            if n not in parameters and n not in self.outer
        ]
        documented = (
            body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        )
        declared = [s for s in body if isinstance(s, (ast.Global, ast.Nonlocal))]
        rest = [s for s in body if s not in declared]
        first = rest[:1] if documented else []
        d.body = [*first, *declared, *start, *rest[len(first) :]]

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for s in body:
            made += self.statement(s)
        return made

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        if isinstance(s, ast.If):
            return self.choice(s)
        if isinstance(s, ast.While):
            return self.while_(s)
        if isinstance(s, ast.For):
            return self.for_(s)
        if isinstance(s, ast.Assert):
            return [self.assertion(s)]
        if isinstance(s, ast.FunctionDef):
            return [self.inner(s)]
        if isinstance(s, (ast.AsyncFunctionDef, ast.ClassDef)):
            return [s]
        for name in ("body", "orelse", "finalbody"):
            if getattr(s, name, None):
                setattr(s, name, self.block(getattr(s, name)))
        for name in ("handlers", "cases"):
            for part in getattr(s, name, None) or ():
                part.body = self.block(part.body)
        if any(getattr(s, n, None) for n in ("body", "handlers", "cases")):
            for item in getattr(s, "items", None) or ():
                item.context_expr = self.expressions.visit(item.context_expr)
            return [s]
        return [self.expressions.visit(s)]

    def inner(self, s: ast.FunctionDef) -> ast.stmt:
        name = f"{self.name}.{s.name}"
        made = copy.copy(s)
        made.decorator_list = [self.expressions.visit(d) for d in s.decorator_list]
        if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in variables.here(s)):
            return made
        _Function(made, self.file, name, self.sites).rewrite()
        return made

    # -- control flow ---------------------------------------------------------------------------------

    def choice(self, s: ast.If) -> list[ast.stmt]:
        names = self._own(variables.assigned(*s.body, *s.orelse))
        ending = exits.ends(s.body) and exits.ends(s.orelse) and exits.returns([s])
        needed = self.needed.after[s]
        out = [] if ending else [n for n in names if n in needed]
        site = self._site(s, out, [*s.body, *s.orelse])
        self.unset.update(dict.fromkeys(names))
        then = self._part("then", s, names, s.body, None if ending else out)
        orelse = self._part("else", s, names, s.orelse, None if ending else out)
        test = self.expressions.visit(s.test)
        operator = "if_return" if ending else "if_"
        call = _call(
            operator,
            [test, _name(then.name), _name(orelse.name), _tuple(names), _place(site)],
        )
        last: ast.stmt
        if ending:
            last = ast.Return(value=call)
        elif out:
            last = _unpacked(out, call)
        else:
            last = ast.Expr(value=call)
        return [_copied(x, s) for x in (then, orelse, last)]

    def while_(self, s: ast.While) -> list[ast.stmt]:
        names = self._own(variables.assigned(*s.body))
        carried = [n for n in names if n in self.needed.head[s] or n in self.needed.after[s]]
        site = self._site(s, carried, s.body)
        self.unset.update(dict.fromkeys(carried))
        body = self._part("body", s, carried, s.body, carried, (), names)
        test = self._function(
            "test", s, carried, [ast.Return(value=self.expressions.visit(s.test))]
        )
        call = _call("while_", [_name(test.name), _name(body.name), _tuple(carried), _place(site)])
        last = _unpacked(carried, call) if carried else ast.Expr(value=call)
        return [_copied(x, s) for x in (test, body, last)]

    def for_(self, s: ast.For) -> list[ast.stmt]:
        names = self._own(variables.assigned(s.target, *s.body))
        carried = [n for n in names if n in self.needed.head[s] or n in self.needed.after[s]]
        site = self._site(s, carried, s.body)
        self.unset.update(dict.fromkeys(carried))
        item = f"_sx_item_{len(self.sites)}"
        set_target = ast.Assign(targets=[s.target], value=_name(item))
        set_target = _copied(set_target, s)
        body = self._part("body", s, [item, *carried], s.body, carried, [set_target], names)
        over = s.iter
        if (
            isinstance(over, ast.Call)
            and isinstance(over.func, ast.Name)
            and over.func.id == "range"
        ):
            args = [self.expressions.visit(a) for a in over.args]
            iterable: ast.expr = ast.copy_location(_call("range", [over.func, *args]), over)
        else:
            iterable = self.expressions.visit(over)
        call = _call("for_", [iterable, _name(body.name), _tuple(carried), _place(site)])
        last = _unpacked(carried, call) if carried else ast.Expr(value=call)
        return [_copied(x, s) for x in (body, last)]

    def assertion(self, s: ast.Assert) -> ast.stmt:
        site = self._site(s, [], [])
        message = _thunk(self.expressions.visit(s.msg)) if s.msg is not None else ast.Constant(None)
        call = _call("assert_", [self.expressions.visit(s.test), message, _place(site)])
        return _copied(ast.Expr(value=call), s)

    # -- pieces -------------------------------------------------------------------------------------------

    def _own(self, names: list[str]) -> list[str]:
        return [n for n in names if n not in self.outer]

    def _part(
        self,
        kind: str,
        s: Any,
        names: list[str],
        body: Sequence[ast.stmt],
        out: list[str] | None,
        before: Sequence[ast.stmt] = (),
        assigned: Sequence[str] = (),
    ) -> ast.FunctionDef:
        """A block as a function from variables to variables; `assigned` are those of a loop."""
        inside = self.block(body)
        start = [
            _copied(_assign(n, _call("unset", [ast.Constant(n)])), s)
            for n in assigned
            if n not in names and n in self.unset
        ]
        made = [*start, *before, *inside]
        if out is not None:
            made.append(ast.Return(value=_tuple(out)))
        return self._function(kind, s, names, made)

    def _function(
        self, kind: str, s: Any, names: list[str], body: list[ast.stmt]
    ) -> ast.FunctionDef:
        used = set(variables.assigned(*body)) & self.outer.keys()
        for word, kind_of in (("global", ast.Global), ("nonlocal", ast.Nonlocal)):
            if here := sorted(n for n in used if self.outer[n] == word):
                body = [kind_of(names=here), *body]
        number = len(self.sites)
        return function_definition(f"_sx_{kind}_{number}", names, body or [ast.Pass()])

    def _site(self, s: Any, names: Sequence[str], body: Sequence[ast.stmt]) -> int:
        text = _text(s, self.file)
        leaves_by = getattr(s, "leaves_by", None)
        plain = True
        effects: list[tuple[int, str]] = []
        for part in body:
            for n in variables.here(part):
                effect = self._effect(n)
                if effect:
                    effects.append((getattr(n, "lineno", 0), _text(n, self.file)))
                if isinstance(n, ast.Expr) and not isinstance(n.value, ast.Constant):
                    plain = False
        site = Site(
            s.lineno,
            text,
            tuple(names),
            tuple(effects),
            names.index(leaves_by) if leaves_by in names else None,
            plain and not effects,
            self.name,
            self.file,
        )
        self.sites.append(site)
        return len(self.sites) - 1

    def _effect(self, n: ast.AST) -> bool:
        """Whether a statement changes something other than variables of the function."""
        if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = n.targets if isinstance(n, ast.Assign) else [n.target]
            for target in targets:
                for t in ast.walk(target):
                    if isinstance(t, (ast.Attribute, ast.Subscript)) and isinstance(
                        t.ctx, ast.Store
                    ):
                        return True
                    if (
                        isinstance(t, ast.Name)
                        and isinstance(t.ctx, ast.Store)
                        and t.id in self.outer
                    ):
                        return True
        if isinstance(n, (ast.Delete, ast.Raise)):
            return True
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call):
            called = n.value.func
            return isinstance(called, ast.Attribute) and called.attr in _MUTATE
        return False


class _Expressions(ast.NodeTransformer):
    """Expressions with `and`, `or`, `not`, `a if t else b`, `a < b < c` and calls as operators."""

    def __init__(self, function: _Function) -> None:
        self.function = function

    def _site(self, node: Any) -> ast.expr:
        sites = self.function.sites
        text = _text(node, self.function.file)
        sites.append(Site(node.lineno, text, function=self.function.name, file=self.function.file))
        return _place(len(sites) - 1)

    def _kept(self, node: ast.AST) -> bool:
        """Whether an expression sets variables, or gives way to others, so that it must stay where it is."""
        return any(
            isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))
            for n in ast.walk(node)
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        place = None if self._kept(node) else self._site(node)
        self.generic_visit(node)
        if place is None:
            return node
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        parts = ast.Tuple([_thunk(v) for v in node.values], ast.Load())
        return _copied(_call(operator, [parts, place]), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        place = self._site(node)
        self.generic_visit(node)
        return _copied(_call("not_", [node.operand, place]), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        place = None if self._kept(node) else self._site(node)
        self.generic_visit(node)
        if place is None:
            return node
        parts = [node.test, _thunk(node.body), _thunk(node.orelse), place]
        return _copied(_call("if_else", parts), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if len(node.ops) < 2 or self._kept(node):
            return self.generic_visit(node)
        place = self._site(node)
        self.generic_visit(node)
        words = ast.Tuple([ast.Constant(type(op).__name__) for op in node.ops], ast.Load())
        parts = ast.Tuple([_thunk(v) for v in node.comparators], ast.Load())
        return _copied(_call("compare", [node.left, words, parts, place]), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
        if isinstance(called, ast.Name) and called.id in (
            "super",
            "locals",
            "eval",
            "exec",
            "vars",
        ):
            if called.id == "super" and not node.args:
                first = _parameters(self.function.definition.args)
                node.args = [_name("__class__"), _name(first[0])] if first else []
            return node
        self.generic_visit(node)
        node.func = ast.copy_location(_call("call", [node.func]), called)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.body = self.visit(node.body)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node


def _text(node: Any, file: str) -> str:
    """The source of an expression in one line, or the line of a statement."""
    line = linecache.getline(file, node.lineno)
    if isinstance(node, ast.stmt):
        return line.strip() or ast.unparse(node).split("\n")[0]
    if node.lineno == node.end_lineno and line:
        return line.encode()[node.col_offset : node.end_col_offset].decode()
    return ast.unparse(node)


# --- nodes ---------------------------------------------------------------------------------------------


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _tuple(names: Sequence[str]) -> ast.expr:
    return ast.Tuple([_name(n) for n in names], ast.Load())


def _call(operator: str, args: list[Any]) -> ast.expr:
    return ast.Call(
        func=ast.Attribute(_name(OPERATORS), operator, ast.Load()), args=args, keywords=[]
    )


def _place(number: int) -> ast.expr:
    sites = ast.Attribute(_name(OPERATORS), "sites", ast.Load())
    return ast.Subscript(sites, ast.Constant(number), ast.Load())


def _thunk(value: Any) -> ast.expr:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(args=nothing, body=value), value)


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign(targets=[ast.Name(name, ast.Store())], value=value)


def _unpacked(names: Sequence[str], value: ast.expr) -> ast.stmt:
    target = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
    return ast.Assign(targets=[target], value=value)


def _copied(node: Any, where: Any) -> Any:
    """The node at the place of another: of its head, where it has a body."""
    ast.copy_location(node, where)
    head = getattr(where, "test", None) or getattr(where, "iter", None)
    if head is not None:
        node.end_lineno, node.end_col_offset = head.end_lineno, head.end_col_offset
    return node


__all__ = ["Site", "rewritten"]
