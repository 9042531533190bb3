"""Repair what jit and checkpoint cannot take: generators, functions as results, texts, traced keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import resolve_functions
from sagax._autofix.repairs.leaks import call_sites
from sagax._autofix.repairs.source_file import (
    Function,
    Source,
    argument,
    keyword_value,
    last_name,
    parameters,
    tuple_text,
)
from sagax._autofix.repairs.transform_options import (
    JIT_FUNCTIONS,
    Application,
    add_static,
    applications,
    arguments_passed,
    listed_constants,
    option_value,
    set_option,
)
from sagax._autofix.repairs.types import BODY_POSITION, find_loop_call
from sagax._src.diagnostics.model import Edit

_CHECKPOINTS = ("jax.checkpoint", "jax.remat", "jax.ad_checkpoint.checkpoint")


# --- functions that jit does not take ------------------------------------------------------------


def drop_jit(case: Case) -> Iterator[Candidate]:
    """Drop jit from a generator function, and from one that returns a function or an object."""
    message = case.facts.message
    said = re.search(r"got a generator function: ([\w.<>]+)", message) or re.search(
        r"jit: ([\w.<>]+) returned a value of type (?!str\b|bytes\b)\w+, which is not", message
    )
    if said is None:
        return
    for applied in applications(case, said[1]):
        source, node = applied.source, applied.node
        title = (
            f"leave `{said[1]}` without jit, whose results are arrays: what it calls may be jitted"
        )
        if not applied.decorator and isinstance(node, ast.Call):
            edit = source.replace(node, source.code(node.args[0]))
        elif applied.function is not None and isinstance(applied.function, ast.FunctionDef):
            edit = _without_decorator(source, node)
        else:
            continue
        yield Candidate("drop_jit", title, (edit,), 2)


def _without_decorator(source: Source, decorator: ast.expr) -> Edit:
    """Delete the lines of a decorator."""
    at = source.span(decorator)
    line = ast.Pass(lineno=at.line, end_lineno=at.end_line, col_offset=0, end_col_offset=0)
    return source.delete(line)


def return_partial(case: Case) -> Iterator[Candidate]:
    """Return `Partial(f, values)` in place of a function that closes over values of the trace."""
    said = re.search(r"jit: ([\w.<>]+) returned a value of type function,", case.facts.message)
    if said is None:
        return
    for source, function in case.definition(said[1]):
        for statement in source.nodes(ast.Return, function):
            value = statement.value
            inner = _returned_function(function, value)
            if value is None or inner is None or source.function(statement) is not function:
                continue
            captured = _captured_names(source, function, inner)
            if not captured or inner.args.posonlyargs or not parameters(inner):
                continue
            partial, imports = source.spell("jax.tree_util.Partial")
            names = ", ".join(captured)
            first = [*inner.args.args, *inner.args.kwonlyargs][0]
            at = source.span(first)
            edits = [source.insert(at.line, at.column or 0, f"{names}, ")]
            edits += source.around(value, f"{partial}(", f", {names})")
            title = f"return the function with its data, {names}: a `Partial` is a tree of arrays"
            yield Candidate("return_data", title, (*edits, *imports), 1)


def _returned_function(
    function: ast.FunctionDef, value: ast.expr | None
) -> ast.FunctionDef | ast.Lambda | None:
    """Return the inner function that a function returns by its name, or as a lambda."""
    if isinstance(value, ast.Lambda):
        return value
    inner = [
        f
        for f in function.body
        if isinstance(f, ast.FunctionDef) and f.name == getattr(value, "id", None)
    ]
    return inner[0] if len(inner) == 1 else None


def _captured_names(source: Source, outer: ast.FunctionDef, inner: Function) -> list[str]:
    """Return the local variables of a function that an inner function reads."""
    bound = set(parameters(outer))
    bound |= {
        n.id
        for n in source.nodes(ast.Name, outer)
        if isinstance(n.ctx, ast.Store) and source.function(n) is outer
    }
    own = set(parameters(inner)) | {
        n.id for n in source.nodes(ast.Name, inner) if isinstance(n.ctx, ast.Store)
    }
    read = [n.id for n in source.nodes(ast.Name, inner) if isinstance(n.ctx, ast.Load)]
    return list(dict.fromkeys(n for n in read if n in bound and n not in own))


def _hashes_tracer(case: Case) -> bool:
    """Return whether a traced value was hashed, or given for a static argument."""
    static = re.search(r"of type \w*Tracer cannot be hashed", case.facts.message)
    return case.facts.hashed == "tracer" or static is not None


# --- static arguments ----------------------------------------------------------------------------


def mark_outer_static(case: Case) -> Iterator[Candidate]:
    """Mark as static what an outer jitted function passes for a static argument of an inner one."""
    name = case.facts.data.get("argument", "")
    if not _hashes_tracer(case):
        return
    for source, node in case.located(reversed(case.facts.frames)):
        for call in source.nodes(ast.Call, node):
            value = arguments_passed(case, source, call).get(name)
            function = source.function(call)
            if value is None or not isinstance(function, ast.FunctionDef):
                continue
            read = [n.id for n in ast.walk(value) if isinstance(n, ast.Name)]
            wanted = [p for p in parameters(function) if p in read]
            for applied in applications(case, function.name, JIT_FUNCTIONS):
                if not wanted or not all(w in applied.parameters for w in wanted):
                    continue
                names = ", ".join(f"`{w}`" for w in wanted)
                title = f"mark {names} of `{function.name}` as static as well"
                edits = tuple(add_static(applied, wanted))
                yield Candidate("static_args", title, edits, 1)
                return


def mark_static_in_checkpoint(case: Case) -> Iterator[Candidate]:
    """Mark a text or another object as static in checkpoint."""
    said = re.match(r"(?:checkpoint|remat) of ([\w.<>]+)", case.facts.data.get("function", ""))
    name = case.facts.data.get("argument", "")
    if said is None or "NotAnArrayError" not in case.facts.classes:
        return
    for applied in applications(case, said[1], _CHECKPOINTS):
        if name not in applied.parameters:
            continue
        listed = listed_constants(option_value(applied, "static_argnums"))
        numbers = sorted(
            {n for n in listed if isinstance(n, int)} | {applied.parameters.index(name)}
        )
        text = str(numbers[0]) if len(numbers) == 1 else tuple_text([str(n) for n in numbers])
        title = f"mark `{name}` as static: it is no array"
        edits = tuple(set_option(applied, "static_argnums", text))
        yield Candidate("static_args", title, edits, 1)
        return


# --- keys of dicts -------------------------------------------------------------------------------


@at_expression
def look_up_in_table(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Look a traced number up in an array of the values of a dict with whole numbers as keys."""
    if not _hashes_tracer(case) or not isinstance(node, ast.Subscript):
        return
    if not isinstance(node.value, ast.Name):
        return
    table = source.code(node.value)
    for value in source.assigned(node.value.id, source.tree):
        if not isinstance(value, ast.Dict) or len(source.assigned(node.value.id, source.tree)) > 1:
            return
        keys = [getattr(k, "value", None) for k in value.keys]
        whole = all(isinstance(k, int) and not isinstance(k, bool) and k >= 0 for k in keys)
        if not whole or keys == list(range(len(keys))):  # those need no order of keys
            return
        numbers = all(_is_number(v) for v in value.values)
        numpy, imports = source.spell("jax.numpy")
        if numbers:
            key = source.fresh("key", node)
            items = f"[{table}.get({key}, {numpy}.nan) for {key} in range(max({table}) + 1)]"
            text = f"{numpy}.array({items})"
            title = "look it up in an array: nan stands for numbers that the dict lacks"
            edits = (source.replace(node.value, text), *imports)
            yield Candidate("array_table", title, edits, 1)


