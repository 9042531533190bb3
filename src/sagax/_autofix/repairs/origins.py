"""Trace an expression back to arguments: along calls, up to the innermost transformed function.

The provenance of tracers is exact. It lacks arguments that a transformation passes unchanged, and
values that are no tracers. For those, analyze the source: the parameters that an expression reads, the
expressions passed for them by the caller, and so on, up to a transformed function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from sagax._autofix.repairs.case import Case
from sagax._autofix.repairs.source_file import (
    Function,
    Source,
    last_name,
    parameters,
    stores,
    target_names,
)

_TRANSFORMATIONS = {
    "jit", "pjit", "grad", "value_and_grad", "vmap", "pmap", "checkpoint", "remat", "jvp", "vjp", "linearize",
    "jacfwd", "jacrev", "jacobian", "hessian", "make_jaxpr", "eval_shape", "shard_map", "custom_jvp", "custom_vjp",
    "scan", "map", "cond", "switch", "while_loop", "fori_loop", "associative_scan", "custom_root", "vectorize",
}  # fmt: skip
_TREE_MODULES = ("jax.tree.", "jax.tree_util.")  # these call functions with the leaves of a tree
_CALLING_BUILTINS = ("map", "filter", "reduce", "functools.reduce")
_STATIC_ATTRIBUTES = ("shape", "ndim", "dtype", "size")  # known while tracing


class Origin(NamedTuple):
    """Hold parameters of a transformed function; no function if the calls lead to none."""

    names: tuple[str, ...] = ()
    source: Source | None = None
    function: Function | None = None


class _Item(NamedTuple):
    """Identify an argument in `*args` or `**kwargs`; `back` counts from the last of `*args`."""

    name: str
    at: int
    back: int
    keyword: str = ""


class _Frame(NamedTuple):
    source: Source
    node: ast.AST
    function: Function | None
    transformed: bool  # whether a transformation called the function


_Names = set["str | _Item"]


def origin(case: Case, source: Source, node: ast.AST) -> Origin:
    """Return the parameters of the innermost transformed function that an expression depends on.

    If it depends on none of them, return those of the next outer one.
    """
    frames = _frames(case)
    at = next(
        (i for i in reversed(range(len(frames))) if _is_in_frame(source, node, frames[i])), None
    )
    if at is None:
        return Origin()
    reads = _read_names(source, node)
    for i in reversed(range(1, at + 1)):
        here, above = frames[i], frames[i - 1]
        function = here.function
        if function is None:
            break
        known = _all_parameters(function)
        own: _Names = {n for n in reads if _parameter_name(n) in known}
        free: _Names = {
            n for n in reads - own if _is_bound_around(here.source, function, _parameter_name(n))
        }
        given: list[_Names] = []
        bound: set[str] = set()
        for name in own:
            passed = _caller_names(case, above, here, name)
            if passed is not None:
                given.append(passed)
                bound.add(_parameter_name(name))
        if here.transformed:
            reached = (
                {_parameter_name(n) for n in own} - bound - {"self"} - _static_parameters(here)
            )
            if reached:
                return Origin(tuple(n for n in known if n in reached), here.source, function)
        reads = free.union(*given)
    return Origin()


def _parameter_name(name: str | _Item) -> str:
    return name.name if isinstance(name, _Item) else name


def _frames(case: Case) -> list[_Frame]:
    """Return the user's calls, outermost first; of nested calls in one function the innermost."""
    found: list[_Frame] = []
    for i, span in enumerate(case.facts.frames):
        for source, node in case.located([span]):
            node = node.value if isinstance(node, ast.Expr) else node
            frame = _Frame(source, node, source.function(node), i in case.facts.entered)
            same = bool(found) and found[-1].function is frame.function
            if same and found[-1].node in source.above(node):
                frame = frame._replace(transformed=found.pop().transformed)  # a comprehension
            found.append(frame)
    if not case.facts.entered:  # frames of an exception, without those of sagax
        found = [
            frame._replace(transformed=_is_transformed(case, frame, above))
            for frame, above in zip(found, [None, *found], strict=False)
        ]
    return found


def _is_in_frame(source: Source, node: ast.AST, frame: _Frame) -> bool:
    return (
        source is frame.source
        and frame.function is not None
        and source.function(node) is frame.function
    )


def _all_parameters(function: Function) -> list[str]:
    more = [a.arg for a in (function.args.vararg, function.args.kwarg) if a is not None]
    return [*parameters(function), *more]


# --- names that a function reads ------------------------------------------------------------------


