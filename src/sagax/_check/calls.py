"""Evaluate calls: builtins, NumPy, functions of jax, methods, functions of the same file."""

from __future__ import annotations

import abc
import ast
from collections.abc import Callable
from typing import Any

from sagax._check.abstract_values import (
    ABSTRACT,
    MISSING,
    STAGED,
    Array,
    AtUpdate,
    Class,
    Clock,
    Closure,
    Frame,
    Function,
    Instance,
    Mapping,
    Method,
    Named,
    NumPy,
    Partial,
    Root,
    Sequence,
    Static,
    Tree,
    Unknown,
    Value,
    constant,
    join,
    level_of,
)
from sagax._check.knowledge import (
    ARRAY_METHODS,
    BOOLEAN_RESULTS,
    CLOCKS,
    CONSUMERS,
    DATA_SIZED,
    KEY_MAKERS,
    LIST_METHODS,
    METADATA,
    NUMPY_CREATORS,
    NUMPY_STATIC,
    OPTIMIZERS,
    SHAPE_ARGUMENTS,
    STORING,
    UPDATES,
    is_impure,
    result_kind,
)
from sagax._check.machine import MAX_DEPTH
from sagax._check.statements import Statements

__all__ = ["Calls", "argument", "argument_node"]

Arguments = list[Value]
Keywords = dict[str, Value]


def argument(arguments: Arguments, keywords: Keywords, position: int, *names: str) -> Value | None:
    """Return an argument of a call by its position or one of its names."""
    if position < len(arguments):
        return arguments[position]
    return next((keywords[name] for name in names if name in keywords), None)


def argument_node(node: ast.Call, position: int, *names: str) -> ast.expr:
    """Return the expression of an argument; the whole call if there is none."""
    if position < len(node.args) and not any(isinstance(a, ast.Starred) for a in node.args):
        return node.args[position]
    return next((k.value for k in node.keywords if k.arg in names), node)


