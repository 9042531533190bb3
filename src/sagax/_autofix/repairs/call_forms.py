"""Repair calls and operators of a wrong form: applied values, sizes that are quotients, counts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.checks.lost_updates import own_update
from sagax._autofix.repairs.arrays import use_at_set
from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import reaching_definitions, resolve_functions
from sagax._autofix.repairs.source_file import (
    Source,
    argument,
    arguments,
    keyword_value,
    last_name,
    tuple_text,
)
from sagax._autofix.repairs.transform_options import find_transform_call, mark_static
from sagax._autofix.repairs.types import find_loop_call
from sagax._src.diagnostics.model import Edit

_APPLIED = (
    "jax.jit", "jax.grad", "jax.value_and_grad", "jax.vmap", "jax.jacfwd", "jax.jacrev", "jax.jacobian",
    "jax.hessian", "jax.checkpoint", "jax.remat", "jax.linearize", "jax.pmap",
)  # fmt: skip
_DERIVATIVES = ("jax.grad", "jax.value_and_grad", "jax.jacfwd", "jax.jacrev", "jax.jacobian", "jax.hessian")  # fmt: skip


# --- updates -------------------------------------------------------------------------------------

_UPDATES: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}


@at_expression
def assign_update(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `x.at[i] = v` as `x = x.at[i].set(v)`."""
    scope = source.function(node) or source.tree
    edits: list[Edit] = []
    for statement in source.nodes((ast.Assign, ast.AugAssign), scope):  # type: ignore[arg-type]
        if isinstance(statement, ast.Assign):
            target, method = statement.targets[0], "set"
        else:
            assert isinstance(statement, ast.AugAssign)
            target, method = statement.target, _UPDATES.get(type(statement.op), "")
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Attribute):
            continue
        if target.value.attr == "at" and method and len(getattr(statement, "targets", "1")) == 1:
            base = source.code(target.value.value)
            new = f"{base} = {source.code(target)}.{method}({source.code(statement.value)})"
            edits.append(source.replace(statement, new))
    if edits and source.statement(node).lineno in {e.span.line for e in edits}:
        title = "assign the updated copy: `.at[...]` changes nothing by itself"
        yield Candidate("at_set", title, tuple(edits), -1)


