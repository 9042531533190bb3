"""Try small edits of the expression at fault, whatever the error says: axes, types, items, arguments.

An edit changes an operand, a call, or the definition of a name that the expression reads. Each is first
evaluated alone, in the frame where the run fails; those that evaluate are run whole. All of them are of
one kind, so that none is verified if their results differ.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from sagax._autofix.repairs.case import (
    LAST_RESORT_RANK,
    NOT_EVALUATED,
    Candidate,
    Case,
    Measurement,
)
from sagax._autofix.repairs.source_file import Source, last_name, tuple_text
from sagax._src.diagnostics.model import Edit

KIND = "small_edit"
_LIKELY, _UNLIKELY = 4, LAST_RESORT_RANK
_MAX_OPERANDS = 6
_MAX_PERMUTED = 4
_MAX_TRIED = 10
_MAX_EXPRESSIONS = 3
_MAX_SIZES = 6

_REDUCTIONS = {
    "all", "amax", "amin", "any", "max", "mean", "median", "min", "norm", "prod", "std", "sum", "var", "logsumexp",
    "nanmax", "nanmean", "nanmin", "nansum", "argmax", "argmin",
}  # fmt: skip
# functions of one purpose, which people take for each other
_SIBLINGS = (
    ("stack", "vstack", "hstack", "concatenate", "column_stack"),
    ("dot", "matmul", "vdot", "inner", "outer", "multiply"),
    ("dynamic_slice", "dynamic_slice_in_dim"),
    ("dynamic_update_slice", "dynamic_update_slice_in_dim"),
    ("conv", "conv_general_dilated"),
    ("take", "take_along_axis"),
    ("reshape", "broadcast_to"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("add", "sum"),
)


class _Change(NamedTuple):
    """Hold texts in place of parts of an expression, and what they do."""

    parts: tuple[tuple[ast.expr, str], ...]
    title: str
    assumes: bool = True  # what a call was meant to do cannot be told from its arguments
    likely: bool = True  # another option changes what is computed
    option: str = ""
    local: bool = False  # an axis or a conversion, with which nearly any call of a function runs
    reshapes: bool = False
    doubtful: bool = False  # after all others


def edit_expression(case: Case) -> Iterator[Candidate]:
    """Propose small edits with which the expression at fault, or a call that led there, can be evaluated."""
    found: list[Candidate] = []
    unknown = False
    for depth, (source, node) in enumerate(_expressions(case)):
        for text, edits, change in _edits(case, source, node):
            if depth and change.local:
                continue
            value = case.evaluate(source, node, text)
            if value is None or value.kind == NOT_EVALUATED:
                unknown = unknown or value is not None
                continue
            likely = change.likely or _is_named(case, change)
            if change.reshapes and isinstance(node, (ast.BinOp, ast.Compare)):
                # what keeps the shape of an operand is likelier than what makes a new one
                shapes = {m.shape for o in _operands(source, node) for m in case.measure(source, o)}
                likely = likely and (value.shape is None or value.shape in shapes)
            rank = _LIKELY + (change.doubtful or depth > 0) if likely else _UNLIKELY
            found.append(Candidate(KIND, change.title, edits, rank, assumes=change.assumes))
    found.sort(key=lambda c: (c.rank, c.size))
    for candidate in found[:_MAX_TRIED]:
        # some will not be tried, and may give another result
        yield replace(candidate, assumes=candidate.assumes or unknown or len(found) > _MAX_TRIED)


def _expressions(case: Case) -> list[tuple[Source, ast.expr]]:
    """Return the expression at fault, and the calls that led there, innermost first."""
    spans = [*([case.primary] if case.primary is not None else []), *reversed(case.facts.frames)]
    found: list[tuple[Source, ast.expr]] = []
    for source, node in case.located(spans):
        value = getattr(node, "value", None) if isinstance(node, ast.stmt) else node
        if isinstance(
            value, (ast.Call, ast.BinOp, ast.Compare, ast.Subscript, ast.Attribute, ast.UnaryOp)
        ) and not any(value is known for _, known in found):
            found.append((source, value))
    return found[:_MAX_EXPRESSIONS]


def _is_named(case: Case, change: _Change) -> bool:
    """Return whether the error is about the option that a change is for."""
    # any error about shapes names an axis
    return change.option not in ("", "axis") and change.option in case.facts.message


def _edits(
    case: Case, source: Source, node: ast.expr
) -> Iterator[tuple[str, tuple[Edit, ...], _Change]]:
    """Yield texts of the changed expression, with the edits that lead there."""
    for change in _changes(case, source, node):
        edits = tuple(source.replace(part, text) for part, text in change.parts)
        yield _with_parts(source, node, change.parts), edits, change
    for value, names in _definitions(case, source, node):
        code = source.primary(value)
        forms = [
            _Change(((value, text),), f"convert: `{text}`", local=True, doubtful=True)
            for text in (
                f"int({source.code(value)})",
                f"{code}.astype(int)",
                f"{code}.astype(float)",
            )
        ]
        sizes = _size_changes(case, source, value)
        trees = _tree_changes(source, value)
        for change in (*forms, *_call_changes(source, value), *sizes, *trees):
            edits = tuple(source.replace(part, text) for part, text in change.parts)
            inner = f"({_with_parts(source, value, change.parts)})"
            parts = [(name, inner + item) for name, item in names]
            yield _with_parts(source, node, parts), edits, change


def _changes(case: Case, source: Source, node: ast.expr) -> Iterator[_Change]:
    operands = _operands(source, node)
    for operand in operands:
        known = case.measure(source, operand)
        value = known[0] if known else None
        for text, title in _operand_forms(source, operand, value):
            front, widens = "[None" in text, "None" in text.removeprefix(source.primary(operand))
            converts = text.endswith((".astype(int)", ".astype(float)"))
            many = value is not None and value.kind in ("tuple", "list") and value.value != 1
            unclear = many and text.endswith(("[0]", "[1]", "[-1]"))  # which one is meant?
            moves = text.endswith(".T") or ".transpose(" in text
            doubtful = front or moves or converts or unclear
            yield _Change(
                ((operand, text),), title, converts or moves,
                local=widens or converts, reshapes=widens or moves, doubtful=doubtful,
            )  # fmt: skip
        for other in operands:
            if other is not operand and isinstance(other, (ast.Name, ast.Attribute, ast.Subscript)):
                dtypes = {m.dtype for m in (*known, *case.measure(source, other))}
                if not known or len(dtypes) == 2:
                    text = f"{source.primary(operand)}.astype({source.code(other)}.dtype)"
                    title = f"give `{source.code(operand)}` the dtype of `{source.code(other)}`"
                    yield _Change(((operand, text),), title, False)
                yield from _arranged(source, operand, other, known, case.measure(source, other))
        if isinstance(operand, ast.Call):
            yield from _call_changes(source, operand)
        trees = [m for m in known if m.kind in ("dict", "list", "tuple") and m.structure]
        if isinstance(node, ast.Call) and (trees or not known):
            yield from _leaf_changes(source, node, operand)
    yield from _call_changes(source, node)
    yield from _size_changes(case, source, node)


def _arranged(
    source: Source,
    operand: ast.expr,
    other: ast.expr,
    known: Sequence[Measurement],
    model: Sequence[Measurement],
) -> Iterator[_Change]:
    """Yield the leaves of a tree in the structure of another one, with leaves of the same types."""
    if known and model:
        # the structure, then the types of the leaves
        texts = [m[0].structure.rpartition(": ") for m in (known, model)]
        if not texts[0][2] or texts[0][2] != texts[1][2] or texts[0][0] == texts[1][0]:
            return
    elif known or model:
        return
    names = [source.spell(f"jax.tree.{n}") for n in ("unflatten", "structure", "leaves")]
    if not any(imports for _, imports in names):
        unflatten, structure, leaves = (name for name, _ in names)
        mine, theirs = source.code(operand), source.code(other)
        text = f"{unflatten}({structure}({theirs}), {leaves}({mine}))"
        title = f"arrange the leaves of `{mine}` as those of `{theirs}`"
        yield _Change(((operand, text),), title, False)


def _size_changes(case: Case, source: Source, call: ast.expr) -> Iterator[_Change]:
    """Yield the sizes that the error names in place of a number among the arguments of a call."""
    if not isinstance(call, ast.Call):
        return
    said = " ".join((case.facts.message, *case.facts.data.values()))
    sizes = list(dict.fromkeys(int(n) for n in re.findall(r"\b\d+\b", said)))[:_MAX_SIZES]
    for given in (*call.args, *(k.value for k in call.keywords)):
        items = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given]
        for item in items:
            old = item.value if isinstance(item, ast.Constant) else None
            if type(old) is int and old > 0:
                for size in sizes:
                    if size not in (old, 0):
                        title = f"a size of {size} for {old}: `{source.code(call)}`"
                        yield _Change(((item, str(size)),), title, doubtful=True)


def _operands(source: Source, node: ast.expr) -> list[ast.expr]:
    """Return the values that an expression is computed from."""
    found: list[ast.expr] = []

    def add(value: ast.expr) -> None:
        if isinstance(value, (ast.Tuple, ast.List)):
            for item in value.elts:
                add(item)
        elif isinstance(value, ast.BinOp):
            if value is not node:
                found.append(value)
            add(value.left)
            add(value.right)
        elif isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            if not source.meaning(value):
                found.append(value)

    match node:
        case ast.BinOp():
            add(node)
        case ast.UnaryOp():
            add(node.operand)
        case ast.Compare():
            for side in (node.left, *node.comparators):
                add(side)
        case ast.Subscript():
            add(node.value)
            items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            for item in items:
                bounds = [item.lower, item.upper] if isinstance(item, ast.Slice) else [item]
                for bound in bounds:
                    if bound is not None:
                        add(bound)
        case ast.Attribute():
            add(node.value)
        case ast.Call():
            if isinstance(node.func, ast.Attribute) and not source.meaning(node.func):
                add(node.func.value)
            for value in (*node.args, *(k.value for k in node.keywords)):
                add(value)
        case _:
            pass
    return found[:_MAX_OPERANDS]


# --- operands ------------------------------------------------------------------------------------


def _operand_forms(
    source: Source, operand: ast.expr, value: Measurement | None
) -> Iterator[tuple[str, str]]:
    """Yield other forms of an operand; without its value all of them."""
    text, code = source.primary(operand), source.code(operand)
    keys = value is not None and value.dtype.startswith("key") and bool(value.shape)
    plural = value is None or keys or value.kind in ("tuple", "list")
    array = value is None or (value.shape is not None and not plural)
    if plural:
        for item in ("0", "1", "-1"):
            yield f"{text}[{item}]", f"take item {item} of `{code}`"
        numpy, imports = source.spell("jax.numpy")
        if not (imports or keys):
            for name in ("array", "stack", "concatenate"):
                yield f"{numpy}.{name}({code})", f"join `{code}` with `{name}`"
        yield f"tuple({code})", f"make a tuple of `{code}`"
    if value is None or value.kind == "float":
        yield f"int({code})", f"round `{code}` down to an integer"
    if array:
        kind = value.dtype.rstrip("0123456789") if value is not None else ""
        for other, of in (("int", ("", "float", "bfloat")), ("float", ("", "int", "uint", "bool"))):
            if kind in of:
                yield f"{text}.astype({other})", f"convert `{code}` to `{other}`"
        yield from _axis_forms(source, operand, value.shape if value is not None else None)


def _axis_forms(
    source: Source, operand: ast.expr, shape: tuple[int, ...] | None
) -> Iterator[tuple[str, str]]:
    text, code = source.primary(operand), source.code(operand)
    rank = None if shape is None else len(shape)
    new = (
        ("None", 0), (":, None", 1), ("..., None", 2), (":, None, None", 1), ("None, None", 0), ("None, :, None", 1),
        (":, None, None, :", 2), (":, None, :, None", 2),
    )  # fmt: skip
    for index, least in new:
        same = rank == 2 and index == ":, None, None"  # as `:, None, None, :`
        if rank is None or (rank >= least and not same):
            yield f"{text}[{index}]", f"give `{code}` an axis of size 1: `[{index}]`"
    for axis, index in ((0, "0"), (-1, "..., 0"), (1, ":, 0")):
        if shape is None or (rank and axis < rank and shape[axis] == 1 and (axis != 1 or rank > 2)):
            yield f"{text}[{index}]", f"drop the axis of size 1 of `{code}`: `[{index}]`"
    if rank is None or rank == 2:
        yield f"{text}.T", f"transpose `{code}`"
    for ndim in (3, 4):
        if rank not in (None, ndim):
            continue
        for start, end in itertools.permutations(range(ndim), 2):
            if start - end == 1:  # as the move from end to start
                continue
            order = [axis for axis in range(ndim) if axis != start]
            order.insert(end, start)
            axes = ", ".join(map(str, order))
            yield f"{text}.transpose({axes})", f"put the axes of `{code}` in the order ({axes})"


def _leaf_changes(source: Source, call: ast.Call, tree: ast.expr) -> Iterator[_Change]:
    """Yield the call for each leaf of a tree that it gets as an argument."""
    mapping, imports = source.spell("jax.tree.map")
    if imports or not any(tree is a for a in (*call.args, *(k.value for k in call.keywords))):
        return
    leaf = source.fresh("leaf", call)
    inner = _with_parts(source, call, ((tree, leaf),))
    text = f"{mapping}(lambda {leaf}: {inner}, {source.code(tree)})"
    reduces = last_name(call.func) in _REDUCTIONS  # each leaf, or all of them
    title = f"apply `{last_name(call.func)}` to each leaf of `{source.code(tree)}`"
    yield _Change(((call, text),), title, reduces)


# --- calls ---------------------------------------------------------------------------------------


def _call_changes(source: Source, call: ast.expr, depth: int = 0) -> Iterator[_Change]:
    """Yield changes of a call: its arguments in another order or form, its options, its function."""
    for value in ast.walk(call):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
            whole = f"{source.operand(value.left)} // {source.operand(value.right)}"
            text = whole if _is_argument(source, value) else f"({whole})"
            yield _Change(((value, text),), f"divide whole numbers: `{whole}`", False)
    if not isinstance(call, ast.Call):
        return
    yield from _functions(source, call)
    if any(isinstance(a, ast.Starred) for a in call.args):
        return
    codes = [source.code(a) for a in call.args]
    if 2 <= len(codes) <= _MAX_PERMUTED:
        for order in itertools.permutations(range(len(codes))):
            parts = tuple((call.args[i], codes[j]) for i, j in enumerate(order) if i != j)
            if any(not isinstance(part, ast.Constant) for part, _ in parts):
                names = ", ".join(codes[j] for j in order)
                yield _Change(parts, f"pass the arguments in the order `{names}`")
    if 3 <= len(codes) <= _MAX_PERMUTED:
        yield from _named_arguments(source, call)
    for i, j in itertools.combinations(range(len(codes)), 2):
        parts = ((call.args[i], f"({codes[i]}"), (call.args[j], f"{codes[j]})"))
        yield _Change(parts, f"pass `({', '.join(codes[i : j + 1])})` as a tuple", False)
    for given in (*call.args, *(k.value for k in call.keywords)):
        yield from _literal_changes(source, given)
        if isinstance(given, ast.Tuple) and given.elts and given in call.args:
            text = ", ".join(source.code(e) for e in given.elts)
            yield _Change(((given, text),), f"pass `{text}` as arguments of their own")
        if isinstance(given, ast.Call) and not depth:
            yield from _call_changes(source, given, depth + 1)
    yield from _fewer_arguments(source, call)


def _named_arguments(source: Source, call: ast.Call) -> Iterator[_Change]:
    """Yield calls that pass one of several positional arguments by the name of another parameter."""
    meaning = source.meaning(call.func)
    known = _parameters(meaning)
    given = {k.arg for k in call.keywords}
    for i, value in enumerate(call.args[1:], 1):
        rest = [source.code(a) for a in call.args[:i] + call.args[i + 1 :]]
        named = [source.code(k) for k in call.keywords]
        for name in known[len(rest) :]:
            if name not in given:
                option = f"{name}={source.code(value)}"
                text = f"{source.code(call.func)}({', '.join([*rest, option, *named])})"
                yield _Change(
                    ((call, text),),
                    f"pass `{option}` by name: `{last_name(call.func)}` has others before it",
                )


def _parameters(meaning: str) -> list[str]:
    """Return the parameters of a function of the library that may be passed by name."""
    module, _, name = meaning.rpartition(".")
    if not module.startswith("jax"):
        return []
    try:
        function = getattr(importlib.import_module(re.sub("^jax", "sagax", module)), name)
        known = inspect.signature(function).parameters.values()
    except (ImportError, AttributeError, TypeError, ValueError):
        return []
    return [p.name for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def _is_argument(source: Source, node: ast.expr) -> bool:
    return isinstance(source.parents.get(node), (ast.Call, ast.Tuple, ast.keyword, ast.Assign))


def _functions(source: Source, call: ast.Call) -> Iterator[_Change]:
    """Yield calls of siblings of a function, of that of jax for NumPy's, and with keepdims."""
    meaning, name = source.meaning(call.func), last_name(call.func)
    numpy, imports = source.spell("jax.numpy")
    if meaning.startswith("numpy.") and not imports:
        text = numpy + meaning.removeprefix("numpy")
        yield _Change(((call.func, text),), f"compute with `{text}`")
    if meaning.startswith("jax.") and isinstance(call.func, ast.Attribute):
        base = source.code(call.func.value)
        for group in _SIBLINGS:
            for other in group if name in group else ():
                if other != name:
                    title = f"use `{base}.{other}`"
                    yield _Change(((call.func, f"{base}.{other}"),), title, doubtful=True)
                    single = tuple(
                        (a, source.code(a.elts[0]))
                        for a in call.args
                        if isinstance(a, (ast.Tuple, ast.List)) and len(a.elts) == 1
                    )
                    if single:  # a number for each tuple of one
                        yield _Change(
                            ((call.func, f"{base}.{other}"), *single), title, doubtful=True
                        )
    options = _switches(meaning) if meaning else {"keepdims": False} if name in _REDUCTIONS else {}
    for option, default in options.items():
        if all(k.arg != option for k in call.keywords):
            text = source.call_with(call, f"{option}={not default}")
            yield _Change(((call, text),), f"`{name}` with `{option}={not default}`")


