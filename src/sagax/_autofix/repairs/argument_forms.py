"""Repair arguments of another form than a function takes: seeds, lists, dtypes, tuples, cotangents."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from sagax._autofix.repairs.case import Candidate, Case, Measurement, at_expression
from sagax._autofix.repairs.source_file import (
    Function,
    Source,
    argument,
    first_statement,
    last_name,
    parameters,
)
from sagax._autofix.repairs.types import widest_dtype
from sagax._src.diagnostics.model import Edit

_DISPLAYS = (ast.Tuple, ast.List)


@at_expression
def wrap_in_tuples(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `jvp(f, x, t)` as `jvp(f, (x,), (t,))`."""
    if "must be tuples or lists" not in case.facts.message:
        return
    for call in source.calls_of("jax.jvp", within=source.statement(node)):
        given = [argument(call, 1, "primals"), argument(call, 2, "tangents")]
        edits = [
            source.replace(value, f"({source.code(value)},)")
            for value in given
            if value is not None and not isinstance(value, _DISPLAYS)
        ]
        if edits:
            title = "give primals and tangents as tuples, with one entry for each argument"
            yield Candidate("tuple_arguments", title, tuple(edits), 1)


# --- random numbers ------------------------------------------------------------------------------


@at_expression
def make_key(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Make a key of a seed that is passed in its place."""
    if "unexpected PRNG key type" not in case.facts.message:
        return
    make, imports = source.spell("jax.random.key")
    for call in source.nodes(ast.Call, node):
        seed = _key_argument(source, call)
        if seed is None:
            continue
        function = source.function(call)
        if not isinstance(seed, ast.Name) or not isinstance(function, ast.FunctionDef):
            edits = [source.replace(seed, f"{make}({source.code(seed)})")]
        else:
            edits = _make_key_once(source, function, call, seed, make)
        title = f"make a key of the seed: `{make}({source.code(seed)})`"
        yield Candidate("make_key", title, (*edits, *imports), 1)
        return


def _key_argument(source: Source, call: ast.Call) -> ast.expr | None:
    """Return the key of a draw or a split, unless it is made in the call."""
    if not source.meaning(call.func).startswith("jax.random."):
        return None
    given = argument(call, 0, "key")
    return given if isinstance(given, (ast.Name, ast.Constant, ast.Attribute)) else None


def _make_key_once(
    source: Source, function: Function, call: ast.Call, seed: ast.Name, make: str
) -> list[Edit]:
    """Make one key for all draws of a function, so that a key that is used twice is found."""
    draws = [
        given
        for other in source.nodes(ast.Call, function)
        if isinstance(given := _key_argument(source, other), ast.Name) and given.id == seed.id
    ]
    if len(draws) == 1 or seed.id not in parameters(function):
        return [source.replace(seed, f"{make}({seed.id})")]
    assert isinstance(function, ast.FunctionDef)
    name = source.fresh("key", call)
    first = first_statement(function)
    line = f"{source.indent(first)}{name} = {make}({seed.id})"
    edits = [source.insert_above(source.first_line(first), line)]
    return edits + [source.replace(given, name) for given in draws]


# --- arrays --------------------------------------------------------------------------------------


@at_expression
def make_array(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Make an array of the list, the generator or the values of a dict that a reduction gets."""
    said = re.search(
        r"requires ndarray or scalar arguments, got <class '(\w+)'> at position (\d+)",
        case.facts.message,
    )
    if said is None or not isinstance(node, ast.Call):
        return
    kind, at = said[1], int(said[2])
    if at >= len(node.args) or kind == "str" or isinstance(node.args[at], ast.Starred):
        return
    value = node.args[at]
    numpy, imports = source.spell("jax.numpy")
    text = source.code(value)
    if isinstance(value, ast.GeneratorExp):
        inner = text[1:-1] if text.startswith("(") else text  # its own parentheses or the call's
        new = f"{numpy}.array([{inner}])"
        shared = text.startswith("(") and source.code(node).endswith(text)
        new = f"({new})" if shared else new
    elif kind in ("list", "tuple"):
        new = f"{numpy}.array({text})"
    else:
        new = f"{numpy}.array(list({text}))"
    title = "make an array of it first: functions of arrays take no Python containers"
    yield Candidate("stack_list", title, (source.replace(value, new), *imports), 1)


@at_expression
def promote_operands(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Convert the operands of a function of `lax` to their widest dtype, an update to that of the array."""
    said = re.search(r"to have the same dtypes, got (.*)", case.facts.message)
    if said is None or not isinstance(node, ast.Call):
        return
    dtypes = re.findall(r"\w+", said[1])
    if len(dtypes) > len(node.args):
        return
    updates = last_name(node.func).startswith(("dynamic_update", "scatter"))
    wide = dtypes[0] if updates else widest_dtype(dtypes)  # an update does not change the array
    numpy, imports = source.spell("jax.numpy")
    operands = [a for a in node.args if not isinstance(a, ast.Constant)][: len(dtypes)]
    edits = [
        source.with_method(operand, f".astype({numpy}.{wide})")
        for operand, dtype in zip(operands, dtypes, strict=False)
        if dtype != wide
    ]
    if wide and edits:
        title = f"convert to {wide}: functions of `lax` do not promote dtypes"
        yield Candidate("convert_dtype", title, (*edits, *imports), 1)


# --- cotangents ----------------------------------------------------------------------------------


@at_expression
def shape_cotangent(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give the cotangent that a function of vjp gets the type of the output."""
    if "for argument to vjp function" not in case.facts.message or not isinstance(node, ast.Call):
        return
    expected, passed = (_type_of(case.facts.data.get(name, "")) for name in ("expected", "got"))
    if len(node.args) != 1 or expected is None or passed is None:
        return
    (dtype, shape), (given, got) = expected, passed
    numpy, imports = source.spell("jax.numpy")
    value, output = node.args[0], _output_name(source, node)
    text = source.code(value)
    if not got and shape:  # the same number for each element
        ones = isinstance(value, ast.Constant) and value.value in (1, 1.0)
        if output:
            new = f"ones_like({output})" if ones else f"full_like({output}, {text})"
        else:
            new = f"ones({shape})" if ones else f"full({shape}, {text})"
        title = f"weigh each element of the output by {text}: a cotangent has its shape, {shape}"
        edits = (source.replace(value, f"{numpy}.{new}"), *imports)
        yield Candidate("cotangent_shape", title, edits, 1, assumes=True)
    elif shape == got and dtype != given:
        edit = source.with_method(value, f".astype({numpy}.{dtype})")
        title = f"give the cotangent the dtype of the output, {dtype}"
        yield Candidate("cotangent_shape", title, (edit, *imports), 1)
    elif _size(shape) == _size(got):
        edit = source.with_method(
            value, f".reshape({output}.shape)" if output else f".reshape({shape})"
        )
        title = f"give the cotangent the shape of the output, {shape}"
        yield Candidate("cotangent_shape", title, (edit,), 1, assumes=True)


def _type_of(text: str) -> tuple[str, tuple[int, ...]] | None:
    found = re.fullmatch(r"(\w+)\[([\d,]*)\]", text)
    return (found[1], tuple(int(n) for n in found[2].split(",") if n)) if found else None


def _size(shape: Sequence[int]) -> int:
    product = 1
    for n in shape:
        product *= n
    return product


def _output_name(source: Source, call: ast.Call) -> str:
    """Return `y` for the call of `pull` in `y, pull = vjp(f, x)`."""
    name = last_name(call.func)
    for found in source.calls_of("jax.vjp", "jax.linearize"):
        parent = source.parents.get(found)
        if not isinstance(parent, ast.Assign) or parent.value is not found:
            continue
        for target in parent.targets:
            items = target.elts if isinstance(target, ast.Tuple) else []
            if len(items) >= 2 and last_name(items[1]) == name and isinstance(items[0], ast.Name):
                return "" if items[0].id.startswith("_") else items[0].id
    return ""


# --- keys of dicts and caches --------------------------------------------------------------------


@at_expression
def pass_hashable_number(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass a number or a tuple in place of a small array that is hashed, as by a cache."""
    if case.facts.hashed != "array":
        return
    for value in _hashed_expressions(source, node):
        for measured in case.measure(source, value)[:1]:
            form = hashable_form(measured)
            if form:
                text = form.format(source.code(value))
                title = f"pass `{text}`: arrays cannot be hashed, numbers can"
                yield Candidate("hashable_argument", title, (source.replace(value, text),), 1)


def _hashed_expressions(source: Source, node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Call):
        yield from (a for a in node.args if not isinstance(a, ast.Starred))
        yield from (k.value for k in node.keywords)
    elif isinstance(node, ast.Compare):
        yield node.left
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        yield node.targets[0].slice
    elif isinstance(node, ast.Dict):
        yield from (k for k in node.keys if k is not None)
    elif isinstance(node, ast.Set):
        yield from node.elts


def hashable_form(measured: Measurement) -> str:
    """Return the format of what can be hashed in place of an array; "" if there is none."""
    if measured.shape is None or measured.kind in ("int", "float", "bool"):
        return ""
    if measured.shape == ():
        number = (
            "int" if "int" in measured.dtype else "bool" if "bool" in measured.dtype else "float"
        )
        return f"{number}({{}})"
    return "tuple({}.tolist())" if len(measured.shape) == 1 else ""
