"""Repair the order and the form of operands: sequences, sizes, comparisons, results, branch indices."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import resolve_functions, returned_expressions
from sagax._autofix.repairs.pytree_operands import applied_functions
from sagax._autofix.repairs.source_file import Source, argument, keyword_value, tuple_text
from sagax._autofix.repairs.transform_options import find_transform_call
from sagax._src.diagnostics.model import Edit

_JOINING = ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "concat", "block")


@at_expression
def wrap_sequence(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `concatenate(a, b)` as `concatenate((a, b))`."""
    for call in source.nodes(ast.Call, source.statement(node)):
        module, _, name = source.meaning(call.func).rpartition(".")
        if module != "jax.numpy" or name not in _JOINING or len(call.args) < 2:
            continue
        first, *rest = call.args
        if isinstance(first, (ast.List, ast.Tuple, ast.Starred, ast.ListComp)):
            continue
        axis = ""
        if isinstance(rest[-1], (ast.Constant, ast.UnaryOp)):
            axis = f", axis={source.code(rest.pop())}"
        if not rest:
            continue
        arrays = tuple_text([source.code(a) for a in (first, *rest)])
        options = "".join(f", {source.code(k)}" for k in call.keywords)
        given = axis or keyword_value(call, "axis") is not None
        forms = [axis] if given or name not in ("concatenate", "concat") else ["", ", axis=-1"]
        for rank, form in enumerate(forms):
            text = f"{source.code(call.func)}({arrays}{form}{options})"
            title = (
                f"pass the arrays as one tuple{form}: the second argument of `{name}` is another"
            )
            edit = source.replace(call, text)
            yield Candidate("tuple_arguments", title, (edit,), rank, assumes=len(forms) > 1)