def _read_names(source: Source, node: ast.AST) -> _Names:
    """Return the parameters and free variables that an expression depends on."""
    function = source.function(node)
    if function is None:
        return set()
    known = set(_all_parameters(function))
    found: _Names = set()
    seen: set[str] = set()
    todo = _loaded_names(node)
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        values = list(_assigned_values(source, function, name, node))
        for value in values:
            todo += _loaded_names(value)
        inner = _inner_function(source, function, name)
        if inner is not None:  # it reads what it closes over
            todo += [n for n in _loaded_names(inner) if n not in _bound_names(inner)]
        elif name in known or not values:
            found.add(name)
    return found


def _inner_function(source: Source, function: Function, name: str) -> Function | None:
    return next((f for f in source.functions(name) if source.function(f) is function), None)


def _bound_names(function: Function) -> set[str]:
    return {*_all_parameters(function), *stores(_function_body(function))}


def _loaded_names(node: ast.AST) -> list[str]:
    """Return the names whose values, not just shapes or dtypes, an expression reads."""
    found: list[str] = []
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, ast.Attribute) and part.attr in _STATIC_ATTRIBUTES:
            continue
        if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "len":
            continue
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            found.append(part.id)
        todo += list(ast.iter_child_nodes(part))
    return found


def _assigned_values(
    source: Source, function: Function, name: str, node: ast.AST
) -> Iterable[ast.expr]:
    """Yield the values assigned to a local variable before an expression, or in its loops."""
    line = getattr(node, "lineno", 0)
    loops = [n for n in source.above(node) if isinstance(n, (ast.For, ast.While))]
    for part in ast.walk(function):
        if isinstance(part, ast.comprehension):
            if name in target_names(part.target):
                yield part.iter
            continue
        if isinstance(part, ast.NamedExpr):
            if part.target.id == name:
                yield part.value
            continue
        if not isinstance(part, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)):
            continue
        if isinstance(part, ast.For):
            value, bound = part.iter, target_names(part.target)
        else:
            value, bound = part.value, stores(part)
        repeated = any(loop in source.above(part) for loop in loops)
        if value is not None and name in bound and (part.lineno < line or repeated):
            yield value


def _is_bound_around(source: Source, function: Function, name: str) -> bool:
    """Return whether an enclosing function binds a name."""
    return any(
        name in _all_parameters(around) or name in stores(_function_body(around))
        for around in source.above(function)
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    )


def _function_body(function: Function) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else list(function.body)


# --- arguments of a call --------------------------------------------------------------------------


def _caller_names(case: Case, above: _Frame, here: _Frame, name: str | _Item) -> _Names | None:
    """Return the names that the caller reads for a parameter.

    A transformed function gets its arguments from the transformation: for those, and for unknown
    callers, return None. Other parameters are bound by `partial`.
    """
    function, source, call = here.function, above.source, above.node
    if function is None or not isinstance(call, ast.Call):
        return None
    if not here.transformed:
        meaning = source.meaning(call.func)
        indirect = meaning.startswith(_TREE_MODULES) or meaning in _CALLING_BUILTINS
        if indirect or getattr(call.func, "id", "") in _CALLING_BUILTINS:
            return _call_names(above, call.args[1:], [], call.args[0], function, name)
        return _call_names(above, list(call.args), list(call.keywords), call.func, function, name)
    index, partial = _parameter_index(function, name), _find_partial(case, source, call)
    if partial is None or index is None or isinstance(name, _Item):
        return None
    # the last parameters are arguments; partial, possibly nested, binds those before
    first = len(_positional(function)) - len(function.args.defaults) - _passed_count(source, call)
    if any(isinstance(a, ast.Starred) for a in call.args):  # as many as there are left
        first = 0
    if index >= max(first, len(partial.args) - 1):
        return None
    at = index - max(first, len(partial.args) - 1) + len(partial.args)
    return _read_names(source, partial.args[at]) if at > 0 else set()


_PARTIAL = "functools.partial"


def _find_partial(case: Case, source: Source, call: ast.Call) -> ast.Call | None:
    """Return the `partial(f, ...)` that a call of a transformation, or of its result, applies to."""
    target: ast.expr = call.args[0] if source.meaning(call.func).startswith("jax.") else call.func
    while isinstance(target, ast.Call) and source.meaning(target.func) != _PARTIAL:
        if not target.args:
            return None
        target = target.args[0]
    if isinstance(target, ast.Call):
        return target
    name = last_name(target)
    for there, assignment, targets in case.assignments() if name else ():
        value = assignment.value
        if isinstance(value, ast.Call) and there.meaning(value.func) == _PARTIAL:
            if name in targets:
                return value
    return None


_PASSED_COUNTS = {"scan": 2, "fori_loop": 2, "associative_scan": 2, "while_loop": 1, "map": 1}


def _passed_count(source: Source, call: ast.Call) -> int:
    """Return the number of arguments that scan, or a transformed function, passes."""
    meaning = source.meaning(call.func)
    if not meaning.startswith("jax."):
        return len(call.args)
    return _PASSED_COUNTS.get(meaning.rpartition(".")[2], 1)