@at_expression
def combine_updates(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Let an update combine its elements with those before, as `.at[i].add(v)` does: all of them count."""
    update = own_update(source, node)
    if update is None:
        return
    found = _combination(source, update.value, update.read)
    if found is None:
        return
    method, text = found
    assert isinstance(update.call.func, ast.Attribute)
    head = source.code(update.call.func.value)
    edit = source.replace(update.call, f"{head}.{method}({text})")
    title = f"use `.{method}(...)`, which counts each of equal indices"
    yield Candidate("add_at", title, (edit,), 1)


def _combination(source: Source, value: ast.expr, read: ast.expr) -> tuple[str, str] | None:
    """Return the method of `.at[...]` and its argument that make `value` of the elements `read`."""
    if isinstance(value, ast.Call) and len(value.args) == 2 and read in value.args:
        method = {"maximum": "max", "minimum": "min"}.get(last_name(value.func))
        other = value.args[1 - value.args.index(read)]
        return None if method is None else (method, source.code(other))
    if not isinstance(value, ast.BinOp):
        return None
    if isinstance(value.op, (ast.Add, ast.Mult)) and value.right is read:
        return _UPDATES[type(value.op)], source.code(value.left)
    if isinstance(value.op, (ast.Mult, ast.Div)) and value.left is read:
        return _UPDATES[type(value.op)], source.code(value.right)
    terms: list[str] = []
    part: ast.expr = value
    while isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Add, ast.Sub)):
        sign = "+" if isinstance(part.op, ast.Add) else "-"
        terms.insert(0, f"{sign} {source.operand(part.right)}")
        part = part.left
    if part is not read or not terms:
        return None
    if all(t.startswith("- ") for t in terms):
        return "subtract", " ".join(["+ " + t[2:] for t in terms])[2:]
    text = " ".join(terms)
    return "add", text[2:] if text.startswith("+ ") else f"-{text[2:]}"


@at_expression
def make_buffer_traced(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Make a buffer of NumPy, which a traced value is written to, an array of `jax.numpy`."""
    statement = source.statement(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(statement, ast.AugAssign):
        target = statement.target
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return
    numpy, imports = source.spell("jax.numpy")
    made: list[Edit] = []
    for found in reaching_definitions(case, source, target.value):
        call = found.node
        if found.source is not source or not isinstance(call, ast.Call):
            return
        meaning = source.meaning(call.func)
        name = meaning.rpartition(".")[2]
        if meaning != f"numpy.{name}" or name not in _FILLED:
            return
        made.append(source.replace(call.func, f"{numpy}.{name}"))
        for part in source.nodes(ast.Attribute, call):  # dtype=np.float32
            if source.meaning(part).startswith("numpy.") and part is not call.func:
                made.append(source.replace(part, f"{numpy}.{part.attr}"))
    for update in use_at_set.__wrapped__(case, source, statement) if made else ():  # type: ignore[attr-defined]
        title = f"fill an array of `{numpy}`: one of NumPy holds no traced values"
        edits = tuple(dict.fromkeys((*update.edits, *made, *imports)))
        yield Candidate("at_set", title, edits, 0)


_FILLED = ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "array", "arange")  # fmt: skip


@at_expression
def assign_output(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `sum(x, out=y)` as `y = sum(x)`."""
    if not re.search(r"'?out'? argument|keyword argument 'out'", case.facts.message):
        return
    edits: list[Edit] = []
    scope = source.function(node) or source.tree
    for call in source.nodes(ast.Call, scope):
        out = keyword_value(call, "out")
        if out is None or not source.meaning(call.func).startswith("jax.numpy."):
            continue
        kept = [*call.args, *[k for k in call.keywords if k.arg != "out"]]
        text = f"{source.code(call.func)}({', '.join(source.code(a) for a in kept)})"
        statement = source.statement(call)
        if isinstance(statement, ast.Expr) and statement.value is call:
            if isinstance(out, ast.Subscript):
                base = source.code(out.value)
                text = f"{base} = {base}.at[{source.code(out.slice)}].set({text})"
            else:
                text = f"{source.code(out)} = {text}"
        edits.append(source.replace(call, text))
    if edits:
        title = "assign the result: functions of arrays fill no `out`"
        yield Candidate("assign_result", title, tuple(edits), 1)


# --- functions that were called too early, or wrapped too often ------------------------------------


@at_expression
def pass_function(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `grad(f(x))` as `grad(f)(x)`, and `grad(f(x))(x)` as `grad(f)(x)`."""
    if "xpected a callable value" not in case.facts.message:
        return
    for call in source.calls_of(*_APPLIED, within=source.statement(node)):
        inner = call.args[0] if call.args else None
        if not isinstance(inner, ast.Call) or source.meaning(inner.func).startswith("jax."):
            continue
        given = source.code(inner)[len(source.code(inner.func)) :]
        applied = substitute(source, call, {inner: source.code(inner.func)})
        around = source.parents.get(call)
        if not (isinstance(around, ast.Call) and around.func is call):
            applied += given
        title = f"pass the function `{source.code(inner.func)}` itself, and call what comes out"
        yield Candidate("pass_function", title, (source.replace(call, applied),), 1)


@at_expression
def correct_argnums(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Correct `argnums` that are out of range: all positions that there are."""
    said = re.search(
        r"argnums=(\(?[-\d, ]+\)?) does not fit: .* with (\d+) positional", case.facts.message
    )
    found = find_transform_call(case, source, node, _DERIVATIVES) if said is not None else None
    if said is None or found is None:
        return
    there, call = found
    given, count = argument(call, 1, "argnums"), int(said[2])
    if not isinstance(given, ast.Constant) or not isinstance(given.value, int):
        return
    likely = given.value - 1  # counted from 1, perhaps
    numbers = list(range(min(count, 4)))
    order = [n for n in numbers if n == likely] + [n for n in numbers if n != likely]
    for rank, number in enumerate(order, 1):
        title = f"differentiate with respect to argument {number}: positions count from 0"
        yield Candidate("argnums", title, (there.replace(given, str(number)),), rank)


@at_expression
def count_bound_arguments(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Count the positions of a bound method's arguments without `self`."""
    said = re.search(
        r"argument ((?:static|donate)_argnums) must be a position from -\d+ to (\d+):.* got (\d+)",
        case.facts.message,
    )
    if said is None or int(said[3]) != int(said[2]) + 1:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        given = keyword_value(call, said[1])
        if given is None or not call.args or not isinstance(call.args[0], ast.Attribute):
            continue
        numbers = [n for n in ast.walk(given) if isinstance(n, ast.Constant)]
        if not all(isinstance(n.value, int) and n.value > 0 for n in numbers):
            continue
        edits = tuple(source.replace(n, str(int(str(n.value)) - 1)) for n in numbers)
        title = f"count positions without `self`, which `{source.code(call.args[0])}` has already"
        yield Candidate("static_args", title, edits, 1)


@at_expression
def wrap_axes(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give `in_axes` as a tuple with an entry for each argument."""
    if "in_axes must be an int, None, or a tuple" not in case.facts.message:
        return
    calls = source.calls_of("jax.vmap", "jax.pmap", within=source.statement(node))
    found = find_transform_call(case, source, node)
    for there, call in [(source, c) for c in calls] or ([found] if found is not None else []):
        given = argument(call, 1, "in_axes")
        if given is None or isinstance(given, (ast.Tuple, ast.Constant)):
            continue
        functions = [f for _, f in resolve_functions(case, there, call.args[0])]
        more = len(arguments(functions[0])) - 1 if functions else 0
        for rank, axis in enumerate(("0", "None") if more else ("",), 1):
            text = tuple_text([there.code(given), *[axis] * more])
            title = "give `in_axes` as a tuple, with an entry for each argument"
            yield Candidate("in_axes", title, (there.replace(given, text),), rank)
        return


@at_expression
def drop_outer_vmap(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Map once less where a function gets fewer axes than it reads."""
    mapped = sum(reason == "vmap" for _, reason in case.facts.transforms)
    texts = ("too many indices", "rank should be at least", "out of bounds", "no axis")
    if not mapped or not any(t in case.facts.message for t in texts):
        return
    for there in case.sources.values():
        for call in there.calls_of("jax.vmap"):
            inner = call.args[0] if call.args else None
            if isinstance(inner, ast.Call) and there.meaning(inner.func) == "jax.vmap":
                title = "map once less: the function itself works on the inner axis"
                edit = there.replace(call, there.code(inner))
                yield Candidate("drop_vmap", title, (edit,), 1, assumes=True)


@at_expression
def swap_two_axes(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `x.transpose(a, b)` of an array with more axes, which exchanges two elsewhere, as `swapaxes`."""
    if "transpose: argument axes must be all" not in case.facts.message:
        return
    for call in source.nodes(ast.Call, node):
        if source.meaning(call.func) == "jax.numpy.transpose" and call.args:
            base, given = call.args[0], argument(call, 1, "axes")
            axes = given.elts if isinstance(given, (ast.Tuple, ast.List)) else call.args[1:]
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "transpose":
            base, axes = call.func.value, call.args
        else:
            continue
        if len(axes) == 2 and not source.meaning(base):
            first, second = map(source.code, axes)
            text = f"{source.primary(base)}.swapaxes({first}, {second})"
            title = (
                f"exchange the axes {first} and {second}: `transpose` takes the order of all axes"
            )
            yield Candidate("swap_axes", title, (source.replace(call, text),), 1)


# --- counts and sizes ----------------------------------------------------------------------------


@at_expression
def split_for_names(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Split a key into as many as there are names for."""
    if "values to unpack" not in case.facts.message:
        return
    statement = source.statement(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(statement, ast.For):
        target = statement.target
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(statement, ast.Assign):
        return
    if any(isinstance(e, ast.Starred) for e in target.elts):
        return
    count = len(target.elts)
    for found in reaching_definitions(case, source, statement.value):
        there, call = found.source, found.node
        if not isinstance(call, ast.Call) or there.meaning(call.func) != "jax.random.split":
            continue
        given = argument(call, 1, "num")
        if given is None:
            edit = there.replace(call, there.call_with(call, str(count)))
        else:
            edit = there.replace(given, str(count))
        title = f"split the key into {count}: as many as there are names"
        yield Candidate("split_count", title, (edit,), 1)


@at_expression
def fold_in_number(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `key + i` as `fold_in(key, i)`."""
    if "key<" not in case.facts.message or not isinstance(node, ast.BinOp):
        return
    for key, number in ((node.left, node.right), (node.right, node.left)):
        kinds = [m.dtype for m in case.measure(source, key)[:1]]
        if kinds and kinds[0].startswith("key<"):
            fold, imports = source.spell("jax.random.fold_in")
            text = f"{fold}({source.code(key)}, {source.code(number)})"
            title = f"fold the number into the key: `{text}`"
            yield Candidate("fold_in", title, (source.replace(node, text), *imports), 1)
            return


@at_expression
def give_scan_length(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass the number of steps of a scan as its length."""
    if "no leading axis to scan over" not in case.facts.message:
        return
    found = find_loop_call(case)
    if found is None:
        return
    there, call = found
    xs = argument(call, 2, "xs")
    if xs is None or argument(call, 3, "length") is not None:
        return
    measured = case.measure(there, xs)
    if case.measured is not None and not (measured and isinstance(measured[0].value, int)):
        return
    steps = there.code(xs)
    length = (
        f"xs=None, length={steps}" if keyword_value(call, "xs") is xs else f"None, length={steps}"
    )
    at = next((k for k in call.keywords if k.value is xs), xs)
    body = next((f for _, f in resolve_functions(case, there, call.args[0])), None)
    item = arguments(body)[-1:] if body is not None else []
    reads = {n.id for n in there.nodes(ast.Name, body)} if body is not None else set[str]()
    numpy, imports = there.spell("jax.numpy")
    counted = (there.replace(xs, f"{numpy}.arange({steps})"), *imports)
    alone = (there.replace(at, length),)
    title = f"scan over {steps} steps"
    edits = counted if item and item[0] in reads else alone
    yield Candidate("scan_length", title, edits, 1)


@at_expression
def divide_whole(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Divide with `//` where an integer is needed."""
    texts = (
        r"must be an int", r"must be integers", r"as an integer", r"integers? or slices", r"must be an integer",
        r"known while tracing; got [\d.]+ \(float\)", r"xpected: an int",
    )  # fmt: skip
    said = case.facts.message + " " + case.facts.data.get("expected", "")
    if not any(re.search(text, said) for text in texts) or not isinstance(node, ast.expr):
        return
    quotients: dict[ast.BinOp, Source] = {}
    todo: list[tuple[Source, ast.expr]] = [(source, node)]
    for there, part in todo:
        for found in there.nodes(ast.BinOp, part):
            if isinstance(found.op, ast.Div) and _is_size(there, found):
                quotients.setdefault(found, there)
    if not quotients:  # in a variable
        for name in source.nodes(ast.Name, node):
            for definition in reaching_definitions(case, source, name):
                for found in definition.source.nodes(ast.BinOp, definition.node):
                    if isinstance(found.op, ast.Div):
                        quotients.setdefault(found, definition.source)
    edits: list[Edit] = []
    for found, there in quotients.items():
        sides = [case.measure(there, side) for side in (found.left, found.right)]
        if case.measured is not None and not all(s and s[0].kind == "int" for s in sides):
            continue
        if (edit := _double_slash(there, found)) is not None:
            edits.append(edit)
    if edits and case.measured is not None:
        title = "divide with `//`: a quotient by `/` is a float, also where nothing is left"
        yield Candidate("integer_division", title, tuple(edits), 1)


def _is_size(source: Source, node: ast.AST) -> bool:
    """Return whether an expression is an argument or an index, not a part of an array's value."""
    for above in source.above(node):
        if isinstance(above, (ast.Call, ast.Subscript, ast.keyword, ast.Slice)):
            return True
        if isinstance(above, ast.stmt):
            return isinstance(above, (ast.Assign, ast.AnnAssign))
    return False


def _double_slash(source: Source, node: ast.BinOp) -> Edit | None:
    left, right = source.span(node.left), source.span(node.right)
    if left.end_line != right.line:
        return None
    line = source.lines[right.line - 1]
    at = line.find("/", left.end_column or 0, right.column or 0)
    return source.insert(right.line, at, "/") if at >= 0 else None


# --- values that functions do not take --------------------------------------------------------------


@at_expression
def pad_rows(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pad the rows of a ragged list with zeros."""
    if "the parts of the nested list differ in shape" not in case.facts.message:
        return
    makers = ("jax.numpy.array", "jax.numpy.asarray", "jax.numpy.stack")
    for call in source.calls_of(*makers, within=source.statement(node)):
        rows = call.args[0] if call.args else None
        if rows is None:
            continue
        code = source.code(rows)
        row, longest = source.fresh("row", call), source.fresh("longest", call)
        statement = source.statement(call)
        text = f"[{row} + [0] * ({longest} - len({row})) for {row} in {code}]"
        line = f"{source.indent(statement)}{longest} = max(len({row}) for {row} in {code})"
        edits = (
            source.insert_above(source.first_line(statement), line),
            source.replace(rows, text),
        )
        title = "pad the rows with zeros to one length: mask them where they would count"
        yield Candidate("pad_shape", title, edits, 1, assumes=True)
        return


@at_expression
def use_supported_value(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass the largest value of an option that is implemented, as in `requires order<=1`."""
    said = re.search(r"requires (\w+)\s*<=\s*(\d+)", case.facts.message)
    if said is None:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        value = keyword_value(call, said[1])
        if value is not None:
            title = f"pass {said[1]}={said[2]}, the largest that there is: the result differs"
            edit = source.replace(value, said[2])
            yield Candidate("supported_value", title, (edit,), 1, assumes=True)


@at_expression
def use_symmetric_solver(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Solve for the eigenvectors of a symmetric matrix by `eigh`, which has derivatives."""
    if "eigenvectors of general matrices" not in case.facts.message:
        return
    for there in case.sources.values():
        for call in there.calls_of("jax.numpy.linalg.eig"):
            name, imports = there.spell("jax.numpy.linalg.eigh")
            title = "use `eigh` if the matrix is symmetric: its eigenvectors have derivatives"
            edits = (there.replace(call.func, name), *imports)
            yield Candidate("symmetric_solver", title, edits, 1, assumes=True)


@at_expression
def make_float(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Make a float of an integer that is too large for the default dtype."""
    if not re.search(r"Python int -?\d+ does not fit|too large to convert", case.facts.message):
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        if not source.meaning(call.func).startswith("jax.") or not call.args:
            continue
        value = call.args[0]
        if keyword_value(call, "dtype") is not None or not isinstance(
            value, (ast.Name, ast.Attribute, ast.Constant, ast.BinOp)
        ):
            continue
        text = f"float({source.code(value)})"
        title = "make it a float: 32 bits hold integers up to 2147483647"
        yield Candidate("wider_dtype", title, (source.replace(value, text),), 1)
        return


def drop_function_cache(case: Case) -> Iterator[Candidate]:
    """Remove the cache of a function that gets arrays, which cannot be hashed."""
    if not case.facts.hashed:
        return
    caches = ("functools.lru_cache", "functools.cache")
    for source, node in case.located([*reversed(case.facts.frames)]):
        called = {last_name(c.func) for c in source.nodes(ast.Call, source.statement(node))}
        for name in called - {""}:
            for there, function in case.definition(name):
                for decorator in function.decorator_list:
                    target = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if there.meaning(target) not in caches:
                        continue
                    edit = there.delete_decorator(decorator)
                    why = (
                        "in a compiled program it is computed once anyway"
                        if case.facts.hashed == "tracer"
                        else "arrays cannot be hashed"
                    )
                    title = f"do not cache `{name}`: {why}"
                    yield Candidate("remove_cache", title, (edit,), 2)
                    return


def mark_size_static(case: Case) -> Iterator[Candidate]:
    """Mark as static an argument that a function needs as a number, such as an exponent or a size."""
    texts = (
        "must be an int",
        "known while tracing",
        "must be a sequence of ints",
        "must be static",
    )
    if not any(t in case.facts.message for t in texts) or "[]" not in case.facts.message:
        return
    yield from mark_static(case)