@at_expression
def infer_reshape_size(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Let `reshape` infer one of the sizes, where those given do not fit."""
    if "cannot reshape" not in case.facts.message:
        return
    for call in source.nodes(ast.Call, node):
        is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "reshape"
        if not is_method:
            continue
        sizes = call.args[1:] if source.meaning(call.func) == "jax.numpy.reshape" else call.args
        if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
            sizes = sizes[0].elts
        texts = [source.code(s) for s in sizes]
        if len(sizes) < 2 or "-1" in texts:
            continue
        for rank, i in enumerate(reversed(range(len(sizes))), 1):
            title = f"let reshape infer the size along axis {i}, which was `{texts[i]}`"
            edit = source.replace(sizes[i], "-1")
            yield Candidate("reshape", title, (edit,), rank, assumes=True)


# --- comparisons beside & and | ------------------------------------------------------------------

_BITS: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_COMPARES: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


@at_expression
def parenthesize_comparisons(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `x > a & x < b` as `(x > a) & (x < b)`: `&` binds more tightly than `>`."""
    for compare in source.nodes(ast.Compare, source.statement(node)):
        groups = _groups(source, compare)
        if len(groups) < 2:
            continue
        text = ""
        for part, compared, sign in groups:
            text += (f"({part})" if compared else part) + (f" {sign} " if sign else "")
        title = "put the comparisons in parentheses: `&` and `|` bind more tightly"
        yield Candidate("parentheses", title, (source.replace(compare, text),), -1)


def _groups(source: Source, compare: ast.Compare) -> list[tuple[str, bool, str]]:
    """Return what stands between the signs & and |: text, whether it compares, and the sign behind."""
    signs = [_COMPARES.get(type(op), "") for op in compare.ops]
    if not all(signs):
        return []
    found: list[tuple[str, bool, str]] = []
    text, compared = "", False
    for i, item in enumerate([compare.left, *compare.comparators]):
        parts, bits = _bit_operands(source, item)
        for j, part in enumerate(parts):
            if j:
                found.append((text, compared, bits[j - 1]))
                text, compared = "", False
            text += source.code(part)
        if i < len(signs):
            text, compared = f"{text} {signs[i]} ", True
    return [*found, (text, compared, "")]


def _bit_operands(source: Source, node: ast.expr) -> tuple[list[ast.expr], list[str]]:
    if not isinstance(node, ast.BinOp) or type(node.op) not in _BITS:
        return [node], []
    at = source.span(node)
    before = source.lines[at.line - 1][: at.column].rstrip()
    behind = source.lines[at.end_line - 1][at.end_column :].lstrip()
    if before.endswith("(") and behind.startswith(")"):
        return [node], []  # in parentheses of its own
    left, signs = _bit_operands(source, node.left)
    return [*left, node.right], [*signs, _BITS[type(node.op)]]


# --- results in another order --------------------------------------------------------------------

_LOSS = ("loss", "value", "cost", "energy", "error", "nll", "objective")


@at_expression
def swap_results(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Exchange the names that the loss and the gradient are unpacked into."""
    scope = source.function(node) or source.tree
    for statement in source.nodes(ast.Assign, scope):
        target, value = statement.targets[0], statement.value
        if not isinstance(target, (ast.Tuple, ast.List)) or len(target.elts) != 2:
            continue
        if not isinstance(value, ast.Call):
            continue
        first, second = (source.code(e) for e in target.elts)
        likely = first.lstrip("_").startswith("g") or any(w in second for w in _LOSS)
        if not likely or not all(isinstance(e, ast.Name) for e in target.elts):
            continue
        if "jax.value_and_grad" not in applied_functions(case, source, value.func):
            continue
        edits = (source.replace(target.elts[0], second), source.replace(target.elts[1], first))
        title = "the value comes first, then the gradient"
        yield Candidate("result_order", title, edits, 0)


# --- draws ---------------------------------------------------------------------------------------

_PARAMETERS = {"uniform": ("minval", "maxval"), "randint": ("minval", "maxval")}


@at_expression
def name_bounds(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `uniform(key, low, high)` with the bounds by name: the shape comes first."""
    if not any(t in case.facts.message for t in ("shape", "integer", "dtype")):
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        module, _, name = source.meaning(call.func).rpartition(".")
        if module != "jax.random" or len(call.args) < 3 or call.keywords:
            continue
        key, low, high, *rest = [source.code(a) for a in call.args]
        if name in _PARAMETERS and len(rest) < 2:
            shapes = rest or [""]
            if not rest:
                arrays = any(m.shape for m in case.measure(source, call.args[1]))
                numpy, _ = source.spell("jax.numpy")
                shapes = [f"{numpy}.shape({low})"] if arrays else [""]
            for shape in shapes:
                given = f", {shape}" if shape else ", ()" if name == "randint" else ""
                text = f"{source.code(call.func)}({key}{given}, minval={low}, maxval={high})"
                title = "name the bounds: the shape comes before them"
                edit = source.replace(call, text)
                yield Candidate("argument_order", title, (edit,), 1, assumes=True)
        elif name == "normal" and len(rest) < 2:
            shape = f", {rest[0]}" if rest else ""
            spread = source.operand(call.args[2])
            text = f"{source.operand(call.args[1])} + {spread} * {source.code(call.func)}({key}{shape})"
            title = "shift and scale a draw: `normal` takes a shape, and no mean"
            tight = isinstance(source.parents.get(call), (ast.BinOp, ast.Attribute, ast.Subscript))
            edit = source.replace(call, f"({text})" if tight else text)
            yield Candidate("argument_order", title, (edit,), 1, assumes=True)


# --- indices of branches ------------------------------------------------------------------------


@at_expression
def make_index_integer(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Convert the index of a switch to an integer."""
    if "Index type must be an integer" not in case.facts.message:
        return
    for call in source.calls_of("jax.lax.switch", within=source.statement(node)):
        index = argument(call, 0, "index")
        if index is not None:
            edit = source.with_method(index, ".astype(int)")
            title = "convert the index to an integer"
            yield Candidate("astype", title, (edit,), 1)


@at_expression
def make_subscript_integer(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Convert the positions that an array is indexed with to integers."""
    if "indices must be integers or booleans" not in case.facts.message:
        return
    for item in source.nodes(ast.Subscript, node):
        entries = item.slice.elts if isinstance(item.slice, ast.Tuple) else [item.slice]
        edits: list[Edit] = []
        for entry in entries:
            if any("float" in m.dtype or m.kind == "float" for m in case.measure(source, entry)):
                numpy, imports = source.spell("jax.numpy")
                edits += [
                    source.replace(entry, f"{numpy}.asarray({source.code(entry)}, int)"),
                    *imports,
                ]
        if edits:
            title = "convert the index to an integer: what is behind the point is dropped"
            yield Candidate("astype", title, tuple(edits), 1)


@at_expression
def unpack_index(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `x[[rows, columns]]` as `x[rows, columns]`, or make an array of the list."""
    if "a list is no index" not in case.facts.message:
        return
    for item in source.nodes(ast.Subscript, source.statement(node)):
        entries = item.slice.elts if isinstance(item.slice, ast.Tuple) else [item.slice]
        for entry in entries:
            if not isinstance(entry, ast.List) or not entry.elts:
                continue
            numpy, imports = source.spell("jax.numpy")
            text = ", ".join(source.code(e) for e in entry.elts)
            numbers = all(isinstance(e, ast.Constant) for e in entry.elts)
            title = f"index each axis by an array of its own: `{text}`"
            yield Candidate(
                "index_form", title, (source.replace(entry, text),), 1 + numbers, assumes=True
            )
            edits = (source.replace(entry, f"{numpy}.array([{text}])"), *imports)
            title = "make an array of the list: elements of the first axis"
            yield Candidate("index_form", title, edits, 2 - numbers, assumes=True)


# --- squares of complex numbers -----------------------------------------------------------------


def use_squared_magnitude(case: Case) -> Iterator[Candidate]:
    """Rewrite `z ** 2` in a complex loss as `abs(z) ** 2`."""
    if "requires real-valued outputs" not in case.facts.message:
        return
    for source in case.sources.values():
        for node in source.nodes(ast.BinOp):
            two = isinstance(node.right, ast.Constant) and node.right.value == 2
            if not isinstance(node.op, ast.Pow) or not two:
                continue
            if any("complex" in m.dtype for m in case.measure(source, node.left)):
                numpy, imports = source.spell("jax.numpy")
                text = f"{numpy}.abs({source.code(node.left)})"
                title = "square the magnitude: the square of a complex number is complex"
                edits = (source.replace(node.left, text), *imports)
                yield Candidate("real_loss", title, edits, 0, assumes=True)


def return_real_part(case: Case) -> Iterator[Candidate]:
    """Return the real part, or the magnitude, of a complex loss whose gradient is a variable."""
    if "requires real-valued outputs" not in case.facts.message:
        return
    source, node = case.source, case.node
    if source is None or node is None:
        return
    found = find_transform_call(case, source, node, ("jax.grad", "jax.value_and_grad"))
    if found is None or not found[1].args:
        return
    for defining, function in list(resolve_functions(case, found[0], found[1].args[0]))[:1]:
        for value in returned_expressions(defining, function):
            numpy, imports = defining.spell("jax.numpy")
            for rank, (name, what) in enumerate((("real", "real part"), ("abs", "magnitude")), 2):
                text = f"{numpy}.{name}({defining.code(value)})"
                title = f"return the {what}: a loss is a real number"
                edits = (defining.replace(value, text), *imports)
                yield Candidate("real_loss", title, edits, rank, assumes=True)


# --- outputs that are mapped -------------------------------------------------------------------------


@at_expression
def map_output(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give an output of vmap, which depends on a mapped argument, an axis."""
    said = re.search(
        r"out_axes(?:\[(\d+)\])?, got axis spec None but output was batched", case.facts.message
    )
    found = find_transform_call(case, source, node)
    if said is None or found is None:
        return
    there, call = found
    given = keyword_value(call, "out_axes") or argument(call, 2, "out_axes")
    if isinstance(given, (ast.Tuple, ast.List)) and said[1] and int(said[1]) < len(given.elts):
        edit = there.replace(given.elts[int(said[1])], "0")
        yield Candidate("out_axes", "stack this output along axis 0", (edit,), 1)
    elif isinstance(given, ast.Constant):
        for defining, function in list(resolve_functions(case, there, call.args[0]))[:1]:
            counts = {
                len(v.elts) if isinstance(v, ast.Tuple) else 0
                for v in returned_expressions(defining, function)
            }
            count = counts.pop() if len(counts) == 1 else 0
            if count and said[1]:
                entries = ["0" if i == int(said[1]) else "None" for i in range(count)]
                title = f"stack output {said[1]} along axis 0: it depends on what is mapped"
                edit = there.replace(given, tuple_text(entries))
                yield Candidate("out_axes", title, (edit,), 1)
        title = "stack the outputs along axis 0"
        yield Candidate("out_axes", title, (there.replace(given, "0"),), 2)


# --- labels of einsum --------------------------------------------------------------------------------


@at_expression
def drop_batch_label(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Leave out the first label of einsum, as of a batch that `vmap` maps over already."""
    if not re.search(
        r"einsum: operand \d+ has \d+ dimensions, but its subscripts", case.facts.message
    ):
        return
    for call in source.calls_of("jax.numpy.einsum", within=source.statement(node)):
        given = call.args[0] if call.args else None
        if not isinstance(given, ast.Constant) or not isinstance(given.value, str):
            continue
        terms = re.split(r",|->", given.value.replace(" ", ""))
        first = {term[:1] for term in terms}
        if len(first) == 1 and (label := first.pop()).isalpha():
            text = re.sub(rf"(^|,|->)(\s*){label}", r"\1\2", given.value)
            title = f"leave out the label `{label}`: the arrays have no such axis here"
            edit = source.replace(given, repr(text).replace("'", '"'))
            yield Candidate("einsum_label", title, (edit,), 0, assumes=True)


@at_expression
def relabel_axis(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give an axis of einsum, whose label has another size, the label of the axis of its size."""
    said = re.search(
        r"the label '(\w)' has size (\d+) in operand (\d+) and size (\d+) in operand (\d+)",
        case.facts.message,
    )
    shapes = [
        tuple(int(n) for n in re.findall(r"\d+", text))
        for text in re.findall(r"\(([\d, ]*)\)", case.facts.data.get("got", ""))
    ]
    calls = source.calls_of("jax.numpy.einsum", within=node)
    text = calls[0].args[0] if calls and calls[0].args else None
    if said is None or not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return
    left, arrow, out = text.value.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes) or any(
        len(t) != len(s) for t, s in zip(terms, shapes, strict=True)
    ):
        return
    label = said[1]
    for operand, size in ((int(said[5]), int(said[4])), (int(said[3]), int(said[2]))):
        others = [
            other
            for i, (term, shape) in enumerate(zip(terms, shapes, strict=True))
            for other, n in zip(term, shape, strict=True)
            if i != operand and n == size and other != label and other not in terms[operand]
        ]
        for other in dict.fromkeys(others):
            new = [t.replace(label, other) if i == operand else t for i, t in enumerate(terms)]
            whole = f"{','.join(new)}{arrow}{out}"
            title = f"label the axis of size {size} '{other}', as the other operand does"
            edit = source.replace(text, f'"{whole}"')
            yield Candidate("einsum_axes", title, (edit,), 1, assumes=True)
