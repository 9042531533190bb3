"""Define pullbacks as objects: functions of cotangents whose residuals can be seen, saved and replaced."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src import trees
from sagax._src.api.autodiff_common import Pullback
from sagax._src.api.reference_arguments import ReferenceArguments, contents
from sagax._src.argument_checks.functions import structure_error
from sagax._src.core.jaxpr import ClosedJaxpr
from sagax._src.core.references import Ref
from sagax._src.core.staging import hoist_constants
from sagax._src.core.tangents import Zero
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.higher_order import backward_logs
from sagax._src.higher_order.trace_bodies import as_value, with_numbers
from sagax._src.transforms.linearize import LinearMap


class _Mark:
    """Base of marks, which are pytrees without leaves."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        trees.register_pytree_node(cls, lambda x: ((), None), lambda _, children: cls())

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class NotNeeded(_Mark):
    """Stands for an argument whose value the pullback does not need."""


class NotSaveable(_Mark):
    """Stands for an argument whose value the pullback needs, and that was not saved."""


class GradValue(_Mark):
    """Asks `with_refs` to return a gradient."""


class DontWant(_Mark):
    """Asks `with_refs` to leave out a gradient."""


class DidntWant(_Mark):
    """Stands for a gradient that was left out."""


class GradRef(_Mark):
    """Stands for a gradient that was added to a reference."""


def _is_mark(x: Any) -> bool:
    return isinstance(x, _Mark)


class Recipe:
    """The static part of a pullback: all but its residuals. Compared by identity."""

    __slots__ = (
        "arguments",
        "check",
        "linear",
        "name",
        "out_nonzero",
        "pull",
        "references",
        "residuals",
    )

    def __init__(
        self,
        pull: Pullback,
        residuals: Sequence[tuple[bool, int]],
        references: Sequence[int],
        out_nonzero: Sequence[bool],
        check: Callable[[Any], list],
        names: Callable[[], Sequence[str]],
        name: str,
    ) -> None:
        self.pull, self.linear = pull, pull.linear
        self.residuals = tuple(residuals)  # each: whether it is an argument, and its position
        self.references = tuple(references)  # arguments that are references
        self.out_nonzero = tuple(out_nonzero)
        self.check, self.arguments, self.name = check, names, name


