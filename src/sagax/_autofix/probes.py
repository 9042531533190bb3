"""Instrument functions of a script: vary their arguments, record and disturb their results.

A proof compares runs of the original and of the changed script. Probes give both the same second
inputs, take the other branch of both, and show whether the comparison would notice a difference.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import sagax.numpy as snp
import sagax.random as random
from sagax._autofix.collect_facts import plain_data
from sagax._src.api.vmap import vmap
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.trees import leaves
from sagax.tree_util import tree_map

# How a probe changes arguments.
SCALED, NEGATED, ZEROED, LOWERED, RAISED, SHRUNK = 1, 2, 3, 4, 5, 6

MODULE = ""  # in place of the name of a function: the data at the top of a file

_RECORDER = "__sagax_probe__"
_MAX_CALLS = 64
_NUDGE, _NARROW_NUDGE = 2.0**-20, 2.0**-7  # 8 units in the last place of float32, 1 or 8 of 16 bits
_OTHER_KEY = 7
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Target:
    """Name a function of a script, and those of its parameters that probes may change.

    With the name `MODULE`, the parameters are variables of the module.
    """

    file: str
    name: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Probe:
    """Say what to instrument in a run.

    Attributes:
      functions: the functions that the edits are in.
      vary: how their arguments are changed; 0 leaves them.
      nudge: whether their arguments are changed by a few units in the last place, as rounding may.
      disturb: whether their results are changed by 1 %.
      flip: the test of a branch to negate, as `ast.dump` gives it.
      derivatives: whether derivatives are compared with finite differences.
      same_draws: whether random draws depend on their shape alone, not on the key.
      x64: whether values are computed with 64 bits.
    """

    functions: tuple[Target, ...] = ()
    vary: int = 0
    nudge: bool = False
    disturb: bool = False
    flip: str = ""
    derivatives: bool = False
    same_draws: bool = False
    x64: bool = False

    @property
    def changes_arguments(self) -> bool:
        return bool(self.vary) or self.nudge


@dataclass
class Records:
    """Collect what probes saw.

    Attributes:
      results: the results of each function, call by call; None for what cannot be compared.
      tests: the truth values that each test of a branch had.
      varied: the number of values that were changed.
      inputs: the arguments with the kinds and shapes of those of their numbers that were changed.
      disturbed: the number of results that were changed.
    """

    results: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    tests: dict[str, set[bool]] = field(default_factory=dict[str, set[bool]])
    varied: int = 0
    inputs: set[str] = field(default_factory=set[str])
    disturbed: int = 0


def find_targets(file: str, before: str, after: str, lines: set[int]) -> list[Target]:
    """Return the functions around the edited lines of a file that both versions have.

    An edit outside of functions, or in one without parameters, stands for the functions that it names.
    """
    tree = ast.parse(before)
    functions = dict(_functions(tree))
    changed = dict(_functions(ast.parse(after)))
    named = {name.rpartition(".")[2]: name for name in functions}
    found: dict[str, None] = {}
    for line in sorted(lines):
        around = [
            name
            for name, node in functions.items()
            if _first_line(node) <= line <= (node.end_lineno or 0)
        ]
        # a lambda has no name by which to find it again, so its function stands for it
        around = [name for name in around if "<lambda>" not in name] or around
        innermost = min(around, key=lambda name: _length(functions[name]), default=None)
        if innermost is not None:
            found[innermost] = None
        if innermost is None or not _parameters(functions[innermost]):
            for node in ast.walk(tree):
                if line in range(getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) + 1):
                    name = getattr(node, "id", getattr(node, "attr", ""))
                    if isinstance(node, (ast.Name, ast.Attribute)) and name in named:
                        found[named[name]] = None
    targets: list[Target] = []
    for name in found:
        if name in changed:
            known = set(_parameters(changed[name])) - _assigned_in_place(functions[name])
            parameters = tuple(p for p in _parameters(functions[name]) if p in known)
            targets.append(Target(file, name, parameters))
    return targets


def find_data(file: str, before: str, after: str) -> Target | None:
    """Return the variables that a file gives data to, by the same statement in both versions."""
    statements = [_data(ast.parse(text)) for text in (before, after)]
    names = tuple(n for n, text in statements[0].items() if statements[1].get(n) == text)
    return Target(file, MODULE, names) if names else None


def _data(tree: ast.Module) -> dict[str, str]:
    """Return the statements that first give variables data: what only libraries and other data compute."""
    libraries = {
        alias.asname or alias.name.partition(".")[0]
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    found: dict[str, str] = {}
    assigned: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        names = [n for n in ast.walk(node.value) if isinstance(n, ast.Name)]
        own = {n.id for n in names if isinstance(n.ctx, ast.Store)}  # of comprehensions
        read = {n.id for n in names} - own - vars(builtins).keys()
        named = [t.id for t in node.targets if isinstance(t, ast.Name)]
        plain = not any(isinstance(n, (ast.Lambda, ast.NamedExpr)) for n in ast.walk(node.value))
        if len(node.targets) == 1 and named and plain and named[0] not in assigned:
            if read <= libraries | found.keys():
                found[named[0]] = ast.dump(node)
        assigned.update(n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name))
    return found


def _assigned_in_place(node: ast.AST) -> set[str]:
    """Return the names whose parts a function assigns: a varied copy would hide that from the caller."""
    return {
        part.value.id
        for part in ast.walk(node)
        if isinstance(part, (ast.Subscript, ast.Attribute))
        and isinstance(part.ctx, ast.Store)
        and isinstance(part.value, ast.Name)
    }


def _parameters(node: Any) -> list[str]:
    arguments = node.args
    known = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [a.arg for a in known if a.arg not in ("self", "cls")]


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the functions below a node with their qualified names, outer ones first."""
    counts: dict[str, int] = {}
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            name = prefix + getattr(node, "name", "<lambda>")
            counts[name] = counts.get(name, 0) + 1
            if counts[name] > 1:
                name = f"{name}#{counts[name]}"
            if not isinstance(node, ast.ClassDef):
                yield name, node
            yield from _functions(node, f"{name}.")
        else:
            yield from _functions(node, prefix)


