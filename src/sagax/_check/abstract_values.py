"""Define the abstract values of expressions, and the frames that hold them.

A value has a level: 0 is concrete, GRADIENT a tracer whose number is known (under `grad` alone), and
ABSTRACT one whose number is not (under `jit`, `vmap`, `scan`, ...). A claim is made only where a value is
certain; all else is `Unknown`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = [
    "ABSTRACT", "GRADIENT", "MISSING", "NOTHING", "STAGED", "Array", "AtUpdate", "Class", "Clock", "Closure", "Frame", "Function",
    "Instance", "Mapping", "Method", "Named", "NumPy", "Partial", "Root", "Sequence", "Static", "Transform",
    "Tree", "Unknown", "Value", "as_traced", "constant", "join", "level_of",
]  # fmt: skip

GRADIENT: Final = 1
ABSTRACT: Final = 2
STAGED: Final = 2  # the stage of a frame: its operations are recorded; 1: it runs, on tracers

MISSING: Final = object()
NOTHING: frozenset[str] = frozenset()


class Value:
    """Hold what is known of a value; compared by identity, which tells random keys apart."""

    __slots__ = ("deps", "level")

    def __init__(self, level: int = 0, deps: frozenset[str] = NOTHING) -> None:
        self.level = level
        self.deps = deps


class Unknown(Value):
    """Anything."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        super().__init__()
        self.parts: dict[Any, Value] = {}


class Static(Value):
    """A Python value that is no array; `const` is its value if it is a known constant."""

    __slots__ = ("const",)

    def __init__(
        self, const: Any = MISSING, level: int = 0, deps: frozenset[str] = NOTHING
    ) -> None:
        super().__init__(level, deps)
        self.const = const


class NumPy(Value):
    """An array of NumPy."""

    __slots__ = ()


class Array(Value):
    """An array of jax. `boolean`, `integer` and `rows` tell what is known of its type."""

    __slots__ = ("boolean", "integer", "parts", "result_of")

    def __init__(
        self,
        level: int = 0,
        deps: frozenset[str] = NOTHING,
        boolean: bool = False,
        integer: bool = False,
        result_of: Root | None = None,
    ) -> None:
        super().__init__(level, deps)
        self.boolean = boolean
        self.integer = integer
        self.result_of = result_of
        self.parts: dict[Any, Value] = {}


class Tree(Value):
    """A pytree of arrays, perhaps a single one; `flag`: it is nothing but a single one."""

    __slots__ = ("flag", "parts", "result_of")

    def __init__(
        self,
        level: int = 0,
        deps: frozenset[str] = NOTHING,
        flag: bool = False,
        result_of: Root | None = None,
    ) -> None:
        super().__init__(level, deps)
        self.flag = flag
        self.result_of = result_of
        self.parts: dict[Any, Value] = {}


class Sequence(Value):
    """A tuple, list or set made by a display; `items` is None if they are not known one by one."""

    __slots__ = ("element", "home", "items", "kind")

    def __init__(
        self, kind: str, home: Frame, items: list[Value] | None, element: Value | None = None
    ) -> None:
        levels = items if items is not None else [element] if element is not None else []
        super().__init__(*level_of(levels))
        self.kind = kind
        self.home = home
        self.items = items
        self.element = element


class Mapping(Value):
    """A dict; `items` holds those with constant keys, `element` is any other value."""

    __slots__ = ("complete", "home", "items")

    def __init__(self, home: Frame, items: dict[Any, Value], complete: bool = True) -> None:
        super().__init__(*level_of(items.values()))
        self.home = home
        self.items = items
        self.complete = complete


