"""Evaluate transformations: what `jit`, `vmap` and `grad` trace, and how their results are called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from sagax._check.abstract_values import (
    ABSTRACT,
    GRADIENT,
    MISSING,
    STAGED,
    Array,
    Class,
    Closure,
    Frame,
    Function,
    Instance,
    Mapping,
    Named,
    NumPy,
    Partial,
    Root,
    Sequence,
    Static,
    Transform,
    Tree,
    Unknown,
    Value,
    as_traced,
    constant,
    join,
)
from sagax._check.calls import Arguments, Calls, Keywords, argument, argument_node

__all__ = ["Transforms"]

_KINDS = {
    "jax.jit": "jit", "jax.pmap": "stage", "jax.shard_map": "stage", "jax.checkpoint": "stage",
    "jax.make_jaxpr": "stage", "jax.vmap": "vmap", "jax.grad": "grad", "jax.value_and_grad": "grad",
    "jax.jacfwd": "grad", "jax.jacrev": "grad", "jax.jacobian": "grad", "jax.hessian": "grad",
    "jax.custom_jvp": "plain", "jax.custom_vjp": "plain", "jax.named_call": "plain",
}  # fmt: skip
_SCALAR_GRADIENTS = frozenset(("jax.grad", "jax.value_and_grad"))
_NUMBER_ANNOTATIONS = frozenset(
    "bool int float complex Array ndarray ArrayLike Float Int Bool Num Scalar FloatArray".split()
)
_CONTEXTS = 3  # in which one transformation of one function is looked at
_FEW = 5  # compilations of one line without a finding, as of RecompilationWarning


class Transforms(Calls):
    """Evaluate transformations, and calls of transformed functions."""

    # --- making ---

    def transform(
        self, name: str, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> Value:
        """Apply a transformation."""
        function = argument(arguments, keywords, 0, "fun", "f", "func")
        if function is None:
            return Partial(Named(name), [], keywords)
        original = function
        if isinstance(function, Partial):
            inner = function.function
            if not isinstance(inner, Closure) or inner.transforms:
                self._check_jit_in_loop(name, original, node)
                return Unknown()
            named = {**inner.named, **function.keywords}
            function = Closure(
                inner.function, leading=(*inner.leading, *function.arguments), named=named
            )
        if not isinstance(function, Closure):
            return Unknown()
        applied = self._read_options(name, arguments, keywords, node)
        made = Closure(
            function.function,
            (applied, *function.transforms),
            None,
            function.leading,
            function.named,
        )
        if applied.kind != "plain":
            made.root = Root(made, self.frame.stage)
            self.traced_nodes.add(function.function.node)
            key = (function.function.node, applied.node)
            self.traced[key] = self.traced.get(key, 0) + 1
            if self.traced[key] <= _CONTEXTS:
                self.roots.append(made.root)
            self._check_names(made, applied, node)
        self._check_jit_in_loop(name, original, node)
        return made

    def _read_options(
        self, name: str, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> Transform:
        kind = _KINDS[name]
        if "**" in keywords:
            return Transform(kind, name, node, None, None, axes=MISSING, has_aux=None)
        if kind == "grad":
            numbers = argument(arguments, keywords, 1, "argnums")
            aux = keywords.get("has_aux")
            positions = (0,) if numbers is None else _integers(constant(numbers))
            has_aux = False if aux is None else constant(aux)
            return Transform(
                kind,
                name,
                node,
                positions,
                (),
                has_aux=None if has_aux is MISSING else bool(has_aux),
            )
        if kind == "vmap":
            axes = argument(arguments, keywords, 1, "in_axes")
            return Transform(kind, name, node, axes=0 if axes is None else constant(axes))
        which = {"jax.pmap": "static_broadcasted_argnums"}.get(name, "static_argnums")
        numbers, names = keywords.get(which), keywords.get("static_argnames")
        donated, donated_names = keywords.get("donate_argnums"), keywords.get("donate_argnames")
        return Transform(
            kind, name, node,
            () if numbers is None else _integers(constant(numbers)),
            () if names is None else _strings(constant(names)),
            donated=(_integers(constant(donated)) or ()) if donated is not None else (),
            donated_names=(_strings(constant(donated_names)) or ()) if donated_names is not None else (),
        )  # fmt: skip

    def _check_names(self, made: Closure, applied: Transform, node: ast.Call) -> None:
        """Find numbers and names of arguments that the function does not have."""
        parameters = made.function.node.args
        if applied.kind != "jit" or parameters.vararg is not None:
            return
        count = len(made.function.positional) - len(made.leading)
        for option, numbers in (
            ("static_argnums", applied.numbers),
            ("donate_argnums", applied.donated),
        ):
            for number in numbers or ():
                if not -count <= number < count:
                    self.report(
                        argument_node(node, 99, option),
                        "SX0006",
                        f"`{made.function.name}` takes {count} positional arguments, so there is no "
                        f"number {number} for {option}",
                        "positions count from 0",
                    )
        if parameters.kwarg is not None or made.named:
            return
        known = {p.arg for p in (*made.function.positional, *parameters.kwonlyargs)}
        for option, names in (
            ("static_argnames", applied.names),
            ("donate_argnames", applied.donated_names),
        ):
            for missing in [n for n in names or () if n not in known]:
                self.report(
                    argument_node(node, 99, option),
                    "SX0006",
                    f"`{made.function.name}` has no argument {missing!r}, which {option} names",
                    f"its arguments are {', '.join(sorted(known))}",
                )

    def _check_jit_in_loop(self, name: str, function: Value, node: ast.Call) -> None:
        if name != "jax.jit" or self.frame.stage or not self.frame.loops or not node.args:
            return
        loop = self.frame.loops[-1]
        made = node.args[0]
        if isinstance(made, ast.Name):
            if not isinstance(function, Closure) or not _within(function.function.node, loop):
                return
            body: ast.AST = function.function.node
        elif isinstance(made, (ast.Lambda, ast.Call)):
            body = made
        else:
            return
        if isinstance(loop, ast.For) and _few(loop.iter):
            return
        changed = {
            n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        changed |= {
            n.name for n in ast.walk(loop) if isinstance(n, (ast.FunctionDef, ast.ClassDef))
        }
        own = {n.arg for n in ast.walk(body) if isinstance(n, ast.arg)}
        own |= {
            n.id for n in ast.walk(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        read = {
            n.id for n in ast.walk(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        if (read - own) & changed:
            return  # it is another function each time
        self.report(
            node,
            "SX0403",
            f"`{self.text(node)}` makes a new function in each iteration, which is compiled again",
            "apply jit once, before the loop",
        )

    # --- calling ---

    def call_closure(
        self,
        closure: Closure,
        arguments: list[Value],
        keywords: dict[str, Value],
        node: ast.Call,
    ) -> Value:
        arguments = [*closure.leading, *arguments]
        keywords = {**closure.named, **keywords}
        if all(t.kind == "plain" for t in closure.transforms):
            return self.inline(closure.function, arguments, keywords, node)
        offset = len(closure.leading)
        self._check_static_arguments(closure, arguments, keywords, node)
        if self.frame.stage == STAGED:
            return self._call_traced(closure, arguments, keywords, node)
        root = closure.root or Root(closure, self.frame.stage)
        given = self._given(closure, arguments, keywords)
        root.calls.append((given, bool(self.guarded)))
        root.first_call = root.first_call or node
        if self.frame.stage:
            return self._call_traced(closure, arguments, keywords, node)
        self._check_integers(closure, arguments, node, offset)
        self._check_objects(closure, arguments, node, offset)
        if closure.transforms[0].kind == "jit":
            self._check_stale(root, arguments, node)
            self.started(node)
            self._donate(closure, arguments, node, offset)
        else:
            self.waited()
        return Tree(result_of=root if closure.transforms[0].kind == "jit" else None)

    def _given(
        self, closure: Closure, arguments: Arguments, keywords: Keywords
    ) -> dict[str, Value]:
        given = {p.arg: v for p, v in zip(closure.function.positional, arguments, strict=False)}
        given.update({name: v for name, v in keywords.items() if name != "**"})
        return given

    def _call_traced(
        self, closure: Closure, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> Value:
        function = closure.function
        given = self._given(closure, arguments, keywords)
        stage = self.frame.stage
        within = {p.arg for p, _ in zip(function.positional, closure.leading, strict=False)}
        within |= closure.named.keys()
        for applied in closure.transforms:
            levels = _Levels(applied, closure)
            if applied.kind in ("jit", "stage"):
                stage = STAGED
            for name, value in given.items():
                level = levels(name) if name not in within else 0
                if level > value.level or (level and not isinstance(value, (Array, Tree))):
                    given[name] = as_traced(value, max(level, value.level), name)
        outer = self.frame
        self.frame = Frame(outer, stage, outer.root or closure.root, outer.function)
        try:
            rest = arguments[len(function.positional) :]  # for `*args`
            if rest:
                leading = [given.pop(p.arg) for p in function.positional]
                result = self.inline(function, [*leading, *rest], given, node)
            else:
                uncertain = {name: v for name, v in keywords.items() if name == "**"}
                result = self.inline(function, [], {**given, **uncertain}, node)
        finally:
            self.frame = outer
        kind = closure.transforms[0].kind
        if kind in ("jit", "stage"):
            return result
        if kind == "vmap" and isinstance(result, Array):
            return Array(max(result.level, ABSTRACT if outer.stage == STAGED else 0), result.deps)
        if outer.stage == STAGED:
            return Tree(ABSTRACT, result.deps)
        return Unknown()

    # --- checks of calls ---

    def _static_names(self, closure: Closure) -> tuple[set[str], set[str]]:
        """Return the static parameters of the outermost jit, and the donated ones."""
        names = [p.arg for p in closure.function.positional][len(closure.leading) :]
        static: set[str] = set()
        donated: set[str] = set()
        for applied in closure.transforms:
            if applied.kind == "jit":
                static |= {names[i] for i in applied.numbers or () if -len(names) <= i < len(names)}
                static |= set(applied.names or ())
                donated |= {names[i] for i in applied.donated if -len(names) <= i < len(names)}
                donated |= set(applied.donated_names)
        return static, donated

    def _argument_position(self, closure: Closure, name: str, node: ast.Call) -> ast.expr:
        positional = [p.arg for p in closure.function.positional][len(closure.leading) :]
        return argument_node(node, positional.index(name) if name in positional else 99, name)

    def _check_static_arguments(
        self, closure: Closure, arguments: Arguments, keywords: Keywords, node: ast.Call
    ) -> None:
        static, _ = self._static_names(closure)
        if not static:
            return
        given = self._given(closure, arguments, keywords)
        for name in sorted(static & given.keys()):
            value = given[name]
            what = ""
            if isinstance(value, Sequence) and value.kind in ("list", "set"):
                what = f"a {value.kind}"
            elif isinstance(value, Mapping):
                what = "a dict"
            elif isinstance(value, (Array, NumPy)):
                what = "an array"
            elif self.is_abstract(value):
                what = "a traced value"
            if what:
                place = self._argument_position(closure, name, node)
                advice = (
                    "pass it as an ordinary argument"
                    if "a" in what[-5:] and what == "an array"
                    else ""
                )
                self.report(
                    place,
                    "SX0006",
                    f"`{name}` of `{closure.function.name}` is static, and {what} has no hash",
                    advice or "pass a tuple, or another value that does not change",
                )

    def _check_integers(
        self, closure: Closure, arguments: Arguments, node: ast.Call, offset: int
    ) -> None:
        applied = next((t for t in closure.transforms if t.name in _SCALAR_GRADIENTS), None)
        if applied is None or _has_keyword(applied.node, "allow_int"):
            return
        for number in applied.numbers or ():
            value = arguments[number + offset] if 0 <= number + offset < len(arguments) else None
            if value is not None and any(_is_integer(leaf) for leaf in _leaves(value)):
                place = argument_node(node, number)
                self.report(
                    place,
                    "SX0003",
                    f"`{self.text(place)}` is an integer, and {applied.name.rpartition('.')[2]} "
                    "differentiates with respect to real numbers",
                    "write it with a decimal point, or convert it: x.astype(float)",
                )

    def _check_objects(
        self, closure: Closure, arguments: Arguments, node: ast.Call, offset: int
    ) -> None:
        """Find objects that are no pytrees, and texts, among traced arguments."""
        static, _ = self._static_names(closure)
        if any(
            t.kind == "jit" and (t.numbers is None or t.names is None) for t in closure.transforms
        ):
            return
        if closure.transforms[0].kind != "jit":
            return
        for i, (parameter, value) in enumerate(
            zip(closure.function.positional, arguments, strict=False)
        ):
            if i < offset or parameter.arg in static:
                continue
            const = constant(value) if isinstance(value, Static) else None
            if isinstance(const, str) and isinstance(value, Static):
                what = "a text"
            else:
                kinds = [leaf.kind for leaf in _leaves(value) if isinstance(leaf, Instance)]
                plain = next((kind for kind in kinds if self._is_plain_class(kind)), None)
                if plain is None:
                    continue
                what = f"`{plain.node.name}`, which is not registered as a pytree,"
            shown = i - offset if len(node.args) == len(arguments) - offset else 99
            self.report(
                argument_node(node, shown, parameter.arg),
                "SX0007",
                f"{what} cannot be a traced argument: `{parameter.arg}` of `{closure.function.name}`",
                "mark it as static, or register its class: "
                f"{self.alias('jax.tree_util.register_dataclass')}",
            )

    def _is_plain_class(self, kind: Class) -> bool:
        """Return whether objects of a class are no pytrees, as far as this file tells."""
        calls = [d.func if isinstance(d, ast.Call) else d for d in kind.node.decorator_list]
        decorators = [self.function_named(d) for d in calls]
        plain = [isinstance(d, Named) and d.name == "dataclasses.dataclass" for d in decorators]
        if not all(plain) or kind.node.keywords:
            return False
        if any(self.text(base) != "object" for base in kind.node.bases):
            return False
        return not any("register" in line.partition("#")[0] for line in self.lines)

    def _donate(self, closure: Closure, arguments: Arguments, node: ast.Call, offset: int) -> None:
        _, donated = self._static_names(closure)
        if self.guarded or not donated or len(node.args) != len(arguments) - offset:
            return
        for i, parameter in enumerate(closure.function.positional[offset:]):
            if (
                parameter.arg in donated
                and i < len(node.args)
                and isinstance(node.args[i], ast.Name)
            ):
                value = arguments[i + offset]
                if not isinstance(value, (Static, NumPy, Named, Closure)):
                    self.donated[value] = node

    # --- values that a compiled function goes on with ---

    def _check_stale(self, root: Root, arguments: Arguments, node: ast.Call) -> None:
        static, _ = self._static_names(root.closure)
        positional = root.closure.function.positional
        owner = arguments[0] if arguments and positional and positional[0].arg == "self" else None
        if static - {"self"} or root.transform.numbers is None or root.transform.names is None:
            return
        reads = self._free_values(root, owner if isinstance(owner, Instance) else None)
        if root.reads is None:
            root.reads = reads
            return
        for (holder, name), (value, place) in reads.items():
            old = root.reads.get((holder, name))
            if old is None:
                root.reads[holder, name] = (value, place)
            elif old[0] is not value and not _equal(old[0], value):
                self.report(
                    place,
                    "SX0402",
                    f"`{root.name}` goes on with the `{self.text(place)}` of its first call: it has changed "
                    f"before the call in line {node.lineno}",
                    "pass it as an argument",
                )

    def _free_values(
        self, root: Root, owner: Instance | None
    ) -> dict[tuple[Value | None, str], tuple[Value, ast.AST]]:
        """Return what a function reads from outside now: variables of the module, attributes of `self`."""
        function = root.closure.function
        found: dict[tuple[Value | None, str], tuple[Value, ast.AST]] = {}
        own = {n.arg for n in ast.walk(function.node) if isinstance(n, ast.arg)}
        special = owner is not None and any(
            n in owner.kind.scope.names for n in ("__eq__", "__hash__")
        )
        for node in ast.walk(function.node):
            if isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Load):
                    own.add(node.id)
                elif (
                    self.in_module
                    and node.id not in own
                    and function.scope.find(node.id) is self.module
                ):
                    value = self.module.names[node.id]
                    if isinstance(value, (Static, Array, NumPy)):
                        found.setdefault((None, node.id), (value, node))
            elif (
                isinstance(node, ast.Attribute)
                and owner is not None
                and not special
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
                and isinstance(node.ctx, ast.Load)
            ):
                value = owner.attributes.get(node.attr)
                if isinstance(value, (Static, Array, NumPy)):
                    found.setdefault((owner, node.attr), (value, node))
        return {key: pair for key, pair in found.items() if key[1] not in own or key[0] is not None}

    # --- tracing ---

    def run_root(self, root: Root) -> None:
        """Run the body of a transformed function on traced arguments."""
        closure = root.closure
        function = closure.function
        if function.generator:
            return
        stage = max(root.stage, *(_stage_of(t) for t in closure.transforms))
        given, _ = self._traced_parameters(root)
        frame = Frame(function.scope, stage, root, function)
        frame.names = given
        guarded = function.guarded or (bool(root.calls) and all(guard for _, guard in root.calls))
        self.guarded = int(guarded)
        self.used, self.donated, self.clocks = {}, {}, []
        self.start_work(function)
        self.run_function(function, frame, None)
        self._check_aux(root, frame)
        self._check_self(root)
        self.guarded = 0

    def start_work(self, function: Function) -> None:
        """Limit the statements that are run for one function."""
        self.work = 0
        lines = (getattr(function.node, "end_lineno", 0) or 0) - function.node.lineno
        self.work_limit = 200 + 4 * lines

    def _check_aux(self, root: Root, frame: Frame) -> None:
        applied = root.closure.transforms[0]
        if (
            applied.name not in _SCALAR_GRADIENTS
            or applied.has_aux is not False
            or not frame.returns
        ):
            return
        values = [value for value, _ in frame.returns]
        if all(
            isinstance(v, Sequence) and v.kind == "tuple" and len(v.items or ()) > 1 for v in values
        ):
            self.report(
                root.first_call or applied.node,
                "SX0005",
                f"{applied.name.rpartition('.')[2]} needs a number, and `{root.name}` returns several values",
                "with has_aux=True the first is differentiated, and the second is returned as it is",
            )

    def _check_self(self, root: Root) -> None:
        """Find methods that are jitted with an object that is no pytree as their first argument."""
        function, applied = root.closure.function, root.transform
        parameters = function.positional
        if applied.kind != "jit" or function.owner is None or root.closure.leading:
            return
        decorators = getattr(function.node, "decorator_list", [])
        if len(decorators) != 1 or not parameters or parameters[0].arg != "self":
            return
        if (
            applied.numbers is None
            or applied.names is None
            or "self" in self._static_names(root.closure)[0]
        ):
            return
        if self._is_plain_class(function.owner):
            self.report(
                decorators[0],
                "SX0007",
                f"`self` is a traced argument of `{function.name}`, and `{function.owner.node.name}` is not "
                "registered as a pytree",
                "mark it as static (static_argnums=0), or register the class",
            )

    def _traced_parameters(self, root: Root) -> tuple[dict[str, Value], set[str]]:
        closure = root.closure
        function = closure.function
        positional = function.positional
        given: dict[str, Value] = {}
        for parameter, value in zip(positional, closure.leading, strict=False):
            given[parameter.arg] = value
        given.update(closure.named)
        static, _ = self._static_names(closure)
        for parameter in [*positional[len(closure.leading) :], *function.node.args.kwonlyargs]:
            name = parameter.arg
            if name in given:
                continue
            level = max(_Levels(t, closure)(name) for t in closure.transforms)
            given[name] = self._parameter(root, parameter, level)
            if name == "self" and function.owner is not None and (name in static or not level):
                given[name] = Instance(function.owner, self.module)
        arguments = function.node.args
        whole = all(t.kind in ("jit", "stage") and t.numbers == () for t in closure.transforms)
        if arguments.vararg is not None:
            element: Value = (
                Tree(ABSTRACT, frozenset((arguments.vararg.arg,))) if whole else Unknown()
            )
            given[arguments.vararg.arg] = Sequence("tuple", Frame(None, STAGED), None, element)
        if arguments.kwarg is not None:
            given[arguments.kwarg.arg] = Unknown()
        return given, static

    def _parameter(self, root: Root, parameter: ast.arg, level: int) -> Value:
        """Return the value of a traced parameter, by the calls that were seen and by its annotation."""
        function, name = root.closure.function, parameter.arg
        default = function.default_of(name)
        if not level:
            return Unknown()
        deps = frozenset((name,))
        annotated = _names_number(parameter.annotation)
        passed = [given[name] for given, _ in root.calls if name in given]
        if isinstance(default, (Sequence, Mapping)) and default.home.stage == 0 and not passed:
            return default  # shared by all calls
        if default is not None and not passed:
            return Unknown()  # it may be left out, and is no tracer then
        if any(constant(value) is None for value in passed):
            return Unknown()
        if passed:
            value = as_traced(passed[0], level, name)
            for other in passed[1:]:
                value = join(value, as_traced(other, level, name))
            if isinstance(value, Array):
                return Array(level, deps, value.boolean)
            if isinstance(value, (Sequence, Mapping)):
                return Tree(level, deps)
        return Tree(level, deps, flag=annotated or _is_flag(function, name))


def _stage_of(applied: Transform) -> int:
    return STAGED if applied.kind in ("jit", "stage") else GRADIENT


class _Levels:
    """Give the level that a transformation lifts a parameter to."""

    __slots__ = ("applied", "names")

    def __init__(self, applied: Transform, closure: Closure) -> None:
        self.applied = applied
        self.names = [p.arg for p in closure.function.positional][len(closure.leading) :]

    def __call__(self, name: str) -> int:
        applied, names = self.applied, self.names
        position = names.index(name) if name in names else None
        if applied.kind == "plain":
            return 0
        if applied.numbers is None or applied.names is None:
            return 0  # not constants: nothing is certain
        if applied.kind == "grad":
            numbers = [n % len(names) if names else n for n in applied.numbers]
            return GRADIENT if position is not None and position in numbers else 0
        if applied.kind == "vmap":
            return ABSTRACT if _is_mapped(applied.axes, position) else 0
        numbers = [n % len(names) if names else n for n in applied.numbers]
        return (
            0
            if name in applied.names or (position is not None and position in numbers)
            else ABSTRACT
        )


def _is_mapped(axes: Any, position: int | None) -> bool:
    if isinstance(axes, int) or position is None:
        return isinstance(axes, int)
    if isinstance(axes, tuple):
        entries: tuple[Any, ...] = axes  # pyright: ignore[reportUnknownVariableType]
        return position < len(entries) and isinstance(entries[position], int)
    return False


def _integers(const: Any) -> tuple[int, ...] | None:
    if isinstance(const, int):
        return (const,)
    if isinstance(const, tuple):
        items: tuple[Any, ...] = const  # pyright: ignore[reportUnknownVariableType]
        return items if all(isinstance(i, int) for i in items) else None
    return () if const is None else None


def _strings(const: Any) -> tuple[str, ...] | None:
    if isinstance(const, str):
        return (const,)
    if isinstance(const, tuple):
        items: tuple[Any, ...] = const  # pyright: ignore[reportUnknownVariableType]
        return items if all(isinstance(i, str) for i in items) else None
    return () if const is None else None


def _leaves(value: Value) -> Iterator[Value]:
    """Yield a value, or those within containers."""
    items = value.items if isinstance(value, (Sequence, Mapping)) else None
    if items is None:
        yield value
    for item in items.values() if isinstance(items, dict) else items or ():
        yield from _leaves(item)


def _is_integer(value: Value) -> bool:
    if isinstance(value, Array):
        return value.integer
    return isinstance(value, Static) and type(value.const) is int


def _has_keyword(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and any(k.arg in (name, None) for k in node.keywords)


def _within(node: ast.AST, loop: ast.AST) -> bool:
    line = getattr(node, "lineno", 0)
    return getattr(loop, "lineno", 0) <= line <= (getattr(loop, "end_lineno", 0) or 0)


def _few(iterable: ast.expr) -> bool:
    """Return whether a loop has few iterations, or one for each of some named things."""
    if isinstance(iterable, ast.Call):
        name = iterable.func.id if isinstance(iterable.func, ast.Name) else ""
        if name != "range" or not iterable.args:
            return name != "range"
        last = iterable.args[0] if len(iterable.args) == 1 else iterable.args[1]
        return isinstance(last, ast.Constant) and isinstance(last.value, int) and last.value < _FEW
    return True


def _equal(a: Value, b: Value) -> bool:
    x, y = constant(a), constant(b)
    if x is not MISSING and y is not MISSING:
        return type(x) is type(y) and bool(x == y)
    return isinstance(a, Static) or isinstance(b, Static)  # not certain


def _names_number(annotation: ast.expr | None) -> bool:
    """Return whether an annotation says that an argument is one array or number."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.rpartition(".")[2] in _NUMBER_ANNOTATIONS
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value  # jaxtyping: Float[Array, "n"]
    if isinstance(annotation, ast.Attribute):
        return annotation.attr in _NUMBER_ANNOTATIONS
    return isinstance(annotation, ast.Name) and annotation.id in _NUMBER_ANNOTATIONS


def _is_flag(function: Function, name: str) -> bool:
    """Return whether an argument is used as a condition and nowhere else."""
    tests: set[int] = set()
    for node in _walk(function.node):
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            tests |= _tested(node.test)
    loads = [
        node
        for node in ast.walk(function.node)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    return bool(loads) and all(id(node) in tests for node in loads)


def _tested(test: ast.expr) -> set[int]:
    if isinstance(test, ast.BoolOp):
        return set[int]().union(*(_tested(value) for value in test.values))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _tested(test.operand)
    return {id(test)}


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    return ast.walk(node)