def _switches(meaning: str) -> dict[str, bool]:
    """Return the options of a function of the library that are on or off, with their defaults."""
    module, _, name = meaning.rpartition(".")
    if not module.startswith(("jax", "numpy")):
        return {}
    try:
        function = getattr(importlib.import_module(re.sub("^jax", "sagax", module)), name)
        known = inspect.signature(function).parameters.values()
    except (ImportError, AttributeError, TypeError, ValueError):
        return {}
    return {p.name: p.default for p in known if isinstance(p.default, bool)}


def _literal_changes(source: Source, given: ast.expr) -> Iterator[_Change]:
    """Yield other options: the one entry of a tuple for the tuple, and the reverse."""
    parent = source.parents.get(given)
    if isinstance(given, ast.Tuple) and len(given.elts) == 1:
        text = source.code(given.elts[0])
        yield _Change(((given, text),), f"pass `{text}` in place of a tuple of one")
    if not isinstance(parent, ast.keyword) or parent.arg is None:
        return
    if isinstance(given, (ast.Constant, ast.UnaryOp, ast.Name)):
        text = tuple_text([source.code(given)])
        yield _Change(((given, text),), f"pass a tuple of one: `{parent.arg}={text}`")
    if "ax" in parent.arg or "dim" in parent.arg or parent.arg == "argnums":
        for other in ("0", "1", "-1", "2", "(0, 1)"):
            if other != source.code(given):
                yield _Change(((given, other),), f"`{parent.arg}={other}`", True, False, parent.arg)