class VJP:
    """A pullback: call it with a cotangent of the value to get one for each argument.

    Attributes:
      args_res: for each argument, the values that are residuals, `NotNeeded()` elsewhere. Entries may be
        replaced, as by values that are recomputed.
      opaque_residuals: the other residuals.
      jaxpr: the linear jaxpr of the derivative, from residuals and tangents to tangents.
      with_logs: the same pullback, which returns also what rules of `defvjp_with_logs` log.
      out_nzs: False for each output whose derivative is zero.
    """

    __slots__ = (
        "__weakref__",
        "args_res",
        "fun",
        "in_tree",
        "opaque_residuals",
        "out_tree",
        "structured_residuals",
        "want_logs",
    )

    def __init__(
        self,
        fun: Recipe,
        in_tree: Any,
        out_tree: Any,
        args_res: Any,
        opaque_residuals: Any,
        structured_residuals: Any = (),
        want_logs: bool = False,
    ) -> None:
        self.fun, self.in_tree, self.out_tree = fun, in_tree, out_tree
        self.args_res, self.opaque_residuals = args_res, opaque_residuals
        self.structured_residuals = structured_residuals
        self.want_logs = want_logs

    def replace(self, **changes: Any) -> VJP:
        """Return the same pullback with some attributes replaced."""
        new = copy.copy(self)
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def __copy__(self) -> VJP:
        fields = (self.args_res, self.opaque_residuals, self.structured_residuals)
        return VJP(self.fun, self.in_tree, self.out_tree, *fields, self.want_logs)

    @property
    def jaxpr(self) -> Any:
        return hoist_constants(self.fun.linear.jaxpr)

    @property
    def out_nzs(self) -> Any:
        return self.out_tree.unflatten(self.fun.out_nonzero)

    @property
    def with_logs(self) -> VJP:
        return self.replace(want_logs=True)

    def with_refs(self, *references: Any) -> Callable[..., Any]:
        """Return the pullback that adds gradients to references, given in the structure of the arguments.

        An entry is a reference, `GradValue()` for a gradient that is returned, or `DontWant()`. A gradient
        with respect to a reference is a reference: it starts with the cotangent of its final contents.
        """
        entries, tree = trees.flatten(references, _is_mark)
        if tree != self.in_tree:
            found = trees.structure_mismatch(
                self.in_tree, tree, "the arguments", "the arguments of with_refs"
            )
            raise structure_error(
                self.fun.name,
                "the arguments of with_refs have another structure than those of the function",
                found,
                "give a reference, GradValue() or DontWant() for each argument",
                kind=ArgumentValueError,
            )
        return lambda *cotangents: self._apply(cotangents, entries)

    def __call__(self, *cotangents: Any) -> Any:
        return self._apply(cotangents, [GradValue()] * self.in_tree.num_leaves)

    def _apply(self, cotangents: tuple, entries: Sequence[Any]) -> Any:
        recipe, pull = self.fun, self.fun.pull
        if len(cotangents) != 1:
            raise ArgumentError(
                "the function takes one argument, the cotangent of the output; it was called with "
                f"{len(cotangents)}",
                function=recipe.name,
                argument="cotangent",
                got=f"{len(cotangents)} arguments",
                expected="one argument of the structure of the output",
                fix="where the output is a tuple pass one tuple: f((ct1, ct2))",
            )
        for i, entry in enumerate(entries):
            self._check_entry(i, entry)
        cts = recipe.check(cotangents[0])
        final = [
            contents(entries[i]) if type(entries[i]) is Ref else Zero(pull.avals[i])
            for i in recipe.references
        ]
        linear = LinearMap(recipe.linear.jaxpr, self._residuals(), recipe.linear.out_tangents)
        with backward_logs.collecting() as logs:
            found = pull.with_residuals(linear).of_all([*cts, *pull.zero_cotangents, *final])
        given = trees.leaves(cotangents[0])
        if len(given) == len(cts):
            found = with_numbers(found, cts, given)
        result = self.in_tree.unflatten(
            [self._accumulate(i, e, ct) for i, (e, ct) in enumerate(zip(entries, found))]
        )
        return (result, logs) if self.want_logs else result

    def _check_entry(self, i: int, entry: Any) -> None:
        path = self.fun.arguments()[i]
        aval = self.fun.pull.avals[i]
        if type(entry) is Ref:
            have = entry.aval.inner_aval
            if have.shape != aval.shape or have.dtype != aval.dtype:
                raise ArgumentValueError(
                    "a reference for a gradient has another type than that",
                    function=self.fun.name,
                    argument=f"the reference for {path}",
                    got=repr(entry.aval),
                    expected=f"Ref{{{aval.str_short(short_dtypes=False)}}}",
                )
        elif i in self.fun.references and not isinstance(entry, DontWant):
            raise ArgumentValueError(
                f"{path} is a reference, and its gradient must be added to a reference",
                function=self.fun.name,
                argument=f"the reference for {path}",
                got="none",
                fix="call f_vjp.with_refs(new_ref(zeros), ...)(ct), or pass DontWant() for it",
            )
        elif not isinstance(entry, (GradValue, DontWant)):
            raise ArgumentValueError.about(
                self.fun.name,
                f"the reference for {path}",
                repr(entry),
                "a reference, GradValue() or DontWant()",
            )

    def _accumulate(self, i: int, entry: Any, ct: Any) -> Any:
        if isinstance(entry, DontWant):
            return DidntWant()
        if type(entry) is not Ref:
            return ct
        if i in self.fun.references:
            entry[...] = ct
        else:
            entry.addupdate(ct)
        return GradRef()

    def _residuals(self) -> list:
        given = trees.leaves(tuple(self.args_res), is_leaf=_is_mark)
        missing = [
            i for mine, i in self.fun.residuals if mine and isinstance(given[i], NotSaveable)
        ]
        if missing:
            raise ArgumentValueError(
                "the function was called before the residuals that saveable_args excludes were restored",
                function=self.fun.name,
                argument=self.fun.arguments()[missing[0]],
                fix="assign the values of the arguments to the attribute args_res first",
            )
        return [
            as_value(given[i] if mine else self.opaque_residuals[i])
            for mine, i in self.fun.residuals
        ]


