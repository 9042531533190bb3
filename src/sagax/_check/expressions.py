"""Evaluate expressions abstractly."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable
from typing import Any

from sagax._check.abstract_values import (
    ABSTRACT,
    MISSING,
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
    Sequence,
    Static,
    Tree,
    Unknown,
    Value,
    constant,
    join,
    level_of,
)
from sagax._check.knowledge import ARRAY_METHODS, METADATA, canonical
from sagax._check.machine import Machine

__all__ = ["Expressions"]

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: lambda a, b: a // b, ast.Mod: operator.mod,
}  # fmt: skip
_CONTAINER_METHODS = frozenset(("items", "values", "keys"))
_TYPE_QUESTIONS = frozenset(
    """isinstance hasattr issubclass callable type isscalar is_concrete is_array is_tracer is_array_like
    is_inexact_array is_jax_array is_traced ndim getattr""".split()
)


class Expressions(Machine):
    """Evaluate expressions."""

    def evaluate(self, node: ast.expr) -> Value:
        method = _METHODS.get(type(node))
        return method(self, node) if method is not None else Unknown()

    def constant_node(self, node: ast.Constant) -> Value:
        """Evaluate a constant."""
        return Static(node.value)

    def name(self, node: ast.Name) -> Value:
        """Evaluate a name."""
        value = self.look_up(node.id)
        if self.donated and value in self.donated:
            self.use_of_donated(node, value)
        return value

    def use_of_donated(self, node: ast.Name, value: Value) -> None:
        """Report the use of an array whose memory was given away."""
        call = self.donated.pop(value)
        self.report(
            node,
            "SX0202",
            f"`{node.id}` was donated in line {getattr(call, 'lineno', 0)}, so its memory is gone",
            "use the result of that call, pass a copy to it, or do not donate",
        )

    def look_up(self, name: str) -> Value:
        """Return the value of a name."""
        frame = self.frame.declared.get(name) or self.frame.find(name)
        if frame is not None and name in frame.names:
            return frame.names[name]
        if name in _BUILTINS:
            return Named(f"builtins.{name}")
        value = Unknown()
        return value

    def attribute(self, node: ast.Attribute) -> Value:
        """Evaluate an attribute."""
        if isinstance(node.value, ast.Name) and (
            node.attr in METADATA or node.attr in _CONTAINER_METHODS
        ):
            base = self.look_up(node.value.id)
        else:
            base = self.evaluate(node.value)
        return self.attribute_of(base, node.attr)

    def attribute_of(self, base: Value, name: str) -> Value:
        """Return an attribute of a value."""
        if isinstance(base, Named):
            return Named(canonical(f"{base.name}.{name}"))
        if isinstance(base, Instance):
            return self._instance_attribute(base, name)
        if isinstance(base, Class):
            member = base.scope.names.get(name)
            if isinstance(member, Closure) and "classmethod" in decorators_of(member.function):
                return Closure(member.function, leading=(base,))
            return member or Unknown()
        if isinstance(base, (Array, Tree)):
            if name in METADATA:
                return Static()
            if name == "at":
                return AtUpdate(base)
            if name in ("T", "mT", "real", "imag"):
                return Array(base.level, base.deps)
            if isinstance(base, Tree) and not base.flag and name not in ARRAY_METHODS and name not in (
                "item", "tolist", "items", "values", "keys",
            ):  # fmt: skip
                part = base.parts.get(name)
                if part is None:
                    part = base.parts[name] = Unknown()  # perhaps a static field
                return part
            return Method(base, name)
        if isinstance(base, Unknown):
            if name == "at":
                return AtUpdate(base)
            return Method(base, name)
        return Method(base, name)

    def _instance_attribute(self, base: Instance, name: str) -> Value:
        found = base.attributes.get(name)
        if found is not None:
            return found
        member = base.kind.scope.names.get(name)
        if isinstance(member, Closure) and not member.leading:
            decorators = decorators_of(member.function)
            if "staticmethod" in decorators:
                return member
            if "classmethod" in decorators:
                return Closure(member.function, leading=(base.kind,))
            if any("property" in decorator for decorator in decorators):
                return Unknown()
            if member.transforms:  # the object is an argument of the transformed function
                return Partial(member, [base], {})
            return Closure(member.function, leading=(base,))
        if member is not None:
            return member
        if base.kind.node.bases or "__getattr__" in base.kind.scope.names:
            return Unknown()  # perhaps a property, which gives another value each time
        value = base.attributes[name] = Unknown()
        return value

    # --- operators ---

    def binary(self, node: ast.BinOp) -> Value:
        """Evaluate a binary operation."""
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(left, Clock) and isinstance(right, Clock) and isinstance(node.op, ast.Sub):
            self._elapsed(left, right)
            return Static()
        return self.combine(left, right, node.op)

    def _elapsed(self, later: Clock, earlier: Clock) -> None:
        pending = later.seen.get(earlier)
        if pending is not None:
            self.report(
                pending,
                "SX0412",
                f"the clock is read before `{self.text(pending)}` has finished, since calls of "
                "jitted functions return at once",
                f"wait for the result: {self.alias('jax.block_until_ready')}(...)",
            )

    def combine(self, left: Value, right: Value, op: ast.operator) -> Value:
        """Return the value of an arithmetic operation."""
        for value in (left, right):
            if isinstance(value, Static) and isinstance(value.const, (str, bytes)):
                return Static(MISSING, *level_of((left, right)))
        if isinstance(left, Static) and isinstance(right, Static):
            return Static(_fold(_ARITHMETIC.get(type(op)), left.const, right.const))
        sequence = isinstance(left, Sequence) or isinstance(right, Sequence)
        if sequence and isinstance(op, (ast.Add, ast.Mult, ast.BitOr, ast.Sub, ast.BitAnd)):
            return self._combine_sequences(left, right, op)
        level, deps = level_of((left, right))
        arrays = [v for v in (left, right) if isinstance(v, Array)]
        trees = [v for v in (left, right) if isinstance(v, Tree)]
        if arrays or (trees and (len(trees) == 1 or not isinstance(op, (ast.Add, ast.BitOr)))):
            if any(isinstance(v, (Instance, Class, Closure, Named)) for v in (left, right)):
                return Unknown()
            if not level and trees and not arrays:
                return Unknown()
            boolean = isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)) and any(
                v.boolean for v in arrays
            )
            return Array(level, deps, boolean)
        if trees:
            return Tree(level, deps, all(t.flag for t in trees))
        if all(isinstance(v, (NumPy, Static)) for v in (left, right)):
            return NumPy()
        if isinstance(left, Clock) or isinstance(right, Clock):
            return Static()
        return Unknown()

    def _combine_sequences(self, left: Value, right: Value, op: ast.operator) -> Value:
        if (
            isinstance(left, Sequence)
            and isinstance(right, Sequence)
            and isinstance(op, ast.Add)
            and left.items is not None
            and right.items is not None
        ):
            return Sequence(left.kind, self.frame, [*left.items, *right.items])
        if isinstance(op, ast.Mult) and isinstance(left, Sequence) and isinstance(right, Static):
            if left.items is not None and len(left.items) == 1:
                return Sequence(left.kind, self.frame, None, left.items[0])
        return Unknown()

    def unary(self, node: ast.UnaryOp) -> Value:
        """Evaluate a unary operation."""
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            self.truth(value, node.operand, "`not`")
            const = constant(value)
            return Static(
                not const if const is not MISSING and not isinstance(value, Sequence) else MISSING
            )
        if isinstance(value, Array):
            return Array(value.level, value.deps, value.boolean, value.integer)
        if isinstance(value, Tree):
            return Array(value.level, value.deps) if value.level else Unknown()
        if isinstance(value, Static):
            const = value.const
            if isinstance(node.op, ast.USub) and isinstance(const, (int, float)):
                return Static(-const)
            return Static()
        return value if isinstance(value, NumPy) else Unknown()

    def boolean(self, node: ast.BoolOp) -> Value:
        """Evaluate `and` and `or`."""
        word = "`and`" if isinstance(node.op, ast.And) else "`or`"
        narrowed = self.narrow(node)
        values: list[Value] = []
        uncertain = False
        for i, operand in enumerate(node.values):
            value = self.evaluate(operand)
            if i < len(node.values) - 1:
                if not uncertain:
                    self.truth(value, operand, word)
                const = constant(value)
                if const is not MISSING and not isinstance(value, Sequence):
                    if bool(const) == isinstance(node.op, ast.Or):
                        values.append(value)
                        break
                    continue  # this operand never is the result
                uncertain = uncertain or not self.is_abstract(value)
            values.append(value)
        self.restore(narrowed)
        result = values[0] if values else Unknown()
        for value in values[1:]:
            result = join(result, value)
        return result

    def comparison(self, node: ast.Compare) -> Value:
        """Evaluate a comparison."""
        left = self.evaluate(node.left)
        result: Value = Static()
        for i, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            if i:  # a < b < c asks whether a < b
                self.truth(result, node, "a chained comparison")
            right = self.evaluate(right_node)
            result = self._compare(left, right, op, node)
            left = right
        return result

    def _compare(self, left: Value, right: Value, op: ast.cmpop, node: ast.Compare) -> Value:
        a, b = constant(left), constant(right)
        if isinstance(op, (ast.Is, ast.IsNot)):
            if a is not MISSING and b is not MISSING:
                return Static(_fold(_COMPARE[type(op)], a, b))
            if b is None and isinstance(left, (Array, NumPy, Closure, Mapping, Sequence)):
                return Static(isinstance(op, ast.IsNot))
            return Static()
        if isinstance(op, (ast.In, ast.NotIn)):
            if a is not MISSING and b is not MISSING:
                return Static(_fold(_COMPARE[type(op)], a, b))
            members: tuple[Any, ...] = b if isinstance(b, tuple) else ()  # pyright: ignore[reportUnknownVariableType]
            numbers = bool(members) and all(isinstance(n, (int, float)) for n in members)
            if isinstance(left, Array) and left.level >= ABSTRACT and numbers:
                self.not_known(left, node, "`in`")
            return Static()
        if a is not MISSING and b is not MISSING:
            return Static(_fold(_COMPARE[type(op)], a, b))
        for value, other in ((left, b), (right, a)):
            if isinstance(value, (Array, Tree)) and (
                other is None or isinstance(other, (str, tuple))
            ):
                return Static()
        level, deps = level_of((left, right))
        certain = any(isinstance(v, Array) for v in (left, right))
        if not certain and level and any(isinstance(v, Tree) for v in (left, right)):
            ordered = isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
            number = isinstance(a, (int, float)) or isinstance(b, (int, float))
            both = all(isinstance(v, Tree) and v.level for v in (left, right))
            certain = ordered or number or both
        if any(isinstance(v, (Instance, Class, Closure, Sequence, Mapping)) for v in (left, right)):
            return Unknown()
        if certain:
            return Array(level, deps, boolean=True)
        return Static() if all(isinstance(v, Static) for v in (left, right)) else Unknown()

    def conditional(self, node: ast.IfExp) -> Value:
        """Evaluate `a if c else b`."""
        test = self.evaluate(node.test)
        self.truth(test, node.test, "`if`")
        const = constant(test)
        if isinstance(test, Static) and const is not MISSING:
            return self.evaluate(node.body if const else node.orelse)
        narrowed = self.narrow(node.test)
        used = dict(self.used)
        body = self.evaluate(node.body)
        after, self.used = self.used, used
        other = self.evaluate(node.orelse)
        self.used = {key: use for key, use in after.items() if key in self.used}
        self.restore(narrowed)
        return join(body, other)

    def narrow(self, test: ast.expr) -> dict[str, Value]:
        """Forget what is known of names whose type a condition asks for; return their values."""
        saved: dict[str, Value] = {}
        for node in ast.walk(test):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            name = (
                function.attr
                if isinstance(function, ast.Attribute)
                else getattr(function, "id", "")
            )
            if name not in _TYPE_QUESTIONS:
                continue
            for argument in ast.walk(node):
                if isinstance(argument, ast.Name) and argument.id in self.frame.names:
                    value = self.frame.names[argument.id]
                    if isinstance(value, (Array, Tree)):
                        saved.setdefault(argument.id, value)
                        self.frame.names[argument.id] = Unknown()
        return saved

    def restore(self, saved: dict[str, Value]) -> None:
        """Undo `narrow`."""
        self.frame.names.update(saved)

    # --- truth and numbers ---

    def truth(self, value: Value, node: ast.expr, word: str) -> None:
        """Ask whether a value is true."""
        if value.level >= ABSTRACT:
            if isinstance(value, Array) or (isinstance(value, Tree) and value.flag):
                self.not_known(value, node, word)
        elif self.clocks and not isinstance(value, Static):
            self.waited()

    def not_known(self, value: Value, node: ast.expr, word: str, text: str = "") -> None:
        """Report that Python chooses by a value that is not known."""
        if self.converts:
            return
        where, cond = self.alias("jax.numpy.where"), self.alias("jax.lax.cond")
        advice = {
            "`while`": f"loop with {self.alias('jax.lax.while_loop')}",
            "`assert`": f"check it when the program runs, in {self.alias('jax.debug.callback')}",
            "`and`": f"combine with & or {self.alias('jax.numpy.logical_and')}",
            "`or`": f"combine with | or {self.alias('jax.numpy.logical_or')}",
            "`not`": f"use ~ or {self.alias('jax.numpy.logical_not')}",
            "a chained comparison": "write (a < b) & (b < c)",
            "`max`": f"use {self.alias('jax.numpy.maximum')} or .max()",
            "`min`": f"use {self.alias('jax.numpy.minimum')} or .min()",
        }.get(word, f"choose with {where} or {cond}")
        self.report(
            node,
            "SX0102",
            f"{text or f'`{self.text(node)}`'} is not known {self.traced_by()}, so {word} cannot choose by it",
            f"{self.depends(value)}{advice}, or mark what is known at the call as static",
        )

    def number_needed(
        self, value: Value, node: ast.expr, code: str, word: str, help: str = ""
    ) -> None:
        """Report that Python needs the number of a traced value."""
        if self.converts and code == "SX0103":
            return
        advice = help or "compute with arrays, or mark what is known at the call as static"
        self.report(
            node,
            code,
            f"{word} needs the number of `{self.text(node)}`, which is not known {self.traced_by()}",
            f"{self.depends(value)}{advice}",
        )

    # --- subscripts ---

    def subscript(self, node: ast.Subscript) -> Value:
        """Evaluate a subscript."""
        base = self.evaluate(node.value)
        index = self.evaluate(node.slice)
        if isinstance(base, AtUpdate):
            self._check_index(base.base, index, node)
            return AtUpdate(base.base)
        self._check_index(base, index, node)
        return self.item_of(base, index)

    def _check_index(self, base: Value, index: Value, node: ast.Subscript) -> None:
        for part, value in _index_parts(node.slice, index):
            if isinstance(part, ast.Slice):
                self._check_slice(base, part)
            elif value.level >= ABSTRACT and isinstance(value, (Array, Tree)):
                if isinstance(base, (Array, Tree)) and isinstance(value, Array) and value.boolean:
                    if self.lazy_masks:
                        continue
                    self.report(
                        node,
                        "SX0105",
                        f"the mask `{self.text(part)}` is not known {self.traced_by()}, and it decides "
                        "the size of the result",
                        f"{self.depends(value)}keep the shape: {self.alias('jax.numpy.where')}(mask, x, 0), "
                        "or reduce with where=mask",
                    )
                elif isinstance(base, NumPy):
                    self.report(
                        node,
                        "SX0104",
                        f"NumPy needs the number of `{self.text(part)}`, which is not known {self.traced_by()}",
                        f"{self.depends(value)}make the table an array: "
                        f"{self.alias('jax.numpy.asarray')}({self.text(node.value)})",
                    )
                elif isinstance(base, Sequence) and base.kind in ("list", "tuple"):
                    self.number_needed(
                        value, part, "SX0103", f"the index of a {base.kind}",
                        f"index an array, or choose a function with {self.alias('jax.lax.switch')}",
                    )  # fmt: skip
                elif isinstance(base, Mapping) and isinstance(value, Array):
                    self.report(
                        part,
                        "SX0005",
                        f"the key `{self.text(part)}` is not known {self.traced_by()}, so no dict finds it",
                        f"{self.depends(value)}index an array, or choose with {self.alias('jax.lax.switch')}",
                    )

    def _check_slice(self, base: Value, part: ast.Slice) -> None:
        if not isinstance(base, (Array, Tree, NumPy, Sequence)):
            return
        for bound in (part.lower, part.upper, part.step):
            value = self.evaluate(bound) if bound is not None else None
            if value is not None and self.is_abstract(value):
                self.report(
                    part,
                    "SX0126",
                    f"the bound `{self.text(bound or part)}` of a slice is not known {self.traced_by()}, and "
                    "it decides the size of the result",
                    f"{self.depends(value)}slice with {self.alias('jax.lax.dynamic_slice')}, which takes a "
                    "fixed size",
                )
                return

    def item_of(self, base: Value, index: Value) -> Value:
        """Return an item of a value."""
        const = constant(index)
        if isinstance(base, Sequence):
            if base.items is None:
                return base.element or Unknown()
            if isinstance(const, int) and -len(base.items) <= const < len(base.items):
                return base.items[const]
            return Unknown()
        if isinstance(base, Mapping):
            try:
                found = base.items.get(const) if const is not MISSING else None
            except TypeError:
                found = None
            return found if found is not None else Unknown()
        if isinstance(base, (Array, Tree, Unknown)):
            known = const is not MISSING
            if known and _hashable(const) and const in base.parts:
                return base.parts[const]
            part: Value
            if isinstance(base, Array):
                part = Array(base.level, base.deps, base.boolean, base.integer)
            elif isinstance(base, Tree):
                part = Tree(base.level, base.deps, base.flag, base.result_of)
            else:
                part = Unknown()
            if isinstance(base, Unknown) and isinstance(const, str):
                return part
            if known and _hashable(const):
                base.parts[const] = part
            return part
        if isinstance(base, NumPy):
            return base
        return Unknown()

    def slice_node(self, node: ast.Slice) -> Value:
        """Evaluate a slice; `_check_slice` looks at its bounds."""
        return Unknown()

    # --- displays ---

    def tuple_node(self, node: ast.Tuple) -> Value:
        """Evaluate a tuple."""
        return self._display("tuple", node.elts)

    def list_node(self, node: ast.List) -> Value:
        """Evaluate a list."""
        return self._display("list", node.elts)

    def set_node(self, node: ast.Set) -> Value:
        """Evaluate a set."""
        return self._display("set", node.elts)

    def _display(self, kind: str, elements: list[ast.expr]) -> Value:
        items: list[Value] = []
        unknown = False
        for element in elements:
            if isinstance(element, ast.Starred):
                value = self.evaluate(element.value)
                if isinstance(value, Sequence) and value.items is not None:
                    items += value.items
                else:
                    unknown = True
            else:
                items.append(self.evaluate(element))
        if unknown:
            return Sequence(kind, self.frame, None)
        return Sequence(kind, self.frame, items)

    def dict_node(self, node: ast.Dict) -> Value:
        """Evaluate a dict."""
        items: dict[Any, Value] = {}
        complete = True
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            value = self.evaluate(value_node)
            key = constant(self.evaluate(key_node)) if key_node is not None else MISSING
            if key is MISSING or not _hashable(key):
                complete = False
                if key_node is None and isinstance(value, Mapping):
                    items.update(value.items)
            else:
                items[key] = value
        return Mapping(self.frame, items, complete)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        """Evaluate a comprehension."""
        kind = "set" if isinstance(node, ast.SetComp) else "list"
        return Sequence(kind, self.frame, None, self._iterate(node.generators, [node.elt])[0])

    def dict_comprehension(self, node: ast.DictComp) -> Value:
        """Evaluate a dict comprehension."""
        elements = [node.key, node.value] if isinstance(node.value, ast.expr) else [node.key]  # pyright: ignore[reportUnnecessaryIsInstance]
        self._iterate(node.generators, elements)
        return Mapping(self.frame, {}, complete=False)

    def _iterate(
        self, generators: list[ast.comprehension], elements: list[ast.expr]
    ) -> list[Value]:
        outer = self.frame
        frame = Frame(outer, outer.stage, outer.root, outer.function)
        iterables = [self.evaluate(generators[0].iter)]
        self.frame = frame
        try:
            for i, generator in enumerate(generators):
                if i:
                    iterables.append(self.evaluate(generator.iter))
                self.assign(generator.target, self.element_of(iterables[i]))
                for test in generator.ifs:
                    self.truth(self.evaluate(test), test, "`if`")
            before = self.consumed
            results = [self.evaluate(element) for element in elements]
            lengths = [v.items for v in iterables if isinstance(v, Sequence)]
            single = any(items is not None and len(items) < 2 for items in lengths)
            if self.consumed != before and not single:  # does the next round use the same key?
                for generator, value in zip(generators, iterables, strict=True):
                    self.assign(generator.target, self.element_of(value))
                for element in elements:
                    self.evaluate(element)
            return results
        finally:
            self.frame = outer

    def element_of(self, value: Value) -> Value:
        """Return what iteration over a value gives."""
        if isinstance(value, Sequence):
            if value.items is None:
                return _copy(value.element) if value.element is not None else Unknown()
            if not value.items:
                return Unknown()
            result = value.items[0]
            for item in value.items[1:]:
                result = join(result, item)
            return _copy(result) if len(value.items) > 1 else result
        if isinstance(value, Array):
            return Array(value.level, value.deps, value.boolean, value.integer)
        if isinstance(value, Tree) and value.flag:
            return Tree(value.level, value.deps, True)
        return Unknown()

    # --- functions and text ---

    def lambda_node(self, node: ast.Lambda) -> Value:
        """Evaluate a lambda."""
        return Closure(self.make_function(node, "<lambda>"))

    def make_function(
        self, node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef, name: str
    ) -> Function:
        """Make a function of its definition."""
        defaults = [self.evaluate(default) for default in node.args.defaults]
        keyword_defaults = {
            parameter.arg: self.evaluate(default)
            for parameter, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if default is not None
        }
        function = Function(node, self.frame, name, defaults, keyword_defaults)
        function.guarded = bool(self.guarded)
        self.functions.append(function)
        return function

    def joined_text(self, node: ast.JoinedStr) -> Value:
        """Evaluate an f-string."""
        values: list[Value] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.evaluate(part.value)
                values.append(value)
                if part.format_spec is not None and self.frame.stage and isinstance(value, Array):
                    if value.level >= ABSTRACT:
                        self.number_needed(
                            value, part.value, "SX0005", "a format",
                            f"print it when the program runs: {self.alias('jax.debug.print')}",
                        )  # fmt: skip
                elif self.clocks and not isinstance(value, Static):
                    self.waited()
        return Static(MISSING, *level_of(values))

    def named_expression(self, node: ast.NamedExpr) -> Value:
        """Evaluate `name := value`."""
        value = self.evaluate(node.value)
        self.assign(node.target, value)
        return value

    def starred(self, node: ast.Starred) -> Value:
        """Evaluate `*value`."""
        self.evaluate(node.value)
        return Unknown()

    def generator_value(self, node: ast.Yield | ast.YieldFrom | ast.Await) -> Value:
        """Evaluate `yield` and `await`."""
        if node.value is not None:
            self.evaluate(node.value)
        return Unknown()

    def call_node(self, node: ast.Call) -> Value:
        """Evaluate a call."""
        function = self.evaluate(node.func)
        if node in self.statement_calls:
            self.statement_calls[node] = function
        arguments: list[Value] = []
        certain = True
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                value = self.evaluate(argument.value)
                if isinstance(value, Sequence) and value.items is not None:
                    arguments += value.items
                else:
                    certain = False
            elif certain:
                arguments.append(self.evaluate(argument))
            else:
                self.evaluate(argument)
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            else:
                certain = False
        if not certain:
            keywords["**"] = Unknown()
        return self.call(function, arguments, keywords, node)


def decorators_of(function: Function) -> list[str]:
    """Return the last names of the decorators of a function."""
    nodes = [
        d.func if isinstance(d, ast.Call) else d
        for d in getattr(function.node, "decorator_list", [])
    ]
    return [n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "") for n in nodes]


def _copy(value: Value) -> Value:
    if isinstance(value, Array):
        return Array(value.level, value.deps, value.boolean, value.integer)
    if isinstance(value, Tree):
        return Tree(value.level, value.deps, value.flag)
    if isinstance(value, Sequence) and value.items is not None:
        return Sequence(value.kind, value.home, [_copy(item) for item in value.items])
    return Unknown() if isinstance(value, Unknown) else value


def _fold(operation: Callable[[Any, Any], Any] | None, a: Any, b: Any) -> Any:
    if operation is None or a is MISSING or b is MISSING:
        return MISSING
    if operation is operator.mul and not (_small(a) and _small(b)):
        return MISSING
    try:
        return operation(a, b)
    except Exception:
        return MISSING


def _small(value: Any) -> bool:
    return isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 1 << 64)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _index_parts(node: ast.expr, value: Value) -> list[tuple[ast.expr, Value]]:
    if isinstance(node, ast.Tuple):
        values = value.items if isinstance(value, Sequence) else None
        if values is not None and len(values) == len(node.elts):
            return list(zip(node.elts, values, strict=True))
        return []
    return [(node, value)]


_BUILTINS = frozenset(dir(builtins))
_METHODS: dict[type[ast.expr], Callable[[Any, Any], Value]] = {
    ast.Constant: Expressions.constant_node,
    ast.Name: Expressions.name,
    ast.Attribute: Expressions.attribute,
    ast.BinOp: Expressions.binary,
    ast.UnaryOp: Expressions.unary,
    ast.BoolOp: Expressions.boolean,
    ast.Compare: Expressions.comparison,
    ast.IfExp: Expressions.conditional,
    ast.Subscript: Expressions.subscript,
    ast.Slice: Expressions.slice_node,
    ast.Tuple: Expressions.tuple_node,
    ast.List: Expressions.list_node,
    ast.Set: Expressions.set_node,
    ast.Dict: Expressions.dict_node,
    ast.ListComp: Expressions.comprehension,
    ast.SetComp: Expressions.comprehension,
    ast.GeneratorExp: Expressions.comprehension,
    ast.DictComp: Expressions.dict_comprehension,
    ast.Lambda: Expressions.lambda_node,
    ast.JoinedStr: Expressions.joined_text,
    ast.NamedExpr: Expressions.named_expression,
    ast.Starred: Expressions.starred,
    ast.Yield: Expressions.generator_value,
    ast.YieldFrom: Expressions.generator_value,
    ast.Await: Expressions.generator_value,
    ast.Call: Expressions.call_node,
}