class Named(Value):
    """Something imported, by its dotted name; that of sagax is called as in jax."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Method(Value):
    """An attribute of a value, about to be called."""

    __slots__ = ("base", "name")

    def __init__(self, base: Value, name: str) -> None:
        super().__init__(base.level, base.deps)
        self.base = base
        self.name = name


class AtUpdate(Value):
    """`x.at[i]`, or `x.at` itself."""

    __slots__ = ("base",)

    def __init__(self, base: Value) -> None:
        super().__init__(base.level, base.deps)
        self.base = base


class Partial(Value):
    """`functools.partial` of something."""

    __slots__ = ("arguments", "function", "keywords")

    def __init__(self, function: Value, arguments: list[Value], keywords: dict[str, Value]) -> None:
        super().__init__()
        self.function = function
        self.arguments = arguments
        self.keywords = keywords


class Class(Value):
    """A class of this file."""

    __slots__ = ("node", "scope")

    def __init__(self, node: ast.ClassDef, scope: Frame) -> None:
        super().__init__()
        self.node = node
        self.scope = scope


class Instance(Value):
    """An object of a class of this file."""

    __slots__ = ("attributes", "home", "kind")

    def __init__(self, kind: Class, home: Frame) -> None:
        super().__init__()
        self.kind = kind
        self.home = home
        self.attributes: dict[str, Value] = {}


class Clock(Value):
    """A reading of a clock, with the calls that were still running at the earlier reading."""

    __slots__ = ("pending", "seen")

    def __init__(self) -> None:
        super().__init__()
        self.pending: ast.Call | None = None
        self.seen: dict[Clock, ast.Call] = {}


@dataclass(slots=True, eq=False)
class Function:
    """A function of this file, at one execution of its definition."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Frame
    name: str
    defaults: list[Value] = field(default_factory=list[Value])
    keyword_defaults: dict[str, Value] = field(default_factory=dict[str, Value])
    generator: bool = False
    guarded: bool = False
    cached: bool = False
    owner: Class | None = None

    @property
    def positional(self) -> list[ast.arg]:
        """Return the parameters that can be given by position."""
        return [*self.node.args.posonlyargs, *self.node.args.args]

    def default_of(self, name: str) -> Value | None:
        """Return the default of a parameter, None without one."""
        positional = self.positional
        offset = len(positional) - len(self.defaults)
        for i, parameter in enumerate(positional):
            if parameter.arg == name:
                return self.defaults[i - offset] if i >= offset else None
        return self.keyword_defaults.get(name)


@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """One application of `jit`, `vmap`, `grad` or another transformation.

    `numbers` and `names` are the static arguments of a jit and the differentiated ones of a gradient.
    None stands for what is not a constant.
    """

    kind: str  # "jit", "vmap", "grad", "stage", "plain"
    name: str
    node: ast.expr
    numbers: tuple[int, ...] | None = ()
    names: tuple[str, ...] | None = ()
    axes: Any = 0
    has_aux: bool | None = False
    donated: tuple[int, ...] = ()
    donated_names: tuple[str, ...] = ()


class Closure(Value):
    """A function with the transformations applied to it, outermost first.

    `leading` and `named` are the arguments that are bound to it within: the object of a method, those of a
    partial.
    """

    __slots__ = ("function", "leading", "named", "root", "transforms")

    def __init__(
        self,
        function: Function,
        transforms: tuple[Transform, ...] = (),
        root: Root | None = None,
        leading: tuple[Value, ...] = (),
        named: dict[str, Value] | None = None,
    ) -> None:
        super().__init__()
        self.function = function
        self.transforms = transforms
        self.root = root
        self.leading = leading
        self.named = named or {}


@dataclass(slots=True, eq=False)
class Root:
    """A transformed function to trace, with the arguments of the calls that were seen."""

    closure: Closure
    stage: int  # of the frame where it was made
    calls: list[tuple[dict[str, Value], bool]] = field(
        default_factory=list[tuple[dict[str, Value], bool]]
    )
    first_call: ast.Call | None = None
    # from outside, at the first call, and where
    reads: dict[tuple[Value | None, str], tuple[Value, ast.AST]] | None = None

    @property
    def name(self) -> str:
        """Return the name of the function."""
        return self.closure.function.name

    @property
    def transform(self) -> Transform:
        """Return the outermost transformation."""
        return self.closure.transforms[0]


