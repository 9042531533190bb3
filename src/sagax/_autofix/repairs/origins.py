"""Trace an expression back to arguments: along calls, up to the innermost transformed function.

What the traces know of a value's origin is exact, but they do not know of arguments that a
transformation hands through as they are, nor of values that are no tracers. For those the source
tells: the parameters that an expression reads, what was passed for them one call further up, and so
on, until a function is reached that is transformed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from sagax._autofix.repairs.case import Case
from sagax._autofix.repairs.source_file import Function, Source, parameters, stores, target_names

__all__ = ["Origin", "arguments_of", "origin"]

_TRANSFORMATIONS = {
    "jit", "pjit", "grad", "value_and_grad", "vmap", "pmap", "checkpoint", "remat", "jvp", "vjp", "linearize",
    "jacfwd", "jacrev", "jacobian", "hessian", "make_jaxpr", "eval_shape", "shard_map", "custom_jvp", "custom_vjp",
    "scan", "map", "cond", "switch", "while_loop", "fori_loop", "associative_scan", "custom_root", "vectorize",
}  # fmt: skip
_LEAVES = ("jax.tree.", "jax.tree_util.")  # which call functions with what a tree holds
_HANDING = ("map", "filter", "reduce", "functools.reduce")
_TRAITS = ("shape", "ndim", "dtype", "size")  # known while tracing


class Origin(NamedTuple):
    """Parameters of a transformed function; no function where the calls of the run do not lead to one."""

    names: tuple[str, ...] = ()
    source: Source | None = None
    function: Function | None = None


class _Item(NamedTuple):
    """One of the arguments that `*args` or `**kwargs` takes; of the first, `back` from the last one."""

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
    """The parameters of the innermost transformed function that an expression depends on.

    If it depends on none of them, those of the next one outside.
    """
    frames = _frames(case)
    at = next(
        (i for i in reversed(range(len(frames))) if _stands_in(source, node, frames[i])), None
    )
    if at is None:
        return Origin()
    reads = _reads(source, node)
    for i in reversed(range(1, at + 1)):
        here, above = frames[i], frames[i - 1]
        function = here.function
        if function is None:
            break
        known = _all_parameters(function)
        own: _Names = {n for n in reads if _plain(n) in known}
        free: _Names = {
            n for n in reads - own if _is_bound_around(here.source, function, _plain(n))
        }
        given: list[_Names] = []
        bound: set[str] = set()
        for name in own:
            passed = _passed(case, above, here, name)
            if passed is not None:
                given.append(passed)
                bound.add(_plain(name))
        if here.transformed:
            reached = {_plain(n) for n in own} - bound - {"self"} - _static(here)
            if reached:
                return Origin(tuple(n for n in known if n in reached), here.source, function)
        reads = free.union(*given)
    return Origin()


def _plain(name: str | _Item) -> str:
    return name.name if isinstance(name, _Item) else name


def _frames(case: Case) -> list[_Frame]:
    """The user's calls, outermost first; of the parts of one function the innermost."""
    found: list[_Frame] = []
    for i, span in enumerate(case.facts.frames):
        source = case.sources.get(span.file)
        node = source.at(span) if source is not None else None
        if source is None or node is None:
            continue
        node = node.value if isinstance(node, ast.Expr) else node
        frame = _Frame(source, node, source.function(node), i in case.facts.entered)
        if found and found[-1].function is frame.function and found[-1].node in source.above(node):
            frame = frame._replace(transformed=found.pop().transformed)  # a comprehension
        found.append(frame)
    if not case.facts.entered:  # frames of an exception, those of sagax left out
        found = [
            frame._replace(transformed=_is_transformed(case, frame, above))
            for frame, above in zip(found, [None, *found], strict=False)
        ]
    return found


def _stands_in(source: Source, node: ast.AST, frame: _Frame) -> bool:
    return (
        source is frame.source
        and frame.function is not None
        and source.function(node) is frame.function
    )


def _all_parameters(function: Function) -> list[str]:
    more = [a.arg for a in (function.args.vararg, function.args.kwarg) if a is not None]
    return [*parameters(function), *more]


# --- what a function reads ------------------------------------------------------------------------


def _reads(source: Source, node: ast.AST) -> _Names:
    """The parameters, and the variables of functions around, that an expression depends on."""
    function = source.function(node)
    if function is None:
        return set()
    known = set(_all_parameters(function))
    found: _Names = set()
    seen: set[str] = set()
    todo = _loads(node)
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        made = False
        for value in _values(source, function, name, node):
            made = True
            todo += _loads(value)
        if name in known or not made:
            found.add(name)
    return found


def _loads(node: ast.AST) -> list[str]:
    """The names that an expression reads, those left out of which it takes the shape or dtype only."""
    found: list[str] = []
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, ast.Attribute) and part.attr in _TRAITS:
            continue
        if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "len":
            continue
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            found.append(part.id)
        todo += list(ast.iter_child_nodes(part))
    return found


def _values(source: Source, function: Function, name: str, node: ast.AST) -> Iterable[ast.expr]:
    """What a variable of a function got before an expression of it, or in a round of a loop before."""
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
    """Whether a name is a variable of a function around this one."""
    return any(
        name in _all_parameters(around) or name in stores(_body(around))
        for around in source.above(function)
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    )


def _body(function: Function) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else list(function.body)


# --- what a call passes ---------------------------------------------------------------------------