def _first_line(node: Any) -> int:
    return min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", [])]])


def _length(node: Any) -> int:
    return (node.end_lineno or 0) - _first_line(node)


def branch_tests(tree: ast.Module, functions: tuple[str, ...]) -> list[str]:
    """Return the tests of the branches in some functions, as `ast.dump` gives them."""
    found: dict[str, None] = {}
    for name, node in _functions(tree):
        if name in functions:
            for part in ast.walk(node):
                if isinstance(part, (ast.If, ast.IfExp)):
                    found[ast.dump(part.test)] = None
    return list(found)


# --- sources -------------------------------------------------------------------------------------


def instrument(file: str, text: str, probe: Probe) -> str:
    """Return the text of a file with probes in its functions."""
    wanted = {target.name: target for target in probe.functions if target.file == file}
    if not wanted:
        return text
    tree = ast.parse(text)
    for name, node in list(_functions(tree)):
        if name in wanted and not _is_generator(node):
            _instrument_function(wanted[name], node, probe)
    if MODULE in wanted and probe.changes_arguments:
        _vary_data(tree, wanted[MODULE].parameters)
    return ast.unparse(ast.fix_missing_locations(tree))


def _vary_data(tree: ast.Module, names: tuple[str, ...]) -> None:
    left = list(names)
    body: list[ast.stmt] = []
    for node in tree.body:
        body.append(node)
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id in left:  # where it is first given its data
            left.remove(target.id)
            value = _call("vary", target.id, ast.Name(target.id, ast.Load()))
            body.append(ast.Assign([ast.Name(target.id, ast.Store())], value))
    tree.body = body


def _is_generator(node: ast.AST) -> bool:
    return any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node))