class Frame:
    """Hold the names of a module, a class, a function or a comprehension."""

    __slots__ = (
        "declared",
        "function",
        "is_class",
        "loops",
        "names",
        "parent",
        "returns",
        "root",
        "stage",
    )

    def __init__(
        self,
        parent: Frame | None = None,
        stage: int = 0,
        root: Root | None = None,
        function: Function | None = None,
        is_class: bool = False,
    ) -> None:
        self.parent = parent
        self.stage = stage
        self.root = root
        self.function = function
        self.is_class = is_class
        self.names: dict[str, Value] = {}
        self.declared: dict[str, Frame] = {}  # `global` and `nonlocal` names
        self.returns: list[tuple[Value, ast.expr | None]] = []
        self.loops: list[ast.AST] = []

    def find(self, name: str) -> Frame | None:
        """Return the frame that a name is bound in, as Python looks it up."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names and (frame is self or not frame.is_class):
                return frame
            frame = frame.parent
        return None

    @property
    def module(self) -> Frame:
        """Return the frame of the module."""
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame


def level_of(values: Iterable[Value]) -> tuple[int, frozenset[str]]:
    """Return the highest level of some values, and the names that they depend on."""
    level, deps = 0, NOTHING
    for value in values:
        if value.level:
            level = max(level, value.level)
            deps = deps | value.deps
    return level, deps


def constant(value: Value | None) -> Any:
    """Return the constant that a value is: numbers, strings, None, tuples and lists of them; else MISSING."""
    if isinstance(value, Static):
        return value.const
    if isinstance(value, Sequence) and value.items is not None:
        items = [constant(item) for item in value.items]
        return MISSING if any(item is MISSING for item in items) else tuple(items)
    return MISSING


def join(a: Value, b: Value) -> Value:
    """Return what holds of both of two values."""
    if a is b:
        return a
    level = min(a.level, b.level)
    deps = a.deps | b.deps if level else NOTHING
    if isinstance(a, Array) and isinstance(b, Array):
        return Array(level, deps, a.boolean and b.boolean, a.integer and b.integer)
    if isinstance(a, (Array, Tree)) and isinstance(b, (Array, Tree)):
        flag = all(not isinstance(v, Tree) or v.flag for v in (a, b))
        return Tree(level, deps, flag)
    if isinstance(a, Static) and isinstance(b, Static):
        same = a.const is not MISSING and b.const is not MISSING and _same(a.const, b.const)
        return Static(a.const if same else MISSING, level, deps)
    if isinstance(a, NumPy) and isinstance(b, NumPy):
        return a
    if isinstance(a, Named) and isinstance(b, Named) and a.name == b.name:
        return a
    if (
        isinstance(a, Sequence)
        and isinstance(b, Sequence)
        and a.kind == b.kind
        and a.items is not None
        and b.items is not None
        and len(a.items) == len(b.items)
    ):
        return Sequence(a.kind, a.home, [join(x, y) for x, y in zip(a.items, b.items, strict=True)])
    return Unknown()


def _same(a: Any, b: Any) -> bool:
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:
        return False


def as_traced(value: Value, level: int, name: str) -> Value:
    """Return a value as the body of a transformation gets it: each leaf a tracer."""
    deps = value.deps or frozenset((name,))
    if isinstance(value, Array):
        return Array(level, deps, value.boolean, value.integer)
    if isinstance(value, Tree):
        return Tree(level, deps, value.flag)
    if isinstance(value, Static):
        if isinstance(value.const, (bool, int, float, complex)):
            return Array(level, deps, isinstance(value.const, bool))
        return value if value.const is None else Tree(level, deps)
    if isinstance(value, NumPy):
        return Array(level, deps)
    if isinstance(value, Sequence) and value.kind != "set":
        home = Frame(stage=STAGED)  # the body gets containers of its own
        if value.items is not None:
            items = [as_traced(item, level, name) for item in value.items]
            return Sequence(value.kind, home, items)
        element = value.element
        return Sequence(
            value.kind, home, None, as_traced(element, level, name) if element else None
        )
    if isinstance(value, Mapping):
        items = {key: as_traced(item, level, name) for key, item in value.items.items()}
        return Mapping(Frame(stage=STAGED), items, value.complete)
    if isinstance(value, (Instance, Class, Closure, Partial, Named)):
        return Unknown()  # its leaves, if it is registered, and its static fields
    return Tree(level, deps)
