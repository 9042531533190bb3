"""Run statements abstractly: branches are run apart and joined, loops are run twice."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from sagax._check.abstract_values import (
    ABSTRACT,
    MISSING,
    STAGED,
    Array,
    Class,
    Closure,
    Frame,
    Function,
    Instance,
    Mapping,
    Method,
    Named,
    Partial,
    Sequence,
    Static,
    Tree,
    Unknown,
    Value,
    constant,
    join,
)
from sagax._check.expressions import Expressions
from sagax._check.knowledge import UPDATES, canonical, is_pure
from sagax._check.machine import Use

__all__ = ["Statements"]

_UNROLLED: Final = 100  # iterations, as of UnrolledLoopWarning
_HARMLESS_HANDLERS = frozenset(
    """ImportError ModuleNotFoundError KeyError AttributeError KeyboardInterrupt StopIteration OSError IOError
    FileNotFoundError UnicodeDecodeError EOFError SystemExit GeneratorExit AssertionError""".split()
)
_State = tuple[dict[str, Value], dict[Value, Use], dict[Value, ast.AST]]


class Statements(Expressions):
    """Run statements."""

    def run_block(self, body: list[ast.stmt]) -> bool:
        for statement in body:
            self.work += 1
            method = _METHODS.get(type(statement))
            if method is not None and method(self, statement):
                return True
        return False

    # --- branches ---

    def _save(self) -> _State:
        return dict(self.frame.names), dict(self.used), dict(self.donated)

    def _load(self, state: _State) -> None:
        names, used, donated = state
        self.frame.names, self.used, self.donated = dict(names), dict(used), dict(donated)

    def _joined(self, states: list[_State]) -> None:
        names, used, donated = states[0]
        for other, other_used, other_donated in states[1:]:
            merged = dict(names)
            for name, value in other.items():
                mine = names.get(name)
                merged[name] = value if mine is None or mine is value else join(mine, value)
            names = merged
            used = {key: use for key, use in used.items() if key in other_used}
            donated = {value: call for value, call in donated.items() if value in other_donated}
        self._load((names, used, donated))

    def if_statement(self, node: ast.If) -> bool:
        """Run `if`."""
        test = self.evaluate(node.test)
        self.truth(test, node.test, "`if`")
        const = constant(test)
        if isinstance(test, Static) and const is not MISSING:
            return self.run_block(node.body if const else node.orelse)
        self.narrow(node.test)
        absent = self._absent_branch(node)
        before = self._save()
        states: list[_State] = []
        for branch in (node.body, node.orelse):
            self._load(before)
            self.guarded += branch is absent
            if not self.run_block(branch):
                states.append(self._save())
            self.guarded -= branch is absent
        if not states:
            return True
        self._joined(states)
        return False

    def _absent_branch(self, node: ast.If) -> list[ast.stmt] | None:
        """Return the branch for something that is None, which the traced calls may never take."""
        tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        for test in tests if self.frame.stage else ():
            if isinstance(test, ast.Compare) and isinstance(test.comparators[0], ast.Constant):
                if test.comparators[0].value is None and isinstance(
                    test.ops[0], (ast.Is, ast.IsNot)
                ):
                    return node.body if isinstance(test.ops[0], ast.Is) else node.orelse
        return None

    def match_statement(self, node: ast.Match) -> bool:
        """Run `match`."""
        subject = self.evaluate(node.subject)
        patterns = [p for case in node.cases for p in ast.walk(case.pattern)]
        compared = next((p.value for p in patterns if isinstance(p, ast.MatchValue)), None)
        if (
            compared is not None
            and isinstance(subject, (Array, Tree))
            and subject.level >= ABSTRACT
        ):
            name, value = self.text(node.subject), self.text(compared)
            self.not_known(subject, compared, "`match`", f"`{name} == {value}`")
        before = self._save()
        states: list[_State] = []
        exhaustive = False
        for case in node.cases:
            self._load(before)
            for pattern in ast.walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str):
                    self.frame.names[name] = Unknown()
            if case.guard is not None:
                self.truth(self.evaluate(case.guard), case.guard, "`if`")
            if not self.run_block(case.body):
                states.append(self._save())
            exhaustive |= isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
        if not exhaustive:
            states.append(before)
        if not states:
            return True
        self._joined(states)
        return False

    def try_statement(self, node: ast.Try | ast.TryStar) -> bool:
        """Run `try`."""
        guards = bool(node.handlers) and not all(_is_harmless(h.type) for h in node.handlers)
        before = self._save()
        self.guarded += guards
        left = self.run_block(node.body)
        self.guarded -= guards
        if not left:
            left = self.run_block(node.orelse)
        states = [] if left else [self._save()]
        for handler in node.handlers:
            self._load(before)
            if handler.name:
                self.frame.names[handler.name] = Unknown()
            if not self.run_block(handler.body):
                states.append(self._save())
        self._joined(states or [before])
        ended = self.run_block(node.finalbody)
        return ended or not states

    def with_statement(self, node: ast.With | ast.AsyncWith) -> bool:
        """Run `with`."""
        guards = compile_time = 0
        for item in node.items:
            value = self.evaluate(item.context_expr)
            function = item.context_expr
            text = self.text(function, 200).partition("(")[0].lower()
            guards += "raises" in text or "warns" in text or "suppress" in text
            compile_time += "ensure_compile_time_eval" in text
            if item.optional_vars is not None:
                self.assign(item.optional_vars, Unknown() if isinstance(value, Static) else value)
        self.guarded += guards
        self.compile_time += compile_time
        self.contexts += 1
        ended = self.run_block(node.body)
        self.contexts -= 1
        self.guarded -= guards
        self.compile_time -= compile_time
        return ended and not guards

    # --- loops ---

    def for_statement(self, node: ast.For | ast.AsyncFor) -> bool:
        """Run `for`."""
        iterable = self.evaluate(node.iter)
        if self.clocks and isinstance(iterable, (Array, Tree)):
            self.waited()
        single = (
            isinstance(iterable, Sequence)
            and iterable.items is not None
            and len(iterable.items) == 1
        )

        def start() -> None:
            self.assign(node.target, self.element_of(iterable))

        self._loop(node, node.body, start, single)
        if self.frame.stage == STAGED:
            self._check_unrolled(node)
        self.run_block(node.orelse)
        return False

    def while_statement(self, node: ast.While) -> bool:
        """Run `while`."""

        def start() -> None:
            self.truth(self.evaluate(node.test), node.test, "`while`")

        ends = self._loop(node, node.body, start, False)
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        leaves = any(isinstance(n, ast.Break) for n in ast.walk(node))
        if endless and not leaves:
            return ends
        self.run_block(node.orelse)
        return False

    def _loop(
        self, node: ast.For | ast.AsyncFor | ast.While, body: list[ast.stmt], start: Callable[[], None], single: bool
    ) -> bool:  # fmt: skip
        before, consumed = dict(self.frame.names), self.consumed
        self.frame.loops.append(node)
        start()
        ended = self.run_block(body)
        if not ended and not single:
            changed = any(
                name in before and _differs(before[name], value)
                for name, value in self.frame.names.items()
            )
            nested = len(self.frame.loops) > 2
            if (changed or consumed != self.consumed) and not nested:
                start()
                ended = self.run_block(body)
        self.frame.loops.pop()
        if not self.frame.stage:
            self._check_host_sync(node, body)
        return ended

    def _check_unrolled(self, node: ast.For | ast.AsyncFor) -> None:
        call = node.iter
        if not (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
        ):
            return
        bounds = [constant(self.evaluate(argument)) for argument in call.args]
        if not bounds or not all(isinstance(bound, int) for bound in bounds):
            return
        try:
            count = len(range(*bounds))
        except (TypeError, ValueError, OverflowError):
            return
        if count < _UNROLLED or any(isinstance(n, (ast.Break, ast.Return)) for n in ast.walk(node)):
            return
        for statement in node.body:
            targets = _targets(statement)
            if any(self.frame.names.get(name, _NOTHING).level >= ABSTRACT for name in targets):
                self.report(
                    node,
                    "SX0404",
                    f"this loop puts {count} copies of its body into the program of "
                    f"`{self.frame.root.name if self.frame.root else 'a function'}`",
                    f"{self.alias('jax.lax.fori_loop')} or {self.alias('jax.lax.scan')} compile the body once",
                )
                return

    def _check_host_sync(
        self, node: ast.For | ast.AsyncFor | ast.While, body: list[ast.stmt]
    ) -> None:
        """Find a step whose result is fetched in each iteration, only to be kept."""
        if not isinstance(node, ast.While) and _is_short(node.iter):
            return
        steps: set[str] = set()
        for statement in body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
                targets = _targets(statement)
                read = {
                    n.id
                    for a in statement.value.args
                    for n in ast.walk(a)
                    if isinstance(n, ast.Name)
                }
                if targets & read:
                    steps |= targets - read
        if not steps:
            return
        for statement in body:
            for fetched in _stored_numbers(statement):
                value = self.frame.names.get(fetched.id)
                if fetched.id in steps and isinstance(value, (Array, Tree)) and value.result_of:
                    self.report(
                        fetched,
                        "SX0413",
                        f"each iteration waits for `{fetched.id}`, so the next step of "
                        f"`{value.result_of.name}` starts only when this one has finished",
                        "keep the arrays, and turn them into numbers after the loop or every so many steps",
                    )

    # --- assignments ---

    def assign_statement(self, node: ast.Assign) -> bool:
        """Run an assignment."""
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)
        return False

    def annotated_statement(self, node: ast.AnnAssign) -> bool:
        """Run an annotated assignment."""
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))
        return False

    def augmented_statement(self, node: ast.AugAssign) -> bool:
        """Run `x += y`."""
        value = self.evaluate(node.value)
        if isinstance(node.target, ast.Name):
            old = self.look_up(node.target.id)
            if isinstance(old, Sequence):
                self.store(old, [value], node)
                self.assign(node.target, Sequence(old.kind, old.home, None))
                return False
        elif isinstance(node.target, ast.Attribute):
            old = self.evaluate(node.target)
        else:
            old = self.item_of(self.evaluate(node.target.value), self.evaluate(node.target.slice))
        self.assign(node.target, self.combine(old, value, node.op))
        return False

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._assign_name(target, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, Sequence("list", self.frame, None))
        elif isinstance(target, ast.Attribute):
            base = self.evaluate(target.value)
            if isinstance(base, (Instance, Class)):
                home = base.home if isinstance(base, Instance) else base.scope.parent
                if home is not None and not home.stage:
                    self.check_leak(value, target, f"`{self.text(target)}`")
                if isinstance(base, Instance):
                    base.attributes[target.attr] = value
                else:
                    base.scope.names[target.attr] = value
        elif isinstance(target, ast.Subscript):
            self._assign_item(target, value)

    def _assign_name(self, target: ast.Name, value: Value) -> None:
        home = self.frame.declared.get(target.id)
        if home is not None:
            if not home.stage:
                self.check_leak(value, target, f"`{target.id}`, a variable outside")
            home.names[target.id] = value
        else:
            self.frame.names[target.id] = value

    def _unpack(self, targets: list[ast.expr], value: Value) -> None:
        starred = any(isinstance(t, ast.Starred) for t in targets)
        items = value.items if isinstance(value, Sequence) else None
        if items is not None and len(items) == len(targets) and not starred:
            for target, item in zip(targets, items, strict=True):
                self.assign(target, item)
            return
        for target in targets:
            if isinstance(value, Tree) and not starred:
                part: Value = Tree(value.level, value.deps, value.flag, value.result_of)
            elif isinstance(value, (Array, Tree)):
                part = Array(value.level, value.deps) if isinstance(value, Array) else Unknown()
            elif isinstance(value, Sequence) and value.items is None and value.element is not None:
                part = self.element_of(value)
            else:
                part = Unknown()
            self.assign(target, part)

    def _assign_item(self, target: ast.Subscript, value: Value) -> None:
        base = self.evaluate(target.value)
        index = self.evaluate(target.slice)
        if isinstance(base, Array):
            name = self.text(target.value)
            update = f"{name} = {name}.at[{self.text(target.slice)}].set(...)"
            self.report(
                target,
                "SX0005",
                f"`{name}` is an array of jax, which cannot be assigned to in place",
                f"make a new array: {update}",
            )
        elif isinstance(base, (Mapping, Sequence)):
            if not base.home.stage:
                self.check_leak(value, target, f"`{self.text(target)}`")
            key = constant(index)
            if isinstance(base, Mapping):
                try:
                    base.items[key] = value
                except TypeError:
                    base.complete = False
            else:
                base.items = None
                base.element = None

    def check_leak(self, value: Value, node: ast.AST, where: str) -> None:
        """Report a tracer that is stored where it outlives the function."""
        if self.frame.stage and isinstance(value, (Array, Tree, Sequence, Mapping)) and value.level:
            self.report(
                node,
                "SX0107",
                f"a traced value is kept in {where}, and has no number {self.traced_by()}",
                f"{self.depends(value)}return it, and keep what the call gives",
            )

    def store(self, container: Value, values: list[Value], node: ast.AST) -> None:
        """Put values into a container."""
        if isinstance(container, (Sequence, Mapping)):
            if not container.home.stage:
                for value in values:
                    self.check_leak(value, node, f"`{self.text(node)}`")
            if isinstance(container, Sequence):
                container.items = None
                container.element = None

    # --- definitions ---

    def function_statement(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Run a function definition."""
        function = self.make_function(node, node.name)
        function.generator = isinstance(node, ast.AsyncFunctionDef) or _yields(node)
        value: Value = Closure(function)
        owner = self.frame.names.get("__class_node__")
        if self.frame.is_class and isinstance(owner, Class):
            function.owner = owner
        for decorator in reversed(node.decorator_list):
            value = self._decorate(value, decorator, function)
        self.frame.names[node.name] = value
        return False

    def _decorate(self, value: Value, decorator: ast.expr, function: Function) -> Value:
        made = self.evaluate(decorator)
        text = self.text(decorator, 80).partition("(")[0].rpartition(".")[2]
        if text in (
            "staticmethod",
            "classmethod",
            "property",
            "abstractmethod",
            "overload",
            "override",
        ):
            return value
        if text in ("lru_cache", "cache"):
            function.cached = True
            return value
        if text == "wraps" or not isinstance(value, Closure):
            return value if text == "wraps" else Unknown()
        if isinstance(made, (Named, Partial, Closure)):
            call = decorator if isinstance(decorator, ast.Call) else ast.copy_location(
                ast.Call(func=decorator, args=[], keywords=[]), decorator
            )  # fmt: skip
            return self.call(made, [value], {}, call)
        return Unknown()

    def class_statement(self, node: ast.ClassDef) -> bool:
        """Run a class definition."""
        for decorator in node.decorator_list:
            self.evaluate(decorator)
        outer = self.frame
        scope = Frame(outer, outer.stage, outer.root, outer.function, is_class=True)
        kind = Class(node, scope)
        scope.names["__class_node__"] = kind
        self.frame = scope
        try:
            self.run_block(node.body)
        finally:
            self.frame = outer
        outer.names[node.name] = kind
        return False

    def global_statement(self, node: ast.Global) -> bool:
        """Run `global`."""
        for name in node.names:
            self.frame.declared[name] = self.module
        return False

    def nonlocal_statement(self, node: ast.Nonlocal) -> bool:
        """Run `nonlocal`."""
        for name in node.names:
            home = self.frame.parent.find(name) if self.frame.parent is not None else None
            if home is not None:
                self.frame.declared[name] = home
        return False

    def import_statement(self, node: ast.Import) -> bool:
        """Run `import`."""
        for alias in node.names:
            if alias.asname:
                self.frame.names[alias.asname] = Named(canonical(alias.name))
            else:
                top = alias.name.partition(".")[0]
                self.frame.names[top] = Named(canonical(top))
        return False

    def import_from_statement(self, node: ast.ImportFrom) -> bool:
        """Run `from ... import`."""
        for alias in node.names:
            name = alias.asname or alias.name
            if node.level or not node.module:
                self.frame.names[name] = Unknown()
            elif name != "*":
                self.frame.names[name] = Named(canonical(f"{node.module}.{alias.name}"))
        return False

    # --- what leaves a block ---

    def return_statement(self, node: ast.Return) -> bool:
        """Run `return`."""
        value = self.evaluate(node.value) if node.value is not None else Static(None)
        self.frame.returns.append((value, node.value))
        return True

    def raise_statement(self, node: ast.Raise) -> bool:
        """Run `raise`."""
        if node.exc is not None:
            self.evaluate(node.exc)
        return True

    def leave_statement(self, node: ast.stmt) -> bool:
        """Run `break` and `continue`."""
        return True

    def assert_statement(self, node: ast.Assert) -> bool:
        """Run `assert`."""
        self.truth(self.evaluate(node.test), node.test, "`assert`")
        self.narrow(node.test)
        return False

    def delete_statement(self, node: ast.Delete) -> bool:
        """Run `del`."""
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.frame.names.pop(target.id, None)
        return False

    # --- expressions as statements ---

    def expression_statement(self, node: ast.Expr) -> bool:
        """Run an expression whose value is thrown away."""
        expression = node.value
        if isinstance(expression, ast.Call) and node.lineno not in self.displayed:
            self.statement_calls[expression] = _NOTHING
            self.evaluate(expression)
            self._check_unused(expression, self.statement_calls.pop(expression, _NOTHING))
        else:
            self.evaluate(expression)
        return False

    def _check_unused(self, node: ast.Call, made: Value) -> None:
        if self.guarded:
            return
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else ""
        if _is_at_update(function):
            base = self.text(function.value.value.value)  # type: ignore[attr-defined]
            self._unused(node, "arrays cannot change, so the update is lost", f"{base} = ...")
            return
        function_name = self.frame.function.name if self.frame.function is not None else ""
        if self.contexts or self.clocks or function_name.startswith("test"):
            return  # under a profiler, a timer, a check for errors
        if isinstance(made, Named):
            if made.name == "jax.tree.map":
                if self._maps_pure_function(node):
                    self._unused(node, "jax.tree.map returns a new tree", "")
            elif is_pure(made.name) or made.name in ("optax().update", "optax().init"):
                self._unused(node, f"{self.text(function)} returns a new value", "")
        elif isinstance(made, Method):
            if isinstance(made.base, Array) and name in _PURE_METHODS:
                self._unused(node, f"`.{name}` returns a new array", "")

    def function_named(self, node: ast.expr) -> Value:
        """Return what a dotted name stands for."""
        if isinstance(node, ast.Name):
            return self.look_up(node.id)
        if isinstance(node, ast.Attribute):
            base = self.function_named(node.value)
            return self.attribute_of(base, node.attr) if isinstance(base, Named) else _NOTHING
        return _NOTHING

    def _maps_pure_function(self, node: ast.Call) -> bool:
        function = node.args[0] if node.args else None
        if not isinstance(function, ast.Lambda):
            return False
        for call in ast.walk(function.body):
            if isinstance(call, ast.Call):
                made = self.function_named(call.func)
                if not (isinstance(made, Named) and is_pure(made.name)) and not _is_at_update(
                    call.func
                ):
                    return False
        return True

    def _unused(self, node: ast.Call, why: str, help: str) -> None:
        self.report(
            node,
            "SX0410",
            f"the result of `{self.text(node)}` is thrown away: {why}",
            f"assign it: {help}" if help else "assign the result, or remove the call",
        )


