"""Rewrite the control flow in a function's syntax tree as calls of operators.

    if test: a = f(a)        def _sx_then(a): a = f(a); return (a,)
    else: a = 1        ->    def _sx_else(a): a = 1; return (a,)
                             (a,) = _sx.if_(test, _sx_then, _sx_else, (a,), site)

The operators (operators.py) run Python where the test is concrete, and lax where it is traced. Line
numbers stay those of the source.
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
    """Describe a rewritten statement or expression for its operator."""

    line: int
    text: str  # "if x > 0:"
    names: tuple[str, ...] = ()
    effects: tuple[tuple[int, str], ...] = ()  # statements inside with side effects
    exit_flag: int | None = None  # the index of the variable that ends the loop
    pure: bool = True  # no call is a statement of its own
    function: str = ""
    file: str = ""


# Methods that change the object they are called on.
_MUTATING_METHODS = frozenset(
    "append extend insert pop remove clear update add setdefault sort reverse discard popitem write fill put".split()
)


def rewrite_function(
    node: ast.FunctionDef | ast.Lambda, file: str, name: str
) -> tuple[ast.FunctionDef, list[Site]]:
    """Return the definition with operators, and its sites, which calls refer to by number."""
    sites: list[Site] = []
    if isinstance(node, ast.Lambda):
        value = ast.copy_location(ast.Return(value=node.body), node.body)
        lambda_definition = function_definition("_sx_definition", node.args, [value])
        definition = ast.copy_location(lambda_definition, node)
    else:
        definition = copy.copy(node)
        definition.decorator_list = []
    definition = copy.deepcopy(definition)
    definition.args = copy.deepcopy(definition.args)
    _strip_defaults(definition.args)
    definition.returns = None
    _FunctionRewriter(definition, file, name, sites).rewrite()
    return ast.fix_missing_locations(definition), sites


def _strip_defaults(arguments: ast.arguments) -> None:
    """Replace defaults by None, since the converted function has its own, and drop annotations."""
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(None) for d in arguments.kw_defaults]
    for a in ast.walk(arguments):
        if isinstance(a, ast.arg):
            a.annotation = None


def _parameters(arguments: ast.arguments) -> list[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [a.arg for a in (*every, arguments.vararg, arguments.kwarg) if a is not None]


class _FunctionRewriter:
    """Rewrite one function; inner functions have their own rewriter."""

    def __init__(
        self, definition: ast.FunctionDef, file: str, name: str, sites: list[Site]
    ) -> None:
        self.definition, self.file, self.name, self.sites = definition, file, name, sites
        self.outer: dict[str, str] = {}  # variables declared global or nonlocal
        self.unset: dict[str, None] = {}  # variables that may be unset at a block
        self.expressions = _ExpressionRewriter(self)

    def rewrite(self) -> None:
        d = self.definition
        for n in variables.own_nodes(d):
            if isinstance(n, (ast.Global, ast.Nonlocal)) and n is not d:
                scope = "global" if isinstance(n, ast.Global) else "nonlocal"
                self.outer.update(dict.fromkeys(n.names, scope))
        d.body = exits.remove_early_exits(d.body, self.name)
        self.live = variables.LiveVariables(d.body, variables.captured_variables(d))
        body = self.block(d.body)
        parameters = set(_parameters(d.args))
        start = [
            exits.with_location(_assign(n, _call("unset", [ast.Constant(n)])), d)
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
        return [new for s in body for new in self.statement(s)]

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        if isinstance(s, ast.If):
            return self.if_(s)
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
        definition = copy.copy(s)
        definition.decorator_list = [self.expressions.visit(d) for d in s.decorator_list]
        if not any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in variables.own_nodes(s)):
            _FunctionRewriter(definition, self.file, name, self.sites).rewrite()
        return definition

    # -- control flow ---------------------------------------------------------------------------------

    def if_(self, s: ast.If) -> list[ast.stmt]:
        names = self._local(variables.assigned_variables(*s.body, *s.orelse))
        ending = (
            exits.never_falls_through(s.body)
            and exits.never_falls_through(s.orelse)
            and exits.contains_return([s])
        )
        out = [] if ending else [n for n in names if n in self.live.after[s]]
        site = self._site(s, out, [*s.body, *s.orelse])
        self.unset.update(dict.fromkeys(names))
        then = self._block_function("then", s, names, s.body, None if ending else out)
        orelse = self._block_function("else", s, names, s.orelse, None if ending else out)
        test = self.expressions.visit(s.test)
        operator = "if_return" if ending else "if_"
        call = _call(
            operator,
            [test, _name(then.name), _name(orelse.name), _tuple(names), _site_reference(site)],
        )
        last: ast.stmt
        if ending:
            last = ast.Return(value=call)
        elif out:
            last = _unpack(out, call)
        else:
            last = ast.Expr(value=call)
        return [exits.with_location(x, s) for x in (then, orelse, last)]

    def while_(self, s: ast.While) -> list[ast.stmt]:
        names = self._local(variables.assigned_variables(*s.body))
        carried = [n for n in names if n in self.live.head[s] or n in self.live.after[s]]
        site = self._site(s, carried, s.body)
        self.unset.update(dict.fromkeys(carried))
        body = self._block_function("body", s, carried, s.body, carried, (), names)
        test = self._function(
            "test", s, carried, [ast.Return(value=self.expressions.visit(s.test))]
        )
        call = _call(
            "while_", [_name(test.name), _name(body.name), _tuple(carried), _site_reference(site)]
        )
        last = _unpack(carried, call) if carried else ast.Expr(value=call)
        return [exits.with_location(x, s) for x in (test, body, last)]

    def for_(self, s: ast.For) -> list[ast.stmt]:
        names = self._local(variables.assigned_variables(s.target, *s.body))
        carried = [n for n in names if n in self.live.head[s] or n in self.live.after[s]]
        site = self._site(s, carried, s.body)
        self.unset.update(dict.fromkeys(carried))
        item = f"_sx_item_{len(self.sites)}"
        set_target = ast.Assign(targets=[s.target], value=_name(item))
        set_target = exits.with_location(set_target, s)
        parameters = [item, *carried]
        body = self._block_function("body", s, parameters, s.body, carried, [set_target], names)
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
        call = _call("for_", [iterable, _name(body.name), _tuple(carried), _site_reference(site)])
        last = _unpack(carried, call) if carried else ast.Expr(value=call)
        return [exits.with_location(x, s) for x in (body, last)]

    def assertion(self, s: ast.Assert) -> ast.stmt:
        site = self._site(s, [], [])
        message = _thunk(self.expressions.visit(s.msg)) if s.msg is not None else ast.Constant(None)
        call = _call("assert_", [self.expressions.visit(s.test), message, _site_reference(site)])
        return exits.with_location(ast.Expr(value=call), s)

    # -- blocks as functions ------------------------------------------------------------------------------

    def _local(self, names: list[str]) -> list[str]:
        return [n for n in names if n not in self.outer]

    def _block_function(
        self,
        kind: str,
        s: Any,
        names: list[str],
        body: Sequence[ast.stmt],
        out: list[str] | None,
        before: Sequence[ast.stmt] = (),
        assigned: Sequence[str] = (),
    ) -> ast.FunctionDef:
        """Return a block as a function of its variables; `assigned` are those of a loop."""
        inside = self.block(body)
        start = [
            exits.with_location(_assign(n, _call("unset", [ast.Constant(n)])), s)
            for n in assigned
            if n not in names and n in self.unset
        ]
        statements = [*start, *before, *inside]
        if out is not None:
            statements.append(ast.Return(value=_tuple(out)))
        return self._function(kind, s, names, statements)

    def _function(
        self, kind: str, s: Any, names: list[str], body: list[ast.stmt]
    ) -> ast.FunctionDef:
        used = set(variables.assigned_variables(*body)) & self.outer.keys()
        for scope, declaration in (("global", ast.Global), ("nonlocal", ast.Nonlocal)):
            if declared := sorted(n for n in used if self.outer[n] == scope):
                body = [declaration(names=declared), *body]
        number = len(self.sites)
        return function_definition(f"_sx_{kind}_{number}", names, body or [ast.Pass()])

    def _site(self, s: Any, names: Sequence[str], body: Sequence[ast.stmt]) -> int:
        text = _source_text(s, self.file)
        exit_flag = getattr(s, "exit_flag", None)
        pure = True
        effects: list[tuple[int, str]] = []
        for part in body:
            for n in variables.own_nodes(part):
                if self._has_effect(n):
                    effects.append((getattr(n, "lineno", 0), _source_text(n, self.file)))
                if isinstance(n, ast.Expr) and not isinstance(n.value, ast.Constant):
                    pure = False
        site = Site(
            s.lineno,
            text,
            tuple(names),
            tuple(effects),
            names.index(exit_flag) if exit_flag in names else None,
            pure and not effects,
            self.name,
            self.file,
        )
        self.sites.append(site)
        return len(self.sites) - 1

    def _has_effect(self, n: ast.AST) -> bool:
        """Return whether a statement changes something other than local variables."""
        if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            for target in n.targets if isinstance(n, ast.Assign) else [n.target]:
                for t in ast.walk(target):
                    if isinstance(getattr(t, "ctx", None), ast.Store):
                        if isinstance(t, (ast.Attribute, ast.Subscript)):
                            return True
                        if isinstance(t, ast.Name) and t.id in self.outer:
                            return True
        if isinstance(n, (ast.Delete, ast.Raise)):
            return True
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call):
            called = n.value.func
            return isinstance(called, ast.Attribute) and called.attr in _MUTATING_METHODS
        return False


_FRAME_BUILTINS = ("super", "locals", "eval", "exec", "vars")  # they depend on the frame


class _ExpressionRewriter(ast.NodeTransformer):
    """Rewrite `and`, `or`, `not`, `a if t else b`, `a < b < c` and calls as operators."""

    def __init__(self, function: _FunctionRewriter) -> None:
        self.function = function

    def _site(self, node: Any) -> ast.expr:
        sites = self.function.sites
        text = _source_text(node, self.function.file)
        sites.append(Site(node.lineno, text, function=self.function.name, file=self.function.file))
        return _site_reference(len(sites) - 1)

    def _must_stay(self, node: ast.AST) -> bool:
        """Return whether an expression assigns variables or suspends, so that it cannot move."""
        return any(
            isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))
            for n in ast.walk(node)
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        site = None if self._must_stay(node) else self._site(node)
        self.generic_visit(node)
        if site is None:
            return node
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        parts = ast.Tuple([_thunk(v) for v in node.values], ast.Load())
        return exits.with_location(_call(operator, [parts, site]), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        site = self._site(node)
        self.generic_visit(node)
        return exits.with_location(_call("not_", [node.operand, site]), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        site = None if self._must_stay(node) else self._site(node)
        self.generic_visit(node)
        if site is None:
            return node
        parts = [node.test, _thunk(node.body), _thunk(node.orelse), site]
        return exits.with_location(_call("if_else", parts), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if len(node.ops) < 2 or self._must_stay(node):
            return self.generic_visit(node)
        site = self._site(node)
        self.generic_visit(node)
        names = ast.Tuple([ast.Constant(type(op).__name__) for op in node.ops], ast.Load())
        parts = ast.Tuple([_thunk(v) for v in node.comparators], ast.Load())
        return exits.with_location(_call("compare", [node.left, names, parts, site]), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
        if isinstance(called, ast.Name) and called.id in _FRAME_BUILTINS:
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


def _source_text(node: Any, file: str) -> str:
    """Return the source of an expression on one line, or the first line of a statement."""
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


def _site_reference(number: int) -> ast.expr:
    sites = ast.Attribute(_name(OPERATORS), "sites", ast.Load())
    return ast.Subscript(sites, ast.Constant(number), ast.Load())


def _thunk(value: Any) -> ast.expr:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(args=nothing, body=value), value)


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign(targets=[ast.Name(name, ast.Store())], value=value)


def _unpack(names: Sequence[str], value: ast.expr) -> ast.stmt:
    target = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
    return ast.Assign(targets=[target], value=value)
