"""Interpret a source file abstractly: the module, then what it traces, then functions without a call."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from functools import partial

from sagax._check.abstract_values import (
    ABSTRACT,
    STAGED,
    Array,
    Closure,
    Frame,
    Function,
    Instance,
    Mapping,
    NumPy,
    Partial,
    Sequence,
    Static,
    Tree,
    Unknown,
    Value,
    as_traced,
)
from sagax._check.calls import Arguments, Keywords, argument
from sagax._check.findings import Finding
from sagax._check.machine import Use
from sagax._check.transforms import Transforms

__all__ = ["interpret"]


def interpret(
    file: str, tree: ast.Module, lines: list[str], displayed: frozenset[int]
) -> list[Finding]:
    """Return the findings of a file; `displayed` are lines of expressions that are shown."""
    name = os.path.basename(file)
    is_test = name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"
    return Interpreter(tree, lines, displayed, is_test).run(file)


class Interpreter(Transforms):
    """Run a file."""

    def run(self, file: str) -> list[Finding]:
        """Run all parts of the file, and return the findings."""
        self.work_limit = 4000 + 4 * len(self.lines)
        self.run_block(self.tree.body)
        self.in_module = False
        done_roots, done_functions = 0, 0
        while done_roots < len(self.roots) or done_functions < len(self.functions):
            while done_functions < len(self.functions):
                function = self.functions[done_functions]
                done_functions += 1
                if function.node not in self.evaluated and not self._is_traced(function):
                    self._run_alone(function)
            if done_roots < len(self.roots):
                root = self.roots[done_roots]
                done_roots += 1
                self.run_root(root)
        return self.findings(file)

    def _is_traced(self, function: Function) -> bool:
        return function.node in self.traced_nodes

    def _run_alone(self, function: Function) -> None:
        """Run a function that is called from elsewhere, on unknown arguments."""
        scope = function.scope
        frame = Frame(scope, 0, scope.root, function)
        arguments = function.node.args
        for parameter in (
            *function.positional,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ):
            if parameter is not None:
                frame.names[parameter.arg] = Unknown()
        first = function.positional[0].arg if function.positional else ""
        if function.owner is not None and first == "self":
            frame.names[first] = Instance(function.owner, self.module)
        self.guarded = int(function.guarded)
        self.used, self.donated, self.clocks = {}, {}, []
        self.start_work(function)
        self.run_function(function, frame, None)
        self.guarded = 0

    # --- functions with semantics of their own ---

    @property
    def handlers(self) -> dict[str, Callable[[Arguments, Keywords, ast.Call], Value]]:
        """Return the functions with semantics of their own."""
        return self._handlers

    def __init__(
        self, tree: ast.Module, lines: list[str], displayed: frozenset[int], is_test: bool
    ) -> None:
        super().__init__(tree, lines, displayed, is_test)
        self._handlers: dict[str, Callable[[Arguments, Keywords, ast.Call], Value]] = {
            "functools.partial": self._partial,
            "jax.lax.scan": self._scan,
            "jax.lax.while_loop": self._while_loop,
            "jax.lax.fori_loop": self._fori_loop,
            "jax.lax.cond": self._cond,
            "jax.lax.switch": self._switch,
            "jax.lax.map": self._map,
            "jax.eval_shape": self._eval_shape,
            "jax.tree.map": self._tree_map,
            "jax.tree.leaves": self._tree_leaves,
            "jax.tree.flatten": self._tree_flatten,
            "jax.device_put": self._device_put,
            "jax.numpy.stack": self._joining,
            "jax.numpy.concatenate": self._joining,
        }
        for name in (
            "jit", "pmap", "shard_map", "checkpoint", "make_jaxpr", "vmap", "grad", "value_and_grad", "jacfwd",
            "jacrev", "jacobian", "hessian", "custom_jvp", "custom_vjp", "named_call",
        ):  # fmt: skip
            self._handlers[f"jax.{name}"] = partial(self.transform, f"jax.{name}")
        for name in ("vjp", "jvp", "linearize"):
            self._handlers[f"jax.{name}"] = self._differentiate

    def _partial(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        if not arguments or "**" in keywords:
            return Unknown()
        return Partial(arguments[0], arguments[1:], keywords)

    def _leaves(self, value: Value | None) -> Value:
        """Return a value as the body of a loop gets it."""
        return as_traced(value, ABSTRACT, "its carry") if value is not None else Unknown()

    def _scan(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        body = argument(arguments, keywords, 0, "f")
        init = argument(arguments, keywords, 1, "init")
        xs = argument(arguments, keywords, 2, "xs")
        row = self._row(xs)
        carry = _without_deps(self._leaves(init), body, 0)
        self.apply_body(body, [carry, _without_deps(row, body, 1)], node, repeats=True)
        pair: list[Value] = [self._result(), self._result()]
        return Sequence("tuple", self.frame, pair)

    def _row(self, xs: Value | None) -> Value:
        if isinstance(xs, Sequence) and xs.items is not None and xs.kind == "tuple":
            return Sequence("tuple", xs.home, [self._row(item) for item in xs.items])
        if isinstance(xs, Mapping):
            return Mapping(xs.home, {k: self._row(v) for k, v in xs.items.items()}, xs.complete)
        if xs is None or (isinstance(xs, Static) and xs.const is None):
            return Static(None)
        if isinstance(xs, Unknown):
            return Tree(ABSTRACT, frozenset(("its rows",)))
        return as_traced(xs, ABSTRACT, "its rows")

    def _result(self) -> Value:
        return Tree(ABSTRACT if self.frame.stage == STAGED else 0)

    def _while_loop(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        init = self._leaves(argument(arguments, keywords, 2, "init_val"))
        for position, name in ((0, "cond_fun"), (1, "body_fun")):
            body = argument(arguments, keywords, position, name)
            self.apply_body(body, [_without_deps(init, body, 0)], node, repeats=True)
        return self._result()

    def _fori_loop(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        body = argument(arguments, keywords, 2, "body_fun")
        init = self._leaves(argument(arguments, keywords, 3, "init_val"))
        step = _without_deps(Array(ABSTRACT), body, 0)
        self.apply_body(body, [step, _without_deps(init, body, 1)], node, repeats=True)
        return self._result()

    def _branches(self, branches: list[Value], operands: Arguments, node: ast.Call) -> Value:
        before: dict[Value, Use] = dict(self.used)
        after: dict[Value, Use] | None = None
        for branch in branches:
            self.used = dict(before)
            values = [_without_deps(self._leaves(v), branch, i) for i, v in enumerate(operands)]
            self.apply_body(branch, values, node, repeats=False)
            if after is None:
                after = self.used
            else:
                after = {key: use for key, use in after.items() if key in self.used}
        self.used = after if after is not None else before
        return self._result()

    def _cond(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        branches = [
            argument(arguments, keywords, 1, "true_fun"),
            argument(arguments, keywords, 2, "false_fun"),
        ]
        return self._branches([b for b in branches if b is not None], arguments[3:], node)

    def _switch(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        branches = argument(arguments, keywords, 1, "branches")
        known = branches.items if isinstance(branches, Sequence) else None
        return self._branches(known or [], arguments[2:], node)

    def _map(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        body = argument(arguments, keywords, 0, "f")
        row = self._row(argument(arguments, keywords, 1, "xs"))
        self.apply_body(body, [_without_deps(row, body, 0)], node, repeats=True)
        return self._result()

    def _eval_shape(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        if arguments:
            values = [self._leaves(v) for v in arguments[1:]]
            body = arguments[0]
            self.apply_body(
                body, [_without_deps(v, body, i) for i, v in enumerate(values)], node, False
            )
        return Unknown()

    def _differentiate(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        """Run the function of `vjp`, `jvp` or `linearize`, where Python can decide by values."""
        return Unknown()

    def _tree_map(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        if not arguments:
            return Unknown()
        function, trees = arguments[0], arguments[1:]
        leaves: list[Value] = [self._leaf(tree) for tree in trees]
        if "is_leaf" in keywords:
            leaves = [Unknown() for _ in leaves]
        result = (
            self.call(function, leaves, {}, node) if isinstance(function, Closure) else Unknown()
        )
        level = min((tree.level for tree in trees), default=0)
        if level and isinstance(result, Array):
            return Tree(result.level, result.deps)
        return Unknown()

    def _leaf(self, tree: Value) -> Value:
        if isinstance(tree, (Array, Tree)):
            return Array(tree.level, tree.deps) if tree.level else Unknown()
        return Unknown()

    def _tree_leaves(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        if arguments and "is_leaf" not in keywords:
            return Sequence("list", self.frame, None, self._leaf(arguments[0]))
        return Sequence("list", self.frame, None)

    def _tree_flatten(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        leaves = self._tree_leaves(arguments, keywords, node)
        return Sequence("tuple", self.frame, [leaves, Static()])

    def _device_put(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        if arguments and isinstance(arguments[0], (Array, NumPy)):
            value = arguments[0]
            return Array(value.level, value.deps)
        return Unknown()

    def _joining(self, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        return Array(*self.traced_level(arguments)) if not self.compile_time else Unknown()


def _without_deps(value: Value, body: Value | None, position: int) -> Value:
    """Return a traced value that depends on the parameter of a body that it is bound to."""
    while isinstance(body, Partial):
        position += len(body.arguments)
        body = body.function
    if not isinstance(body, Closure) or not value.level:
        return value
    position += len(body.leading)
    parameters = body.function.positional
    if position >= len(parameters):
        return value
    return _renamed(value, frozenset((parameters[position].arg,)))


def _renamed(value: Value, deps: frozenset[str]) -> Value:
    if isinstance(value, Array):
        return Array(value.level, deps, value.boolean, value.integer)
    if isinstance(value, Tree):
        return Tree(value.level, deps, value.flag)
    if isinstance(value, Sequence) and value.items is not None:
        return Sequence(value.kind, value.home, [_renamed(v, deps) for v in value.items])
    return value