class Calls(Statements):
    """Evaluate calls."""

    def call(
        self, function: Value, arguments: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        if isinstance(function, Named):
            return self.call_named(function.name, arguments, keywords, node)
        if isinstance(function, Closure):
            return self.call_closure(function, arguments, keywords, node)
        if isinstance(function, Partial):
            merged = {**function.keywords, **keywords}
            return self.call(function.function, [*function.arguments, *arguments], merged, node)
        if isinstance(function, Class):
            return self._construct(function, arguments, keywords, node)
        if isinstance(function, Method):
            return self._call_method(function, arguments, keywords, node)
        if isinstance(function, Instance):
            method = self.attribute_of(function, "__call__")
            if isinstance(method, (Closure, Partial)):
                return self.call(method, arguments, keywords, node)
        if isinstance(function, AtUpdate):
            return Unknown()
        self.unknown_call(arguments, node)
        return Unknown()

    def unknown_call(self, arguments: list[Value], node: ast.Call) -> None:
        """Forget what an unknown function may change."""
        self.waited()
        target = node.func
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            arguments = [self.look_up(target.value.id), *arguments]
        for value in arguments:
            if isinstance(value, Instance):
                value.attributes.clear()
            elif isinstance(value, Sequence) and value.kind != "tuple":
                value.items = None
                value.element = None

    def _construct(
        self, kind: Class, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> Value:
        made = Instance(kind, self.frame)
        initializer = kind.scope.names.get("__init__")
        if isinstance(initializer, Closure):
            self.call_closure(initializer, [made, *arguments], keywords, node)
        else:
            self.waited()
        return made

    # --- functions of this file ---

    def inline(
        self, function: Function, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> Value:
        """Run a function of this file with the values of a call."""
        depth = MAX_DEPTH if self.frame.stage else MAX_DEPTH // 2
        follows = len(self.calls) < depth and self.work < self.work_limit
        if function.generator or function.node in self.active or not follows:
            self.unknown_call(arguments, node)
            return Unknown()
        self.work += 1
        frame = Frame(function.scope, self.frame.stage, self.frame.root, function)
        frame.names = bind(function, arguments, keywords)
        return self.run_function(function, frame, node)

    def run_function(self, function: Function, frame: Frame, node: ast.expr | None) -> Value:
        """Run the body of a function in a frame; return its result."""
        outer, contexts = self.frame, self.contexts
        self.frame, self.contexts = frame, 0
        self.active.append(function.node)
        self.frames.append(frame)
        self.evaluated.add(function.node)
        if node is not None:
            self.calls.append(node)
        try:
            if isinstance(function.node, ast.Lambda):
                frame.returns.append((self.evaluate(function.node.body), function.node.body))
            elif not self.run_block(function.node.body):
                frame.returns.append((Static(None), None))
        finally:
            self.frame, self.contexts = outer, contexts
            self.active.pop()
            self.frames.pop()
            if node is not None:
                self.calls.pop()
        if not frame.returns:
            return Unknown()
        result = frame.returns[0][0]
        for value, _ in frame.returns[1:]:
            result = join(result, value)
        if function.cached and frame.stage:
            for value, expression in frame.returns:
                if expression is not None and value.level >= ABSTRACT:
                    self.check_leak(value, expression, "a cache of results")
        return result

    def apply_body(
        self, function: Value | None, values: Arguments, node: ast.Call, repeats: bool
    ) -> Value:
        """Run the body of a loop or a branch, which is traced; return its result."""
        while isinstance(function, Partial):
            values = [*function.arguments, *values]
            function = function.function
        if isinstance(function, Instance):
            function = self.attribute_of(function, "__call__")
        if not isinstance(function, Closure):
            return Unknown()
        root = self.frame.root if self.frame.stage == STAGED else Root(function, self.frame.stage)
        outer = self.frame
        self.frame = Frame(outer, STAGED, root, outer.function)
        try:
            consumed = self.consumed
            result = self.call(function, values, {}, node)
            if repeats and consumed != self.consumed:
                result = self.call(function, [_refreshed(v) for v in values], {}, node)
        finally:
            self.frame = outer
        return result

    # --- methods ---

    def _call_method(
        self, method: Method, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> Value:
        base, name = method.base, method.name
        if isinstance(base, AtUpdate):
            if name in UPDATES:
                level, deps = level_of((base, *arguments))
                return Array(level, deps)
            return Unknown()
        if isinstance(base, (Array, Tree)):
            return self._call_array_method(base, name, arguments, keywords, node)
        if isinstance(base, (Sequence, Mapping)):
            if name in STORING:
                self.store(base, [*arguments, *keywords.values()], node)
                return Static(None) if name in LIST_METHODS else Unknown()
            if isinstance(base, Mapping):
                return self._call_dict_method(base, name, arguments)
            return Unknown()
        if isinstance(base, Static):
            return Static(MISSING, *level_of(arguments))
        if isinstance(base, NumPy):
            self.numpy_call(name, "NumPy", arguments, node)
            return NumPy()
        if name not in LIST_METHODS:
            self.unknown_call(arguments, node)
        return Unknown()

    def _call_dict_method(self, base: Mapping, name: str, arguments: Arguments) -> Value:
        values = list(base.items.values())
        element = values[0] if values and base.complete else Unknown()
        for value in values[1:] if base.complete else ():
            element = join(element, value)
        if name == "items":
            pair = Sequence("tuple", self.frame, [Static(), element])
            return Sequence("list", self.frame, None, pair)
        if name == "values":
            return Sequence("list", self.frame, None, element)
        if name == "keys":
            return Sequence("list", self.frame, None, Static())
        if name == "copy":
            return Mapping(self.frame, dict(base.items), base.complete)
        if name in ("get", "pop") and arguments:
            return self.item_of(base, arguments[0])
        return Unknown()

    def _call_array_method(
        self,
        base: Array | Tree,
        name: str,
        arguments: Arguments,
        keywords: Keywords,
        node: ast.Call,
    ) -> Value:
        if name in ("item", "tolist"):
            self.waited()
            if base.level >= ABSTRACT:
                owner = node.func.value if isinstance(node.func, ast.Attribute) else node
                self.number_needed(base, owner, "SX0101", f"`.{name}()`")
            return Static() if name == "item" else Unknown()
        if name == "block_until_ready":
            self.waited()
            return base
        if isinstance(base, Tree) and not base.flag:
            if name == "items":
                pair = Sequence("tuple", self.frame, [Static(), Tree(base.level, base.deps)])
                return Sequence("list", self.frame, None, pair)
            if name == "values":
                return Sequence("list", self.frame, None, Tree(base.level, base.deps))
            if name == "copy":
                return Tree(base.level, base.deps)
        if name in ARRAY_METHODS:
            for i, value in enumerate(arguments):
                if name == "reshape" and value.level >= ABSTRACT:
                    self.number_needed(value, argument_node(node, i), "SX0101", "a shape")
            self._check_axis(arguments, keywords, node)
            level, deps = level_of((base, *arguments))
            if name == "astype" or name in ("all", "any"):
                return Array(level, deps, boolean=name != "astype")
            return Array(level, deps)
        if name not in METADATA:
            self.waited()
        return Unknown()

    def _check_axis(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> None:
        axis = keywords.get("axis")
        if axis is not None and self.is_abstract(axis):
            place = argument_node(node, 99, "axis")
            self.number_needed(axis, place, "SX0101", "`axis`")

    # --- by name ---

    def call_named(
        self, name: str, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call something imported or built in."""
        module, _, function = name.rpartition(".")
        handler = self.handlers.get(name)
        if handler is not None:
            return handler(arguments, keywords, node)
        if module == "builtins":
            return self._call_builtin(function, arguments, node)
        if name in CLOCKS or is_impure(name):
            return self._call_impure(name, node)
        if _is_of(module, "numpy"):
            return self.numpy_call(function, self.text(node.func), arguments, node, keywords)
        if module == "math":
            if function != "prod":
                for i, value in enumerate(arguments):
                    if value.level and isinstance(value, (Array, Tree)):
                        self.number_needed(
                            value, argument_node(node, i), "SX0101", f"`{self.text(node.func)}`",
                            f"use {self.alias(f'jax.numpy.{function}')}",
                        )  # fmt: skip
            return Static()
        if _is_of(module, "scipy") and function[:1].islower():
            self._check_numpy_arguments(self.text(node.func), arguments, node)
            self.waited()
            return Unknown()
        if module == "jax.random":
            return self._call_random(name, function, arguments, keywords, node)
        if _is_of(module, "jax"):
            return self._call_jax(name, function, arguments, keywords, node)
        if _is_of(module, "logging"):
            self._check_print(f"`{self.text(node.func)}`", arguments, node)
            return Named("logging.Logger") if function == "getLogger" else Unknown()
        if name == "collections.deque":
            return Sequence("list", self.frame, None)
        if name in ("collections.defaultdict", "collections.OrderedDict", "collections.Counter"):
            return Mapping(self.frame, {}, complete=False)
        if module == "optax" and function in OPTIMIZERS:
            return Named("optax()")
        self.unknown_call(arguments, node)
        return Unknown()

    @property
    @abc.abstractmethod
    def handlers(self) -> dict[str, Callable[[Arguments, Keywords, ast.Call], Value]]:
        """Return the functions with semantics of their own."""

    def _call_impure(self, name: str, node: ast.Call) -> Value:
        if self.frame.stage == STAGED:
            advice = "pass it as an argument"
            if "random" in name:
                advice = f"draw with {self.alias('jax.random')} from a key that is an argument"
            elif name in CLOCKS or name.startswith("time."):
                advice = "measure around the call, and wait for its result"
            self.report(
                node,
                "SX0411",
                f"`{self.text(node)}` is called once, {self.traced_by()}: all calls use that one value",
                advice,
            )
        if name not in CLOCKS:
            return Unknown()
        clock = Clock()
        clock.seen = {c: c.pending for c in self.clocks if c.pending is not None}
        if not self.frame.stage:
            self.clocks = [*self.clocks[-3:], clock]
        return clock

    def _check_print(self, what: str, arguments: Arguments, node: ast.Call) -> None:
        if self.frame.stage == STAGED and any(value.level for value in arguments):
            self.report(
                node,
                "SX0401",
                f"{what} in a traced function is called once, {self.traced_by()}, with tracers",
                f"{self.alias('jax.debug.print')} prints when the program runs, with the values",
            )
        elif any(not isinstance(value, Static) for value in arguments):
            self.waited()

    def _check_numpy_arguments(self, what: str, arguments: Arguments, node: ast.Call) -> None:
        for i, value in enumerate(arguments):
            inner = value
            if isinstance(value, Sequence):
                inner = next((v for v in value.items or () if v.level), value)
            if inner.level and isinstance(inner, (Array, Tree)):
                self.report(
                    node,
                    "SX0104",
                    f"`{what}` needs the numbers of `{self.text(argument_node(node, i))}`, "
                    f"which are not known {self.traced_by()}",
                    f"{self.depends(inner)}use the function of {self.alias('jax.numpy')}",
                )
                return

    def numpy_call(
        self,
        function: str,
        what: str,
        arguments: Arguments,
        node: ast.Call,
        keywords: Keywords | None = None,
    ) -> Value:
        """Call a function of NumPy, which needs the numbers of its arguments."""
        if function in NUMPY_STATIC or (function[:1].isupper()):
            return Static() if function in NUMPY_STATIC else Unknown()
        if what != "NumPy":
            self._check_numpy_arguments(what, arguments, node)
        if arguments and any(not isinstance(v, (Static, NumPy)) for v in arguments):
            self.waited()
        if function in NUMPY_CREATORS:
            return NumPy()
        if all(isinstance(v, Static) for v in arguments):
            return Static()
        if all(isinstance(v, (Static, NumPy)) for v in arguments):
            return NumPy()
        return Unknown()

    # --- builtins ---

    def _call_builtin(self, name: str, arguments: Arguments, node: ast.Call) -> Value:
        first = arguments[0] if arguments else None
        second = arguments[1] if len(arguments) > 1 else None
        if name in ("float", "int", "complex", "bool"):
            return self._convert(name, first, node)
        if name in ("min", "max", "sorted", "any", "all"):
            return self._call_comparing(name, arguments, node)
        if name == "range":
            for i, value in enumerate(arguments):
                if self.is_abstract(value):
                    self.number_needed(
                        value, argument_node(node, i), "SX0103", "`range`",
                        f"loop with {self.alias('jax.lax.fori_loop')}, or mark it as static",
                    )  # fmt: skip
            if self.clocks and any(not isinstance(value, Static) for value in arguments):
                self.waited()
            return Sequence("range", self.frame, None, Static())
        if name in ("abs", "round", "pow", "divmod"):
            others = [v for v in arguments if isinstance(v, (Array, Tree)) and v.level]
            return Array(*level_of(others)) if others else Unknown()
        if name == "sum" and first is not None:
            return self._sum(first, second)
        if name in ("len", "isinstance", "hasattr", "callable", "issubclass", "id", "hash", "ord"):
            return Static()
        if name in ("str", "repr", "format"):
            self._waits_unless_static(arguments)
            return Static(MISSING, *level_of(arguments))
        if name == "print":
            self._check_print("`print`", arguments, node)
            return Static(None)
        if name in ("list", "tuple", "set", "frozenset", "reversed", "iter"):
            return self._to_sequence(name, first)
        if name == "dict":
            return Mapping(self.frame, {}, complete=False)
        if name == "enumerate" and first is not None:
            pair = Sequence("tuple", self.frame, [Static(), self.element_of(first)])
            return Sequence("list", self.frame, None, pair)
        if name == "zip":
            row = Sequence("tuple", self.frame, [self.element_of(v) for v in arguments])
            return Sequence("list", self.frame, None, row)
        if name == "map" and isinstance(first, Closure):
            element = self.call(first, [self.element_of(v) for v in arguments[1:]], {}, node)
            return Sequence("list", self.frame, None, element)
        if name == "getattr" and first is not None and len(arguments) == 2:
            attribute = constant(arguments[1])
            return self.attribute_of(first, attribute) if isinstance(attribute, str) else Unknown()
        if name == "slice":
            return Static()
        self.unknown_call(arguments, node)
        return Unknown()

    def _waits_unless_static(self, arguments: Arguments) -> None:
        if any(not isinstance(value, Static) for value in arguments):
            self.waited()

    def _sum(self, first: Value, start: Value | None) -> Value:
        if isinstance(first, Sequence):
            values = first.items if first.items is not None else [first.element or Unknown()]
            if values and all(isinstance(v, Array) for v in values):
                return Array(*level_of(values))
            return Static() if all(isinstance(v, Static) for v in values) else Unknown()
        if isinstance(first, Array):
            return Array(first.level, first.deps)
        return Unknown()

    def _to_sequence(self, name: str, first: Value | None) -> Value:
        kind = "list" if name in ("reversed", "iter") else name.replace("frozenset", "set")
        if first is None:
            return Sequence(kind, self.frame, [])
        if isinstance(first, Sequence) and first.items is not None and name in ("list", "tuple"):
            return Sequence(kind, self.frame, list(first.items))
        if self.clocks and isinstance(first, (Array, Tree)):
            self.waited()
        element = self.element_of(first)
        return Sequence(kind, self.frame, None, element)

    def _convert(self, name: str, value: Value | None, node: ast.Call) -> Value:
        if value is None or isinstance(value, (Static, NumPy)):
            const = constant(value)
            if isinstance(const, (int, float)) and name == "bool":
                return Static(bool(const))
            return Static()
        self.waited()
        place = argument_node(node, 0)
        if name == "bool":
            if value.level >= ABSTRACT and isinstance(value, (Array, Tree)):
                if isinstance(value, Array) or value.flag:
                    self.not_known(value, place, "`bool`")
        elif isinstance(value, (Array, Tree)):
            if value.level >= ABSTRACT or (name == "float" and value.level):
                self.number_needed(
                    value, place, "SX0101", f"`{name}`", "leave it an array: x.astype(...)"
                )
        return Static() if isinstance(value, (Array, Tree)) else Unknown()

    def _call_comparing(self, name: str, arguments: Arguments, node: ast.Call) -> Value:
        key = next((self.evaluate(k.value) for k in node.keywords if k.arg == "key"), None)
        values = arguments
        if len(arguments) == 1:
            only = arguments[0]
            if isinstance(only, Sequence):
                values = only.items if only.items is not None else [only.element or Unknown()] * 2
            elif isinstance(only, Array):
                values = [only, only]
            else:
                values = []
        if isinstance(key, Closure):
            values = [self.call(key, [v], {}, node) for v in values[:1]] * len(values)
        elif key is not None:
            values = []
        if name in ("any", "all"):
            asked = values
        else:
            asked = values if len(values) > 1 else []
        for value in asked:
            if value.level >= ABSTRACT and isinstance(value, (Array, Tree)):
                if isinstance(value, Array) or value.flag or name in ("min", "max"):
                    if isinstance(value, Tree) and len(arguments) == 1:
                        continue
                    self.not_known(value, node, f"`{name}`")
                    return Array(value.level, value.deps)
        if self.clocks and any(not isinstance(v, Static) for v in values):
            self.waited()
        if values and all(isinstance(v, Static) for v in values):
            return Static()
        return Unknown()

    # --- jax ---

    def traced_level(self, values: Arguments) -> tuple[int, frozenset[str]]:
        """Return the level of what an operation of jax gives."""
        flat: list[Value] = []
        for value in values:
            flat += value.items or () if isinstance(value, Sequence) else (value,)
        level, deps = level_of(flat)
        if self.frame.stage == STAGED:
            level = ABSTRACT
        return level, deps

    def _call_random(
        self, name: str, function: str, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> Value:
        if function in CONSUMERS:
            key = argument(arguments, keywords, 0, "key")
            if key is not None:
                self.consume(key, node)
            self._check_shapes(name, arguments, keywords, node)
        if function in CONSUMERS or function in KEY_MAKERS:
            if self.compile_time:
                return Unknown()
            return Array(*self.traced_level(arguments))
        self.waited()
        return Unknown()

    def _check_shapes(
        self, name: str, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> None:
        found = SHAPE_ARGUMENTS.get(name)
        if found is None:
            return
        position, keyword, code = found
        value = argument(arguments, keywords, position, keyword)
        if value is None:
            return
        parts = value.items if isinstance(value, Sequence) and value.items is not None else [value]
        for part in parts:
            if self.is_abstract(part):
                place = argument_node(node, position, keyword)
                self.number_needed(
                    part, place, code, "a shape", "mark the size as static, or pad to a fixed size"
                )
                return

    def _call_jax(
        self, name: str, function: str, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> Value:
        if name.startswith("jax.nn.initializers."):
            if name.endswith("()"):
                key = argument(arguments, keywords, 0, "key")
                if key is not None and "constant" not in name:
                    self.consume(key, node)
                return Array(*self.traced_level(arguments))
            return Named(name + "()")
        kind = result_kind(name)
        if kind == "static":
            return Static()
        if kind is None or self.compile_time:
            if not name.startswith(("jax.numpy", "jax.lax")):
                self.unknown_call(arguments, node)
            return Unknown()
        self._check_shapes(name, arguments, keywords, node)
        self._check_axis(arguments, keywords, node)
        if name == "jax.numpy.arange":
            for i, value in enumerate(arguments):
                if self.is_abstract(value):
                    self.number_needed(value, argument_node(node, i), "SX0101", "`arange`")
        self._check_data_sized(name, function, arguments, keywords, node)
        level, deps = self.traced_level(arguments)
        single = function == "where" and len(arguments) == 1
        if kind == "tree" or single or (function == "unique" and len(keywords) > 1):
            return Tree(level, deps)
        boolean = function in BOOLEAN_RESULTS or _has_constants(bool, function, arguments, keywords)
        return Array(level, deps, boolean, _has_constants(int, function, arguments, keywords))

    def _check_data_sized(
        self, name: str, function: str, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> None:
        if not name.startswith("jax.numpy.") or not arguments or "**" in keywords:
            return
        keyword = DATA_SIZED.get(function)
        if function == "where" and len(arguments) == 1 and len(keywords) == 0:
            keyword = "size"
        size = keywords.get(keyword) if keyword else None
        missing = keyword and (size is None or constant(size) is None)
        if missing and len(arguments) < 3 and self.is_abstract(arguments[0]):
            self.report(
                node,
                "SX0101",
                f"the size of `{self.text(node)}` depends on values that are not known {self.traced_by()}",
                f"{self.depends(arguments[0])}give the largest size: {keyword}=...",
            )


def _is_of(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def bind(function: Function, arguments: Arguments, keywords: Keywords) -> dict[str, Value]:
    """Return the names of a function's parameters with their values."""
    names: dict[str, Value] = {}
    uncertain = "**" in keywords
    for i, parameter in enumerate(function.positional):
        name = parameter.arg
        if i < len(arguments):
            names[name] = arguments[i]
        elif name in keywords:
            names[name] = keywords[name]
        else:
            default = None if uncertain else function.default_of(name)
            names[name] = default if default is not None else Unknown()
    for parameter in function.node.args.kwonlyargs:
        name = parameter.arg
        default = None if uncertain else function.default_of(name)
        names[name] = keywords.get(name) or (default if default is not None else Unknown())
    if function.node.args.vararg is not None:
        rest = arguments[len(function.positional) :]
        exact = not uncertain
        names[function.node.args.vararg.arg] = Sequence(
            "tuple", function.scope, rest if exact else None
        )
    if function.node.args.kwarg is not None:
        names[function.node.args.kwarg.arg] = Unknown()
    return names


def _refreshed(value: Value) -> Value:
    if isinstance(value, Array):
        return Array(value.level, value.deps, value.boolean, value.integer)
    if isinstance(value, Tree):
        return Tree(value.level, value.deps, value.flag)
    if isinstance(value, Sequence) and value.items is not None:
        return Sequence(value.kind, value.home, [_refreshed(item) for item in value.items])
    if isinstance(value, Mapping):
        items: dict[Any, Value] = {key: _refreshed(item) for key, item in value.items.items()}
        return Mapping(value.home, items, value.complete)
    return value


def _has_constants(kind: type, function: str, arguments: Arguments, keywords: Keywords) -> bool:
    """Return whether a call makes an array of constants of a type."""
    if function not in ("array", "asarray", "arange") or "dtype" in keywords:
        return False
    if function != "arange" and len(arguments) > 1:
        return False

    def fits(const: Any) -> bool:
        if isinstance(const, tuple):
            items: tuple[Any, ...] = const  # pyright: ignore[reportUnknownVariableType]
            return bool(items) and all(fits(item) for item in items)
        return type(const) is kind

    return bool(arguments) and all(fits(constant(value)) for value in arguments)