def _fewer_arguments(source: Source, call: ast.Call) -> Iterator[_Change]:
    """Yield calls without an option, or without a `None` among the arguments."""
    codes = [source.code(a) for a in call.args]
    named = [source.code(k) for k in call.keywords]
    plain = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.Name)
    for i, given in enumerate(call.args):
        if isinstance(given, ast.Constant) and given.value is None:
            rest = ", ".join([*codes[:i], *codes[i + 1 :], *named])
            text = f"{source.code(call.func)}({rest})"
            yield _Change(((call, text),), f"without `None`: `{text}`")
    for i, option in enumerate(call.keywords):
        if option.arg is not None and isinstance(option.value, plain):
            rest = ", ".join([*codes, *named[:i], *named[i + 1 :]])
            text = f"{source.code(call.func)}({rest})"
            yield _Change(((call, text),), f"without `{named[i]}`", True, False, option.arg)


# --- definitions ---------------------------------------------------------------------------------


def _tree_changes(source: Source, value: ast.expr) -> Iterator[_Change]:
    """Yield a map over a tree for a list that is computed from its leaves."""
    match value:
        case ast.ListComp(elt=item, generators=[ast.comprehension(ast.Name(leaf), leaves, [], 0)]):
            pass
        case _:
            return
    mapping, imports = source.spell("jax.tree.map")
    plain = isinstance(leaves, ast.Call) and len(leaves.args) == 1 and not leaves.keywords
    if imports or not plain or not isinstance(leaves, ast.Call):
        return
    if source.meaning(leaves.func) in ("jax.tree.leaves", "jax.tree_util.tree_leaves"):
        tree = source.code(leaves.args[0])
        text = f"{mapping}(lambda {leaf}: {source.code(item)}, {tree})"
        yield _Change(((value, text),), f"keep the structure of `{tree}`", False)