def _call(method: str, name: str, *arguments: ast.expr) -> ast.expr:
    function = ast.Attribute(ast.Name(_RECORDER, ast.Load()), method, ast.Load())
    return ast.Call(function, [ast.Constant(name), *arguments], [])


def _is_call_of(node: ast.AST, *methods: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            return name == _RECORDER and method in methods
    return False


class _Tests(ast.NodeTransformer):
    """Record the tests of branches, and negate the wanted one wherever its expression stands."""

    def __init__(self, flip: str) -> None:
        self.flip = flip

    def visit(self, node: ast.AST) -> Any:
        if _is_call_of(node, "test", "negate"):  # by the function around this one
            return node
        dump = ast.dump(node) if isinstance(node, ast.expr) else ""
        test = ast.dump(node.test) if isinstance(node, (ast.If, ast.IfExp)) else ""
        node = self.generic_visit(node)
        if test and isinstance(node, (ast.If, ast.IfExp)) and not _is_call_of(node.test, "test"):
            node.test = _call("test", test, node.test)
        if self.flip and dump == self.flip:
            return _call("negate", dump, node)  # type: ignore[arg-type]
        return node


class _Returns(ast.NodeTransformer):
    """Wrap the returned expressions of one function, not of those within."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is not None:
            node.value = _call("result", self.name, node.value)
        return node

    def _leave(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _leave


def _instrument_function(target: Target, node: Any, probe: Probe) -> None:
    name, names = target.name, target.parameters
    tests = _Tests(probe.flip)
    if isinstance(node, ast.Lambda):
        body = _call("result", name, tests.visit(node.body))
        if probe.changes_arguments and names:
            given = [_call("vary", n, ast.Name(n, ast.Load())) for n in names]
            parameters = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
            body = ast.Call(ast.Lambda(parameters, body), given, [])
        node.body = body
        return
    documented = ast.get_docstring(node) is not None
    body = [_Returns(name).visit(tests.visit(s)) for s in node.body]
    varied: list[ast.stmt] = []
    if probe.changes_arguments:
        varied = [
            ast.Assign([ast.Name(n, ast.Store())], _call("vary", n, ast.Name(n, ast.Load())))
            for n in names
        ]
    node.body = [*body[:documented], *varied, *body[documented:]]


# --- at run time ---------------------------------------------------------------------------------


class Recorder:
    """Hold the functions that instrumented code calls."""

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.records = Records()
        self.paused = False  # while a derivative is checked

    def vary(self, name: str, value: Any) -> Any:
        changed = tree_map(self._varied_leaf, value)
        pairs = zip(leaves(value), leaves(changed), strict=True)
        kinds = ["-" if x is y else f"{_kind(x)}{_shape_text(x)}" for x, y in pairs]
        self.records.inputs.add(f"{name}: {''.join(kinds)}")
        return changed

    def _varied_leaf(self, x: Any) -> Any:
        if not self.probe.same_draws and self.probe.vary == SCALED and _is_key(x):
            changed = _other_keys(x)
        else:
            changed = _varied(x, self.probe.vary)
        if self.probe.nudge and _kind(changed) in ("f", "c"):
            changed = changed * (1 + (_NARROW_NUDGE if _itemsize(changed) == 2 else _NUDGE))
        self.records.varied += changed is not x
        return changed

    def result(self, name: str, value: Any) -> Any:
        if self.probe.disturb:
            return tree_map(self._disturbed_leaf, value)
        found = self.records.results.setdefault(name, [])
        if len(found) < _MAX_CALLS and not self.paused:
            parts = [_value(x) for x in leaves(value)]
            found.append(None if any(p is _TRACED for p in parts) else parts)
        return value

    def _disturbed_leaf(self, x: Any) -> Any:
        kind = _kind(x)
        self.records.disturbed += kind in ("f", "c", "i", "u", "b")
        if kind in ("f", "c"):
            return x * 1.01 + (0.01 if kind == "f" else 0)
        if kind == "b":
            return _negated(x)
        return x + 1 if kind in ("i", "u") and _itemsize(x) else x

    def test(self, name: str, value: Any) -> Any:
        if not isinstance(value, Tracer):
            try:
                self.records.tests.setdefault(name, set()).add(bool(value))
            except (TypeError, ValueError):  # the script's own error comes next
                pass
        return value

    def negate(self, _name: str, value: Any) -> Any:
        self.records.varied += 1
        return _negated(value)


_TRACED = object()


def _value(x: Any) -> Any:
    try:
        return plain_data(x)
    except ValueError:
        return _TRACED


def _kind(x: Any) -> str:
    """Return the kind of a number or an array of numbers, as NumPy's letters; "" of another value."""
    if isinstance(x, bool):
        return "b"
    if type(x) in (int, float, complex):
        return {int: "i", float: "f", complex: "c"}[type(x)]
    if not isinstance(x, (Array, np.ndarray, np.generic)):
        return ""
    kind = getattr(x.dtype, "kind", "")
    return "f" if kind == "V" and "float" in str(x.dtype) else kind


def _shape_text(x: Any) -> str:
    """Return the shape of an array, on which its other numbers depend; "" of a number."""
    shape = tuple(getattr(x, "shape", ()))
    return str(list(shape)) if shape else ""


def _is_key(x: Any) -> bool:
    return str(getattr(x, "dtype", "")).startswith("key")


def _other_keys(x: Any) -> Any:
    """Return other keys of the same shape."""
    fold: Any = random.fold_in
    for _ in range(x.ndim):
        fold = vmap(fold, (0, None))
    return fold(x, _OTHER_KEY)


def _itemsize(x: Any) -> int:
    return getattr(getattr(x, "dtype", None), "itemsize", 8)


def _negated(x: Any) -> Any:
    if isinstance(x, (Array, Tracer)):
        return snp.logical_not(x)
    return np.logical_not(x) if isinstance(x, np.ndarray) else not x


def _varied(x: Any, how: int) -> Any:
    """Return other numbers of the same type and shape; `x` itself if there is nothing to change."""
    kind = _kind(x)
    if kind in ("f", "c") and how in (SCALED, NEGATED):
        return x * _pattern(x) if how == SCALED else -x * _pattern(x)
    if kind in ("f", "c") and how == SHRUNK:  # where no rounding or overflow hides a difference
        return x * (0.01 * _pattern(x))
    if kind in ("f", "c") and how == ZEROED:  # where many derivatives are infinite
        return x * (_pattern(x) > 1).astype(np.float32) if np.shape(x) else 0 * x
    if kind == "b" and how == NEGATED:
        return _negated(x)
    if kind != "i":
        return x
    shape = getattr(x, "shape", ())
    if shape:  # other integers, all within the range of the old ones
        return x[..., ::-1] if how == SCALED and shape[-1] > 1 else x
    if how == RAISED:
        return x + 1
    if how == LOWERED:
        if isinstance(x, (Array, Tracer)):
            return x - snp.where(x > 0, 1, -1).astype(x.dtype)
        return x - 1 if x > 0 else x + 1
    return x


def _pattern(x: Any) -> Any:
    """Return factors from 0.9 to 1.1 that depend on the shape alone."""
    shape: tuple[Any, ...] = tuple(getattr(x, "shape", ()))
    if not shape or not all(isinstance(n, int) for n in shape):
        return 1.07
    size = int(np.prod(shape))
    factors = 0.9 + 0.2 * np.modf(0.618034 * (1 + np.arange(size)))[0]
    return factors.reshape(shape).astype(np.dtype(str(x.dtype)) if x.dtype.kind == "f" else "f4")


def start(probe: Probe) -> Recorder:
    """Make the functions of instrumented code available to it, for the rest of this process."""
    recorder = Recorder(probe)
    setattr(builtins, _RECORDER, recorder)
    return recorder