_NOTHING = Unknown()
_PURE_METHODS = frozenset(
    """all any argmax argmin argsort astype clip conj conjugate copy cumprod cumsum diagonal dot flatten max mean
    min nonzero prod ravel repeat reshape round sort squeeze std sum swapaxes take trace transpose var""".split()
)


def _is_short(iterable: ast.expr) -> bool:
    """Return whether a loop is over a range of few numbers, or over a display."""
    if isinstance(iterable, (ast.Tuple, ast.List)):
        return True
    if not isinstance(iterable, ast.Call):
        return False
    name = iterable.func.id if isinstance(iterable.func, ast.Name) else ""
    if name != "range" or not iterable.args:
        return name not in ("enumerate", "zip", "tqdm", "trange")
    last = iterable.args[0] if len(iterable.args) == 1 else iterable.args[1]
    return isinstance(last, ast.Constant) and isinstance(last.value, int) and last.value < _UNROLLED


def _is_at_update(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr in UPDATES
        and isinstance(function.value, ast.Subscript)
        and isinstance(function.value.value, ast.Attribute)
        and function.value.value.attr == "at"
    )


def _is_harmless(kind: ast.expr | None) -> bool:
    if kind is None:
        return False
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    names = [k.attr if isinstance(k, ast.Attribute) else getattr(k, "id", "") for k in kinds]
    return all(name in _HARMLESS_HANDLERS for name in names)