def _definitions(
    case: Case, source: Source, node: ast.expr
) -> Iterator[tuple[ast.expr, list[tuple[ast.Name, str]]]]:
    """Yield the definitions of what an expression reads, each the only one in its function or module.

    With each come the names that it defines, and the item that a name stands for where several are
    unpacked. A parameter is defined where the call that passes it gets it from.
    """
    function = source.function(node)
    passed: dict[str, tuple[str, ast.Call]] = {}
    for there, call, given in case.calls(function) if function is not None else ():
        for parameter, value in given.items():
            if there is source and isinstance(value, ast.Name):
                passed.setdefault(parameter, (value.id, call))
    scopes = [source.function(node), None]
    found: dict[ast.expr, list[tuple[ast.Name, str]]] = {}
    for name in source.nodes(ast.Name, node):
        if source.meaning(name) or not isinstance(name.ctx, ast.Load):
            continue
        wanted, call = passed.get(name.id, (name.id, None))
        for scope in scopes if call is None else (source.function(call), None):
            values = [
                (s.value, item)
                for s in source.nodes(ast.Assign, scope or source.tree)
                if source.function(s) is scope and s.value is not call
                for item in _items(s.targets, wanted)
            ]
            kinds = (ast.Call, ast.BinOp, ast.ListComp)
            if len(values) == 1 and isinstance(values[0][0], kinds):
                found.setdefault(values[0][0], []).append((name, values[0][1]))
            if values:
                break
    yield from found.items()


def _items(targets: Sequence[ast.expr], name: str) -> Iterator[str]:
    """Yield "" for each target that is a name, and `[1]` where it is the second of several."""
    for target in targets:
        if isinstance(target, ast.Name) and target.id == name:
            yield ""
        elif isinstance(target, (ast.Tuple, ast.List)):
            for i, item in enumerate(target.elts):
                if isinstance(item, ast.Name) and item.id == name:
                    yield f"[{i}]"


def _with_parts(source: Source, node: ast.expr, parts: Sequence[tuple[ast.expr, str]]) -> str:
    """Return the text of an expression with other texts for some of its parts."""
    text = source.code(node)
    start = _offset(source, node)[0]
    for part, new in sorted(parts, key=lambda p: -_offset(source, p[0])[0]):
        left, right = _offset(source, part)
        text = text[: left - start] + new + text[right - start :]
    return text


def _offset(source: Source, node: ast.expr) -> tuple[int, int]:
    """Return where an expression begins and ends in the text of its file."""
    at = source.span(node)

    def offset(line: int, column: int | None) -> int:
        return sum(len(text) + 1 for text in source.lines[: line - 1]) + (column or 0)

    return offset(at.line, at.column), offset(at.end_line, at.end_column)