def _is_number(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and type(node.value) is float


# --- sizes of segments ---------------------------------------------------------------------------


@at_expression
def give_segment_count(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give `segment_sum` the number of its segments: the length of an array that is indexed."""
    function = source.function(node)
    if "num_segments" not in case.facts.message or not isinstance(node, ast.Call):
        return
    if function is None or keyword_value(node, "num_segments") is not None:
        return
    sizes = {m.shape[0] for m in case.measure(source, node) if m.shape}
    taken = [last_name(a) for a in node.args[1:2]]
    indexed = [
        s.value.id
        for s in source.nodes(ast.Subscript, function)
        if isinstance(s.value, ast.Name) and s.value.id in parameters(function)
    ]
    known = [n for n in dict.fromkeys([*indexed, *parameters(function)]) if n not in taken]
    for name in known:
        use = next(iter(source.uses(name, function)), None)
        measured = case.measure(source, use) if use is not None else []
        if not measured or not all(m.shape and {m.shape[0]} == sizes for m in measured):
            continue
        text = f"{name}.shape[0]"
        calls = [
            c
            for c in source.nodes(ast.Call, function)
            if source.meaning(c.func) == source.meaning(node.func)
            and keyword_value(c, "num_segments") is None
            and len(c.args) == len(node.args)
        ]
        edits: list[Edit] = []
        for call in calls:
            edits += [source.replace(call, source.call_with(call, f"num_segments={text}"))]
        title = f"give the number of segments: `{text}`, which is known while tracing"
        yield Candidate("size_arg", title, tuple(edits), 1)
        return


# --- symbolic sizes ------------------------------------------------------------------------------


def share_scope(case: Case) -> Iterator[Candidate]:
    """Make the symbolic sizes of one program in one scope."""
    if "mixing of symbolic scopes" not in case.facts.message:
        return
    for source in case.sources.values():
        calls = [
            c
            for c in source.calls_of("jax.export.symbolic_shape")
            if keyword_value(c, "scope") is None and keyword_value(c, "constraints") is None
        ]
        if len(calls) < 2 or len({source.function(c) for c in calls}) > 1:
            continue
        make, imports = source.spell("jax.export.SymbolicScope")
        name = source.fresh("scope", calls[0])
        first = source.statement(calls[0])
        line = f"{source.indent(first)}{name} = {make}()"
        edits: list[Edit] = [source.insert_above(source.first_line(first), line)]
        edits += [source.replace(c, source.call_with(c, f"scope={name}")) for c in calls]
        title = "make the sizes in one scope, so that they can be compared"
        yield Candidate("one_scope", title, (*edits, *imports), 1)


# --- bodies of loops -----------------------------------------------------------------------------


# names of what a body gets first
_FIRST_NAMES = {
    "fori_loop": {"i", "j", "k", "n", "t", "idx", "index", "step", "it", "iteration", "round_", "_"},
    "scan": {"carry", "state", "hidden", "c", "h"},
}  # fmt: skip


def swap_body_parameters(case: Case) -> Iterator[Candidate]:
    """Exchange the parameters of a body: fori_loop passes (i, value), scan (carry, x)."""
    message = case.facts.message
    shapes = [case.facts.data.get(key, "").partition("[")[2] for key in ("expected", "got")]
    differs = "must have equal types" in message and shapes[0] != shapes[1]
    differs = differs or "same pytree structure" in message
    found = find_loop_call(case)
    if found is None:
        return
    name = found[0].meaning(found[1].func).rpartition(".")[2]
    body = argument(found[1], BODY_POSITION[name], "body_fun" if name != "scan" else "f")
    if name == "while_loop" or body is None:
        return
    for source, function in list(resolve_functions(case, found[0], body))[:1]:
        names = function.args.args
        if len(names) != 2 or function.args.defaults or function.args.posonlyargs:
            continue
        first, second = names
        swapped = second.arg in _FIRST_NAMES[name] and first.arg not in _FIRST_NAMES[name]
        if not differs and not swapped:
            continue
        edits = (
            source.replace(first, source.code(second)),
            source.replace(second, source.code(first)),
        )
        order = (
            "the number of the round, then the value"
            if name == "fori_loop"
            else "the carry, then x"
        )
        rank = 0 if swapped else 4
        yield Candidate(
            "argument_order", f"the body gets {order}", edits, rank, assumes=not swapped
        )


# --- results with auxiliary data -----------------------------------------------------------------


def pack_auxiliary(case: Case) -> Iterator[Candidate]:
    """Return (loss, (a, b)) from a function with has_aux that returns (loss, a, b)."""
    said = re.search(r"with has_aux=True ([\w.<>]+) must return a pair", case.facts.message)
    count = re.search(r"tuple of length (\d+)", case.facts.data.get("got", ""))
    if said is None:
        return
    for source, function in list(case.definition(said[1]))[:1]:
        edits: list[Edit] = []
        for statement in source.nodes(ast.Return, function):
            value = statement.value
            if source.function(statement) is not function or value is None:
                continue
            if count is None or not isinstance(value, ast.Tuple) or len(value.elts) < 3:
                return
            first, *rest = [source.code(e) for e in value.elts]
            text = f"{first}, ({', '.join(rest)})"
            outer = source.code(value).startswith("(")
            edits.append(source.replace(value, f"({text})" if outer else text))
        if edits:
            title = "return a pair: the loss, and a tuple of the other results"
            yield Candidate("return_pair", title, tuple(edits), 1)


# --- checks in compiled functions ----------------------------------------------------------------

_INNER_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def take_up_checks(case: Case) -> Iterator[Candidate]:
    """Apply `checkify` inside of jit, and throw where the function is called what its checks find."""
    if "nothing takes up what it finds" not in case.facts.message:
        return
    for name in [n for n, reason in case.facts.transforms if reason == "jit"][:1]:
        for applied in applications(case, name):
            function, source = applied.function, applied.source
            if not isinstance(function, ast.FunctionDef):
                continue
            checkify, imports = source.spell("jax.experimental.checkify.checkify")
            edits = [_checked(applied, function, checkify), *imports]
            for site in call_sites(case, source, function):
                thrown = _throw_error(site.source, site.call)
                if site.kinds() - set(JIT_FUNCTIONS) or not thrown:
                    return
                edits += thrown
            title = f"let `{name}` return what its checks find, and throw it where it is called"
            yield Candidate("checkify", title, tuple(edits), 1)
            return


def _checked(applied: Application, function: ast.FunctionDef, checkify: str) -> Edit:
    source, node = applied.source, applied.node
    if not applied.decorator and isinstance(node, ast.Call):
        return source.replace(node.args[0], f"{checkify}({source.code(node.args[0])})")
    below = (node.end_lineno or 0) + 1
    return source.insert_above(below, f"{source.indent(function)}@{checkify}")


def _throw_error(source: Source, call: ast.Call) -> list[Edit]:
    """Return the edits that unpack (error, result) of a call, and throw the error."""
    statement = source.statement(call)
    if source.enclosing(call, _INNER_SCOPES) or not isinstance(
        statement, (ast.Assign, ast.Expr, ast.Return, ast.AugAssign)
    ):
        return []
    error, indent = source.fresh("error", call), source.indent(statement)
    end = source.span(statement)
    throw = source.insert(end.end_line, end.end_column or 0, f"\n{indent}{error}.throw()")
    if (
        isinstance(statement, ast.Assign)
        and statement.value is call
        and len(statement.targets) == 1
    ):
        target = statement.targets[0]
        text = source.code(target)
        text = f"({text})" if isinstance(target, ast.Tuple) and text[:1] != "(" else text
        return [source.replace(target, f"{error}, {text}"), throw]
    if isinstance(statement, ast.Expr) and statement.value is call:
        return [source.replace(call, f"{error}, _ = {source.code(call)}"), throw]
    result = source.fresh("result", call)
    line = f"{indent}{error}, {result} = {source.code(call)}\n{indent}{error}.throw()"
    above = source.insert_above(source.first_line(statement), line)
    return [above, source.replace(call, result)]
