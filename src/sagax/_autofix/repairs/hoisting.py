"""Hoist what a traced function reads from outside: pass it as an argument from each call."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.captured_values import ArgumentPass
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.layout import trailing_comment
from sagax._autofix.repairs.leaks import call_sites
from sagax._autofix.repairs.source_file import (
    Function,
    Source,
    declared_names,
    keyword_value,
    last_name,
    loads,
    parameters,
    stores,
    tuple_text,
)
from sagax._autofix.repairs.transform_options import JIT_FUNCTIONS, applications, set_option
from sagax._src.diagnostics.model import Edit

_STATIC_ATTRIBUTES = {"shape", "ndim", "dtype", "size"}
_MAX_CALLS = 6


@at_expression
def pass_impure_value(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass what a clock, a generator of the host or the environment gives, from each call."""
    expression = source.enclosing(node, ast.expr)  # type: ignore[type-abstract]
    if expression is None:
        return
    for there, outer in hoistable_calls(case, source, expression):
        yield from pass_expression(case, there, outer)
    yield from _draw_from_key(case, source, expression)


@at_expression
def pass_result_of_effect(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass the result of a function that changes state, as `schedule.next()`, from each call."""
    function = source.function(source.statement(node))
    if not isinstance(function, ast.FunctionDef) or _is_compiled(case, source, function):
        return
    for there, outer in _calls_above(case, source, function, 0):
        yield from pass_expression(case, there, outer)


def hoistable_calls(
    case: Case, source: Source, expression: ast.expr
) -> Iterator[tuple[Source, ast.expr]]:
    """Yield the expressions to evaluate outside: in the outermost function that can, first."""
    function = source.function(expression)
    if function is None:
        return
    if isinstance(function, ast.FunctionDef):
        yield from _calls_above(case, source, function, 0)
    if (outer := _largest_free(source, expression, function)) is not None:
        yield source, outer


def _calls_above(
    case: Case, source: Source, function: ast.FunctionDef, depth: int
) -> Iterator[tuple[Source, ast.expr]]:
    """Yield the calls of a function in traced ones that could be made outside of them."""
    if depth > _MAX_CALLS or _is_compiled(case, source, function):
        return
    for site in call_sites(case, source, function):
        around = site.source.function(site.call)
        if around is None or site.through:
            continue
        if isinstance(around, ast.FunctionDef):
            yield from _calls_above(case, site.source, around, depth + 1)
        outer = _largest_free(site.source, site.call, around)
        if outer is not None and _compiled_around(case, site.source, around) is not None:
            yield site.source, outer


def _largest_free(source: Source, expression: ast.expr, function: Function) -> ast.expr | None:
    """Return the largest expression around one that reads nothing local but shapes of arguments."""
    if not _is_free(source, expression, function):
        return None
    while True:
        parent = source.parents.get(expression)
        if isinstance(parent, ast.keyword):
            return expression
        if not isinstance(parent, ast.expr) or not _is_free(source, parent, function):
            return expression
        if isinstance(parent, ast.Call) and source.meaning(parent.func).startswith("jax."):
            return expression
        expression = parent


def _is_free(source: Source, expression: ast.expr, function: Function) -> bool:
    body = function.body if isinstance(function.body, list) else [function.body]
    own = set(declared_names(function))
    local = {*parameters(function), *stores(body)} - own
    bound = {  # by comprehensions and lambdas within
        n.id
        for n in ast.walk(expression)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    bound |= {a.arg for n in ast.walk(expression) if isinstance(n, ast.arguments) for a in n.args}
    known = set(parameters(function))
    for name in source.nodes(ast.Name, expression):
        if name.id == "self" and isinstance(source.parents.get(name), ast.Attribute):
            continue  # the object whose method is called
        if name.id not in local or name.id in bound or not isinstance(name.ctx, ast.Load):
            continue
        parent = source.parents.get(name)
        shape = isinstance(parent, ast.Attribute) and parent.attr in _STATIC_ATTRIBUTES
        length = isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "len"
        if name.id not in known or not (shape or length) or name.id in stores(body):
            return False
    return True


def _is_compiled(case: Case, source: Source, function: Function) -> bool:
    name = getattr(function, "name", "<lambda>")
    if any(a.function is function for a in applications(case, name)):
        return True
    return isinstance(function, ast.FunctionDef) and any(
        set(JIT_FUNCTIONS) & site.kinds() for site in call_sites(case, source, function)
    )


def _compiled_around(
    case: Case, source: Source, function: Function | None, depth: int = 0
) -> tuple[Source, Function] | None:
    """Return the compiled function that a function is part of: itself, a caller, or one around it."""
    if function is None or depth > _MAX_CALLS:
        return None
    if _is_compiled(case, source, function):
        return source, function
    for site in call_sites(case, source, function) if isinstance(function, ast.FunctionDef) else []:
        found = _compiled_around(case, site.source, site.source.function(site.call), depth + 1)
        if found is not None:
            return found
    return _compiled_around(case, source, source.function(function), depth + 1)


def pass_expression(case: Case, source: Source, expression: ast.expr) -> Iterator[Candidate]:
    """Evaluate an expression at each call of the compiled function, and pass the value."""
    function = source.function(expression)
    root = _compiled_around(case, source, function)
    if root is None or function is None:
        return
    text = source.code(expression)
    statement = source.statement(expression)
    whole = (
        isinstance(statement, ast.Assign)
        and statement.value is expression
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and len(stores(function.body if isinstance(function.body, list) else [])) > 0
        and [*stores(function.body if isinstance(function.body, list) else [])].count(
            statement.targets[0].id
        )
        == 1
        and source.parents.get(statement) is function
    )
    if whole:
        assert isinstance(statement, ast.Assign)
        name = last_name(statement.targets[0])
        comment = trailing_comment(source, statement)
        kept = source.replace_statements([statement], source.indent(statement) + comment)
        edit = kept if comment else source.delete(statement)
    else:
        name = source.fresh(_value_name(source, expression), expression)
        edit = source.replace(expression, name)
    passed = _PassedExpression(case, source, expression, name, root[1], edit)
    edits = passed.edits()
    if not edits:
        return
    title = f"evaluate `{_short(text)}` for each call, and pass it"
    yield Candidate("pass_argument", title, tuple(edits), 1)
    kinds = {m.kind for m in case.measure(source, expression)}
    if kinds & {"str", "bool"} or ("environ" in text and not kinds & {"float", "int"}):
        static: list[Edit] = []
        for applied in applications(case, getattr(root[1], "name", "<lambda>")):
            if applied.function is not root[1]:
                continue
            node = applied.node
            given = node.keywords if isinstance(node, ast.Call) else []
            if any(k.arg == "static_argnames" for k in given):
                continue
            if isinstance(node, ast.Call) and not applied.decorator:
                values = [*node.args, *[k.value for k in node.keywords]]
                text = f', static_argnames="{name}"'
                static.append(applied.source.around(values[-1], "", text)[0])
            else:
                static += set_option(applied, "static_argnames", f'"{name}"')
        if static:
            title += ", as a static argument"
            yield Candidate("pass_argument", title, (*edits, *static), 2)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:37] + "..."


_NAMES = {
    "rand": "noise", "randn": "noise", "normal": "noise", "uniform": "noise", "random": "noise", "gauss": "noise",
    "standard_normal": "noise", "time": "now", "monotonic": "now", "perf_counter": "now", "uuid4": "identifier",
    "uuid1": "identifier", "randint": "drawn", "integers": "drawn", "choice": "drawn", "permutation": "order",
}  # fmt: skip


def _value_name(source: Source, expression: ast.expr) -> str:
    """Return a name for a value: from the variable of the environment, or the function called."""
    for node in ast.walk(expression):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.lower()
            if "environ" in source.code(expression) and name.isidentifier():
                return name
    for call in source.nodes(ast.Call, expression):
        known = _NAMES.get(last_name(call.func))
        if known is not None:
            return known
    for call in source.nodes(ast.Call, expression):
        name = last_name(call.func)
        for prefix in ("fresh_", "make_", "new_", "get_", "next_", "draw_", "read_", "sample_"):
            if name.startswith(prefix):
                return name.removeprefix(prefix)
    return "value"


class _PassedExpression(ArgumentPass):
    """Pass the value of an expression, in which the calls' arguments stand for the parameters."""

    def __init__(
        self,
        case: Case,
        source: Source,
        expression: ast.expr,
        name: str,
        root: Function,
        edit: Edit,
        text: str = "",
        imports: tuple[Edit, ...] = (),
    ) -> None:
        self.root = root
        super().__init__(case, source, expression, source.code(expression))
        self.expression, self.name, self.edit = expression, name, edit
        self.given, self.imports = text, imports
        self.start = source.function(expression)
        while self.start is not None and self.start is not root and self.is_loop_body(self.start):
            self.start = source.function(self.start)  # it captures the variable

    def is_root(self, function: Function) -> bool:
        return function is self.root

    def is_loop_body(self, function: Function) -> bool:
        """Return whether a function is not called by name, but passed to a loop or another function."""
        name = getattr(function, "name", "")
        if not name:
            return True
        return not any(
            isinstance(parent := there.parents.get(use), ast.Call) and parent.func is use
            for there, use in self.case.uses(name)
        )

    def edits(self) -> list[Edit]:
        function = self.start
        if function is None or self.name in parameters(function):
            return []
        self.made = [self.edit, *self.imports]
        return self.made if self.add_parameter(self.source, function) else []

    def value_text(
        self, source: Source, use: ast.expr, receiver: str
    ) -> tuple[str, list[Edit]] | None:
        if self.given:
            return self.given, []
        found = self.in_terms_of_root(
            self.source, self.expression, self.source.code(self.expression)
        )
        if found is None:
            return None
        text = found[1]
        parsed = Source("", f"({text})")
        free = {n for n in loads(parsed.tree) if n in parameters(self.root)}
        if not free:
            for name in loads(parsed.tree):
                owner = None if hasattr(builtins, name) else self.binding_function(name)
                if isinstance(owner, Function) and owner not in source.above(use):
                    return None
            return text, []
        parent = source.parents.get(use)
        if not isinstance(parent, ast.Call) or parent.func is not use:
            return None
        known = [p for p in parameters(self.root) if p != "self" or not receiver]
        given = dict(zip(known, parent.args, strict=False))
        given |= {k.arg: k.value for k in parent.keywords if k.arg is not None}
        texts: dict[ast.AST, str] = {}
        for name in parsed.nodes(ast.Name):
            if name.id == "self" and receiver:
                texts[name] = receiver
            elif name.id in free:
                if name.id not in given:
                    return None
                texts[name] = source.primary(given[name.id])
        return substitute(parsed, parsed.tree.body[0], texts)[1:-1], []

    def in_terms_of_root(
        self, source: Source, at: ast.AST, text: str, depth: int = 0
    ) -> tuple[Source, str] | None:
        """Return an expression of a helper with the arguments that the compiled function passes it."""
        around = source.function(at)
        if around is self.root or around is None:
            return source, text
        parsed = Source("", f"({text})")
        free = [n for n in parsed.nodes(ast.Name) if n.id in parameters(around)]
        if not free:
            return self.in_terms_of_root(source, around, text, depth)
        if not isinstance(around, ast.FunctionDef) or depth > _MAX_CALLS:
            return None
        sites = call_sites(self.case, source, around)
        if len(sites) != 1 or sites[0].through:
            return None
        site = sites[0]
        known = [p for p in parameters(around) if p != "self"]
        given = dict(zip(known, site.call.args, strict=False))
        given |= {k.arg: k.value for k in site.call.keywords if k.arg is not None}
        caller = site.source.function(site.call)
        assigned = set(stores(caller.body)) if isinstance(caller, ast.FunctionDef) else set[str]()
        texts: dict[ast.AST, str] = {}
        for name in free:
            value = given.get(name.id)
            if name.id == "self" and site.receiver:
                texts[name] = site.receiver
            elif isinstance(value, ast.Name) and value.id not in assigned:
                texts[name] = value.id
            else:
                return None
        inner = substitute(parsed, parsed.tree.body[0], texts)[1:-1]
        return self.in_terms_of_root(site.source, site.call, inner, depth + 1)


# --- draws of the host that become draws from a key ------------------------------------------------


def _draw_from_key(case: Case, source: Source, expression: ast.expr) -> Iterator[Candidate]:
    """Draw from a key that each call makes anew, with the generator of the host."""
    call = source.enclosing(expression, ast.Call)
    function = source.function(expression)
    if call is None or function is None:
        return
    full = source.meaning(call.func)
    module, _, name = full.rpartition(".")
    generator = isinstance(call.func, ast.Attribute) and _is_generator(source, call.func.value)
    if generator:
        module, name = "numpy.random", last_name(call.func)
        name = {"integers": "randint"}.get(name, name)
    if module not in ("numpy.random", "random"):
        return
    root = _compiled_around(case, source, function)
    if root is None:
        return
    key = source.fresh("key", call)
    drawn = _draw_text(source, call, module, name, key)
    if drawn is None:
        return
    text, imports = drawn
    make, more = source.spell("jax.random.key")
    head = source.code(call.func).rpartition(".")[0]
    if not head:
        return
    seed = f"{head}.{'integers' if generator else 'randint'}(2**31 - 1)"
    seed = f"{head}.getrandbits(31)" if module == "random" else seed
    passed = _PassedExpression(
        case, source, call, key, root[1], source.replace(call, text), f"{make}({seed})",
        (*imports, *more),
    )  # fmt: skip
    if edits := passed.edits():
        title = "draw from a key, which each call makes anew: other numbers than before"
        yield Candidate("pass_key", title, tuple(edits), 3)


def _is_generator(source: Source, node: ast.expr) -> bool:
    """Return whether a variable of the module holds a generator of NumPy."""
    if not isinstance(node, ast.Name):
        return False
    made = source.assigned(node.id, source.tree)
    return len(made) == 1 and any(
        source.meaning(c.func) in ("numpy.random.default_rng", "numpy.random.Generator")
        for c in source.nodes(ast.Call, made[0])
    )


def _draw_text(
    source: Source, call: ast.Call, module: str, name: str, key: str
) -> tuple[str, list[Edit]] | None:
    """Return the draw from a key that has the distribution of a function of the host."""
    if any(isinstance(k.value, ast.Starred) or k.arg is None for k in call.keywords):
        return None
    args = call.args

    def draw(function: str, *arguments: str) -> tuple[str, list[Edit]]:
        spelled, imports = source.spell(f"jax.random.{function}")
        return f"{spelled}({', '.join([key, *[a for a in arguments if a]])})", imports

    def option(position: int, keyword: str) -> str:
        value = keyword_value(call, keyword)
        if value is None and len(args) > position:
            value = args[position]
        return source.code(value) if value is not None else ""

    def shape() -> str:
        if len(args) == 1 and isinstance(args[0], ast.Starred):
            return source.code(args[0].value)
        return tuple_text([source.code(a) for a in args]) if args else ""

    if module == "numpy.random":
        if any(isinstance(a, ast.Starred) for a in args) and name not in ("rand", "randn"):
            return None
        if name == "rand":
            return draw("uniform", shape())
        if name == "randn":
            return draw("normal", shape())
        if name in ("random", "random_sample", "ranf", "sample"):
            return draw("uniform", option(0, "size"))
        if name == "standard_normal":
            return draw("normal", option(0, "size"))
        if name == "uniform":
            lower, upper = option(0, "low"), option(1, "high")
            return draw(
                "uniform",
                option(2, "size"),
                f"minval={lower}" if lower else "",
                f"maxval={upper}" if upper else "",
            )
        if name == "normal":
            mean, scale = option(0, "loc"), option(1, "scale")
            text, imports = draw("normal", option(2, "size"))
            text = f"({scale}) * {text}" if scale else text
            return (f"({mean} + {text})" if mean else text), imports
        if name == "randint":
            lower, upper = option(0, "low"), option(1, "high")
            size = option(2, "size") or "()"
            return draw("randint", size, *((lower, upper) if upper else ("0", lower)))
        if name == "permutation":
            return draw("permutation", option(0, "x"))
        return None
    if name == "random":
        return draw("uniform")
    if name == "uniform":
        return draw("uniform", f"minval={option(0, 'a')}", f"maxval={option(1, 'b')}")
    if name in ("gauss", "normalvariate"):
        text, imports = draw("normal")
        return f"({option(0, 'mu') or '0.0'} + ({option(1, 'sigma') or '1.0'}) * {text})", imports
    if name == "randint":
        return draw("randint", "()", option(0, "a"), f"{option(1, 'b')} + 1")
    return None