def _differs(old: Value, new: Value) -> bool:
    """Return whether another iteration may find something that the first did not."""
    return old is not new and (type(old) is not type(new) or old.level != new.level)


def _targets(statement: ast.stmt) -> set[str]:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        targets = [statement.target]
    return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def _stored_numbers(statement: ast.stmt) -> list[ast.Name]:
    """Return the names in `xs.append(float(name))`, `total += float(name)` and so with `.item()`."""
    if isinstance(statement, ast.AugAssign):
        value = statement.value
    elif (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
        and statement.value.func.attr == "append"
        and len(statement.value.args) == 1
    ):
        value = statement.value.args[0]
    else:
        return []
    if isinstance(value, ast.Call):
        function = value.func
        if (
            isinstance(function, ast.Name)
            and function.id in ("float", "int")
            and len(value.args) == 1
        ):
            value = value.args[0]
        elif isinstance(function, ast.Attribute) and function.attr == "item" and not value.args:
            value = function.value
        else:
            return []
        return [value] if isinstance(value, ast.Name) else []
    return []


def _yields(node: ast.AST) -> bool:
    todo = list(ast.iter_child_nodes(node))
    while todo:
        child = todo.pop()
        if isinstance(child, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(child)
    return False


_METHODS: dict[type[ast.stmt], Callable[[Any, Any], bool]] = {
    ast.If: Statements.if_statement,
    ast.Match: Statements.match_statement,
    ast.Try: Statements.try_statement,
    ast.TryStar: Statements.try_statement,
    ast.With: Statements.with_statement,
    ast.AsyncWith: Statements.with_statement,
    ast.For: Statements.for_statement,
    ast.AsyncFor: Statements.for_statement,
    ast.While: Statements.while_statement,
    ast.Assign: Statements.assign_statement,
    ast.AnnAssign: Statements.annotated_statement,
    ast.AugAssign: Statements.augmented_statement,
    ast.FunctionDef: Statements.function_statement,
    ast.AsyncFunctionDef: Statements.function_statement,
    ast.ClassDef: Statements.class_statement,
    ast.Global: Statements.global_statement,
    ast.Nonlocal: Statements.nonlocal_statement,
    ast.Import: Statements.import_statement,
    ast.ImportFrom: Statements.import_from_statement,
    ast.Return: Statements.return_statement,
    ast.Raise: Statements.raise_statement,
    ast.Break: Statements.leave_statement,
    ast.Continue: Statements.leave_statement,
    ast.Assert: Statements.assert_statement,
    ast.Delete: Statements.delete_statement,
    ast.Expr: Statements.expression_statement,
}