trees.register_pytree_node(
    VJP,
    lambda v: (
        (v.args_res, v.opaque_residuals, v.structured_residuals),
        (v.fun, v.in_tree, v.out_tree, v.want_logs),
    ),
    lambda static, children: VJP(
        static[0], static[1], static[2], children[0], children[1], children[2], static[3]
    ),
)


def flags(entry: Any, tree: Any, name: str) -> list[bool]:
    """Return a bool for each leaf of `tree`, from a prefix of it; containers match by their sizes."""
    if isinstance(entry, bool):
        return [entry] * tree.num_leaves
    children = trees.treedef_children(tree)
    parts = list(entry.values()) if isinstance(entry, dict) else entry
    if not isinstance(parts, (tuple, list)) or len(parts) != len(children):
        raise ArgumentValueError(
            function="vjp",
            argument=name,
            got=repr(entry),
            expected=f"a bool, or a tuple with one for each of the {len(children)} parts",
        )
    return [flag for part, child in zip(parts, children) for flag in flags(part, child, name)]


def vjp_function(
    pull: Pullback,
    values: Sequence[Any],
    trees_of: tuple[Any, Any],
    references: ReferenceArguments,
    saveable: Sequence[bool],
    check: Callable[[Any], list],
    names: Callable[[], Sequence[str]],
    name: str,
) -> VJP:
    """Split the residuals of a pullback into arguments and others."""
    in_tree, out_tree = trees_of
    position = {id(x): i for i, x in enumerate(values)}
    residuals, others, used = [], [], set()
    for r in pull.linear.residuals:
        i = position.get(id(r))
        if i is None:
            residuals.append((False, len(others)))
            others.append(r)
        else:
            residuals.append((True, i))
            used.add(i)
    saved = [
        (x if s else NotSaveable()) if i in used else NotNeeded()
        for i, (x, s) in enumerate(zip(values, saveable, strict=True))
    ]
    nonzero = [type(t) is not Zero for t in pull.linear.out_tangents][: out_tree.num_leaves]
    recipe = Recipe(
        pull.with_residuals(LinearMap(pull.linear.jaxpr, [], pull.linear.out_tangents)),
        residuals,
        references.positions,
        nonzero,
        check,
        names,
        name,
    )
    return VJP(recipe, in_tree, out_tree, list(in_tree.unflatten(saved)), others, [])


class Linearized:
    """The derivative of a function at a point: call it with tangents of the arguments.

    `jaxpr` is its linear jaxpr, from residuals and tangents to tangents; `residuals` are the values that it keeps.
    """

    __slots__ = ("__weakref__", "apply", "linear", "out_tree", "residuals")

    def __init__(self, apply: Callable, linear: LinearMap, out_tree: Any, residuals: Any) -> None:
        self.apply, self.linear, self.out_tree = apply, linear, out_tree
        self.residuals = residuals

    def __call__(self, *tangents: Any) -> Any:
        linear = LinearMap(self.linear.jaxpr, list(self.residuals), self.linear.out_tangents)
        return self.apply(linear, tangents)

    @property
    def jaxpr(self) -> ClosedJaxpr:
        return ClosedJaxpr(hoist_constants(self.linear.jaxpr), ())

    @property
    def func(self) -> functools.partial:
        """The function of the linear jaxpr, its first argument: libraries find that in `func.args`."""
        return functools.partial(lambda jaxpr, *tangents: self(*tangents), self.jaxpr)

    @property
    def out_nzs(self) -> Any:
        marks = [type(t) is not Zero for t in self.linear.out_tangents]
        return self.out_tree.unflatten(marks[: self.out_tree.num_leaves])


trees.register_pytree_node(
    Linearized,
    lambda f: ((list(f.residuals),), (f.apply, f.linear, f.out_tree)),
    lambda static, children: Linearized(*static, *children),
)


def linearized(apply: Callable, linear: LinearMap, out_tree: Any) -> Linearized:
    """Return the derivative that `apply(linear, tangents)` computes."""
    without = LinearMap(linear.jaxpr, [], linear.out_tangents)
    return Linearized(apply, without, out_tree, list(linear.residuals))


__all__ = ["VJP", "Linearized", "flags", "linearized", "vjp_function"]