def _positional(function: Function) -> list[str]:
    known = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    return known[1:] if known[:1] == ["self"] else known


def _parameter_index(function: Function, name: str | _Item) -> int | None:
    known = _positional(function)
    if isinstance(name, _Item):
        return None if name.keyword else len(known) + name.at
    return known.index(name) if name in known else None


def _call_names(
    above: _Frame,
    args: list[ast.expr],
    keywords: list[ast.keyword],
    target: ast.expr,
    function: Function,
    name: str | _Item,
) -> _Names:
    source = above.source
    plain = name.keyword if isinstance(name, _Item) else name
    if plain == "self":
        return _read_names(source, target.value if isinstance(target, ast.Attribute) else target)
    for keyword in keywords:
        if keyword.arg == plain and plain:
            return _read_names(source, keyword.value)
    index = _parameter_index(function, name)
    known = _positional(function)
    star = next((i for i, a in enumerate(args) if isinstance(a, ast.Starred)), None)
    called = last_name(target)
    if index is not None and star is None:
        if isinstance(name, _Item):
            back, missing = name.back, called != getattr(function, "name", "")
            at = len(args) - back if missing else index
        else:
            optional = len(function.args.defaults)
            others = sum(k.arg in known for k in keywords)
            at = index - max(0, len(known) - optional - others - len(args))
        if 0 <= at < len(args):
            return _read_names(source, args[at])
    elif index is not None and star is not None:
        if index < star:
            return _read_names(source, args[index])
        starred = args[star]
        assert isinstance(starred, ast.Starred)
        own = above.function.args.vararg if above.function is not None else None
        if isinstance(starred.value, ast.Name) and own is not None and own.arg == starred.value.id:
            back = name.back if isinstance(name, _Item) else len(known) - index
            return {_Item(own.arg, index - star, back)}
        return _read_names(source, starred.value)
    rest = next((k.value for k in keywords if k.arg is None), None)
    if rest is not None and plain:
        own = above.function.args.kwarg if above.function is not None else None
        if isinstance(rest, ast.Name) and own is not None and own.arg == rest.id:
            return {_Item(own.arg, 0, 0, plain)}
        return _read_names(source, rest)
    return set()


# --- transformed functions ------------------------------------------------------------------------


def _is_transformed(case: Case, here: _Frame, above: _Frame | None) -> bool:
    """Return whether a call goes through a transformation, by the source and the error's context."""
    function = here.function
    if function is None:
        return False
    if any(_transforms(here.source, d) for d in getattr(function, "decorator_list", [])):
        return True
    name = getattr(function, "name", "<lambda>")
    known = {n for n, _ in case.facts.transforms}
    if name != "<lambda>" and known & {name, here.source.qualified(function)}:
        return True
    if above is None or not isinstance(above.node, ast.Call):
        return False
    source, target = above.source, above.node.func
    if _names_transformation(source.meaning(target)):
        return True
    while isinstance(target, ast.Call):
        if _transforms(source, target):
            return True
        target = target.func
    called = last_name(target)
    if called in ("", name):
        return False
    return any(
        called in targets and _transforms(there, assignment.value)
        for there, assignment, targets in case.assignments()
    )


def _names_transformation(meaning: str) -> bool:
    if meaning.startswith(_TREE_MODULES):
        return False
    return meaning.startswith("jax.") and meaning.rpartition(".")[2] in _TRANSFORMATIONS


def _transforms(source: Source, node: ast.AST) -> bool:
    """Return whether an expression is a transformation, or its result."""
    if not isinstance(node, ast.Call):
        return _names_transformation(source.meaning(node))
    if source.meaning(node.func) == _PARTIAL:
        return bool(node.args) and _transforms(source, node.args[0])
    return _transforms(source, node.func)


# --- static parameters ---------------------------------------------------------------------------


def _static_parameters(frame: _Frame) -> set[str]:
    """Return the parameters that the decorators of a function make static."""
    function = frame.function
    known = parameters(function) if function is not None else []
    found: set[str] = set()
    for decorator in getattr(function, "decorator_list", []):
        for option in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if option.arg in ("static_argnames", "static_argnums", "nondiff_argnums"):
                for part in ast.walk(option.value):
                    value = getattr(part, "value", None)
                    if isinstance(value, str):
                        found.add(value)
                    elif isinstance(value, int) and value < len(known):
                        found.add(known[value])
    return found


# --- without callers --------------------------------------------------------------------------


def arguments_of(source: Source, node: ast.AST) -> tuple[str, ...]:
    """Return the parameters of the enclosing function that an expression depends on, in order."""
    function = source.function(node)
    if function is None:
        return ()
    found = _read_names(source, node)
    return tuple(n for n in parameters(function) if n in found and n != "self")