def _passed(case: Case, above: _Frame, here: _Frame, name: str | _Item) -> _Names | None:
    """What the caller reads for a parameter; of a transformed function, for one that is no argument of it:
    one that `partial` holds. None if it is an argument, or nothing is known.
    """
    function, source, call = here.function, above.source, above.node
    if function is None or not isinstance(call, ast.Call):
        return None
    if not here.transformed:
        meaning = source.meaning(call.func)
        handing = meaning.startswith(_LEAVES) or meaning in _HANDING
        if handing or getattr(call.func, "id", "") in _HANDING:
            return _of_call(above, call.args[1:], [], call.args[0], function, name)
        return _of_call(above, list(call.args), list(call.keywords), call.func, function, name)
    index, held = _index(function, name), _held(case, source, call)
    if held is None or index is None or isinstance(name, _Item):
        return None
    # its arguments are the last ones; what comes before, partial holds, maybe one in another
    first = len(_positional(function)) - len(function.args.defaults) - _count(source, call)
    if any(isinstance(a, ast.Starred) for a in call.args):  # as many as there are left
        first = 0
    if index >= max(first, len(held.args) - 1):
        return None
    at = index - max(first, len(held.args) - 1) + len(held.args)
    return _reads(source, held.args[at]) if at > 0 else set()


_PARTIAL = "functools.partial"


def _held(case: Case, source: Source, call: ast.Call) -> ast.Call | None:
    """The `partial(f, ...)` that a call of a transformation, or of what it made, applies to."""
    target: ast.expr = call.args[0] if source.meaning(call.func).startswith("jax.") else call.func
    while isinstance(target, ast.Call) and source.meaning(target.func) != _PARTIAL:
        if not target.args:
            return None
        target = target.args[0]
    if isinstance(target, ast.Call):
        return target
    name = getattr(target, "id", getattr(target, "attr", ""))
    for there in case.sources.values() if name else ():
        for assignment in there.nodes(ast.Assign):
            value = assignment.value
            if not isinstance(value, ast.Call) or there.meaning(value.func) != _PARTIAL:
                continue
            if any(getattr(t, "id", getattr(t, "attr", "")) == name for t in assignment.targets):
                return value
    return None


_COUNTS = {"scan": 2, "fori_loop": 2, "associative_scan": 2, "while_loop": 1, "map": 1}


def _count(source: Source, call: ast.Call) -> int:
    """How many arguments a transformation such as scan, or what one made, passes."""
    meaning = source.meaning(call.func)
    if not meaning.startswith("jax."):
        return len(call.args)
    return _COUNTS.get(meaning.rpartition(".")[2], 1)


def _positional(function: Function) -> list[str]:
    known = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    return known[1:] if known[:1] == ["self"] else known


def _index(function: Function, name: str | _Item) -> int | None:
    known = _positional(function)
    if isinstance(name, _Item):
        return None if name.keyword else len(known) + name.at
    return known.index(name) if name in known else None


def _of_call(
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
        return _reads(source, target.value if isinstance(target, ast.Attribute) else target)
    for keyword in keywords:
        if keyword.arg == plain and plain:
            return _reads(source, keyword.value)
    index = _index(function, name)
    known = _positional(function)
    star = next((i for i, a in enumerate(args) if isinstance(a, ast.Starred)), None)
    called = getattr(target, "id", getattr(target, "attr", ""))
    if index is not None and star is None:
        if isinstance(name, _Item):
            back, missing = name.back, called != getattr(function, "name", "")
            at = len(args) - back if missing else index
        else:
            optional = len(function.args.defaults)
            others = sum(k.arg in known for k in keywords)
            at = index - max(0, len(known) - optional - others - len(args))
        if 0 <= at < len(args):
            return _reads(source, args[at])
    elif index is not None and star is not None:
        if index < star:
            return _reads(source, args[index])
        starred = args[star]
        assert isinstance(starred, ast.Starred)
        own = above.function.args.vararg if above.function is not None else None
        if isinstance(starred.value, ast.Name) and own is not None and own.arg == starred.value.id:
            back = name.back if isinstance(name, _Item) else len(known) - index
            return {_Item(own.arg, index - star, back)}
        return _reads(source, starred.value)
    rest = next((k.value for k in keywords if k.arg is None), None)
    if rest is not None and plain:
        own = above.function.args.kwarg if above.function is not None else None
        if isinstance(rest, ast.Name) and own is not None and own.arg == rest.id:
            return {_Item(own.arg, 0, 0, plain)}
        return _reads(source, rest)
    return set()


# --- which functions are transformed --------------------------------------------------------------


def _is_transformed(case: Case, here: _Frame, above: _Frame | None) -> bool:
    """Whether a call goes through a transformation, as far as the source and the error's context tell."""
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
    called = getattr(target, "id", getattr(target, "attr", ""))
    if called in ("", name):
        return False
    return any(
        _transforms(there, assignment.value)
        for there in case.sources.values()
        for assignment in there.nodes(ast.Assign)
        for t in assignment.targets
        if getattr(t, "id", getattr(t, "attr", "")) == called
    )


def _names_transformation(meaning: str) -> bool:
    if meaning.startswith(_LEAVES):
        return False
    return meaning.startswith("jax.") and meaning.rpartition(".")[2] in _TRANSFORMATIONS


def _transforms(source: Source, node: ast.AST) -> bool:
    """Whether an expression is a transformation, or what one makes of a function."""
    if not isinstance(node, ast.Call):
        return _names_transformation(source.meaning(node))
    if source.meaning(node.func) == _PARTIAL:
        return bool(node.args) and _transforms(source, node.args[0])
    return _transforms(source, node.func)


# --- the parameters that are no arguments --------------------------------------------------------


def _static(frame: _Frame) -> set[str]:
    """The parameters that the decorators of a function make static."""
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


# --- one function only ------------------------------------------------------------------------


def arguments_of(source: Source, node: ast.AST) -> tuple[str, ...]:
    """The parameters of the function around an expression that it depends on, in order."""
    function = source.function(node)
    if function is None:
        return ()
    found = _reads(source, node)
    return tuple(n for n in parameters(function) if n in found)
