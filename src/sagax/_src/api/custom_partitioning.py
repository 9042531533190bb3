"""Implement `custom_partitioning`: functions with custom sharding rules and partitioners."""

from __future__ import annotations

import inspect
import math
import re
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import fork_locks, trees, xla
from sagax._src.api import arguments
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.argument_checks import checks
from sagax._src.collectives.replica_groups import DeviceGroups
from sagax._src.core import meshes
from sagax._src.core.avals import intern_aval
from sagax._src.core.families import HIGHER_ORDER, UNTRACKED, Default
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.meshes import Mesh
from sagax._src.core.primitive import Primitive
from sagax._src.core.shardings import Sharding, Tiles
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.diagnostics.function_wrappers import copy_attributes
from sagax._src.frozen_class import record
from sagax._src.higher_order.shard_map import Region
from sagax._src.higher_order.trace_bodies import operand_leaves, trace_body
from sagax._src.lowering.module import lower_for_one_device
from sagax._src.runtime.placements import described

_TARGET = "SagaxPartitioned"
BATCHING = "..."


class CompoundFactor(tuple):
    """Name several factors that make up one dimension, major first; rules write `(i j)`."""

    def __new__(cls, *factors: str) -> CompoundFactor:
        if len(factors) < 2:
            raise ArgumentValueError.about(
                "CompoundFactor", "factors", factors, "two factors or more"
            )
        return tuple.__new__(cls, factors)


@record
class Rule:
    """Relate the dimensions of operands and results.

    Each dimension is a factor's name or a `CompoundFactor`; a leading `BATCHING` stands for any
    number of further dimensions.
    """

    operands: tuple[tuple, ...]
    results: tuple[tuple, ...]
    reduction_factors: tuple[str, ...]
    need_replication_factors: tuple[str, ...]
    permutation_factors: tuple[str, ...]
    factor_sizes: tuple[tuple[str, int], ...]

    def text(self, operands: Sequence[tuple], results: Sequence[tuple]) -> str:
        """Format the rule as an attribute of the sdy dialect, for operands and results of these shapes."""
        sizes: dict[str, int] = {}
        letters: dict[str, str] = {}
        known = dict(self.factor_sizes)

        def symbol(factor: str, size: int) -> str:
            if factor not in letters:
                n = len(letters)
                letters[factor] = "ijklmnopqrstuvwxyz"[n] if n < 18 else f"z_{n - 17}"
                sizes[letters[factor]] = size
            elif size == 1:
                pass
            elif sizes[letters[factor]] in (1, size):
                sizes[letters[factor]] = size
            else:
                raise ArgumentValueError(
                    f"factor {factor!r} has size {sizes[letters[factor]]} in one dimension and {size} in another",
                    function="custom_partitioning",
                    argument="sharding_rule",
                )
            return letters[factor]

        def side(mappings: tuple[tuple, ...], shapes: Sequence[tuple], what: str) -> str:
            if len(mappings) != len(shapes):
                raise ArgumentValueError(
                    f"the rule has {len(mappings)} {what}, and the function {len(shapes)}",
                    function="custom_partitioning",
                    argument="sharding_rule",
                )
            return ", ".join([one(m, s, i, what) for i, (m, s) in enumerate(zip(mappings, shapes))])

        def one(mapping: tuple, shape: tuple, position: int, what: str) -> str:
            if mapping[:1] == (BATCHING,):
                extra = len(shape) - len(mapping) + 1
                mapping = (*[f"...{i - extra}" for i in range(extra)], *mapping[1:])
            if len(mapping) != len(shape):
                raise ArgumentValueError(
                    f"the rule has {len(mapping)} dimensions for number {position} of the {what}, whose shape is "
                    f"{shape}",
                    function="custom_partitioning",
                    argument="sharding_rule",
                )
            words = []
            for factor, size in zip(mapping, shape):
                if isinstance(factor, CompoundFactor):
                    rest = [f for f in factor if f not in known]
                    if len(rest) > 1:
                        raise ArgumentValueError(
                            f"the sizes of {' and '.join(map(repr, rest))} are not known",
                            function="custom_partitioning",
                            argument="sharding_rule",
                            fix=f"tell all but one of them: def_partition(..., {rest[1]}=...)",
                        )
                    left = size // math.prod([known[f] for f in factor if f in known])
                    words.append("".join([symbol(f, known.get(f) or left) for f in factor]))
                else:
                    words.append(symbol(factor, size))
            return f"[{', '.join(words)}]"

        ins = side(self.operands, operands, "operands")
        outs = side(self.results, results, "results")
        listed = ", ".join([f"{name}={size}" for name, size in sizes.items()])
        more = ""
        for word, names in (
            ("reduction", self.reduction_factors),
            ("need_replication", self.need_replication_factors),
            ("permutation", self.permutation_factors),
        ):
            if names:
                more += f" {word}={{{', '.join(sorted([letters[n] for n in names]))}}}"
        return f"#sdy.op_sharding_rule<({ins})->({outs}) {{{listed}}}{more}, custom>"


def _mappings(text: str, whole: str) -> tuple[tuple, ...]:
    found = []
    for part in text.split(","):
        words = re.findall(r"\.\.\.|\([^()]*\)|[A-Za-z_][A-Za-z_0-9]*|\S", part)
        dims: list[Any] = []
        for i, word in enumerate(words):
            if word.startswith("("):
                dims.append(CompoundFactor(*word[1:-1].split()))
            elif (word == BATCHING and i == 0) or re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", word):
                dims.append(word)
            else:
                raise ArgumentValueError(
                    f"{word!r} is no factor",
                    function="custom_partitioning",
                    argument="sharding_rule",
                    got=repr(whole),
                    expected="factors as in '... i j, j k -> ... i k'",
                )
        found.append(tuple(dims))
    return tuple(found)


def parsed_rule(text: str, **options: Any) -> Rule:
    """Parse a rule such as "i j, j k -> i k"."""
    sides = text.split("->")
    if len(sides) != 2:
        raise ArgumentValueError(
            function="custom_partitioning",
            argument="sharding_rule",
            got=repr(text),
            expected="operands -> results, as in 'i j, j k -> i k'",
        )
    return _rule(_mappings(sides[0], text), _mappings(sides[1], text), **options)


def _rule(
    operands: tuple,
    results: tuple,
    *,
    reduction_factors: Sequence[str] = (),
    need_replication_factors: Sequence[str] = (),
    permutation_factors: Sequence[str] = (),
    **factor_sizes: int,
) -> Rule:
    known: set[str] = set()
    for mapping in (*operands, *results):
        for f in mapping:
            known.update(f if isinstance(f, CompoundFactor) else (f,))
    for name in (
        *reduction_factors,
        *need_replication_factors,
        *permutation_factors,
        *factor_sizes,
    ):
        if name not in known:
            raise ArgumentValueError(
                f"{name!r} is no factor of the rule",
                function="custom_partitioning",
                argument="sharding_rule",
                expected=f"one of {', '.join(sorted(known))}",
            )
    return Rule(
        operands,
        results,
        tuple(reduction_factors),
        tuple(need_replication_factors),
        tuple(permutation_factors),
        tuple(factor_sizes.items()),
    )


class SdyShardingRule(Rule):
    """Build a `Rule` from tuples of factors: `SdyShardingRule((("i", "j"),), (("i",),), reduction_factors=("j",))`."""

    def __init__(
        self, operand_mappings: Sequence, result_mappings: Sequence, **options: Any
    ) -> None:
        rule = _rule(
            tuple([tuple(m) for m in operand_mappings]),
            tuple([tuple(m) for m in result_mappings]),
            **options,
        )
        super().__init__(**rule.__dict__)


# The primitive -------------------------------------------------------------------------------------------


@record(eq=False)
class Partitioner:
    """Hold the user's partitioner: callbacks, sharding rule and static arguments."""

    name: str
    partition: Callable
    rule: Any
    static: tuple
    in_tree: Any
    out_tree: Any


custom_partitioning_p = Primitive(
    "custom_partitioning",
    family=HIGHER_ORDER,
    check_rule=Default("its partitions are computed as the user says: results are looked at"),
    key_rule=UNTRACKED,
    multiple_results=True,
    is_higher_order=True,
)


@custom_partitioning_p.abstract
def _(*avals: Any, jaxpr: ClosedJaxpr, how: Partitioner) -> list:
    return jaxpr.out_avals


@custom_partitioning_p.effect
def _(*, jaxpr: ClosedJaxpr, how: Partitioner) -> frozenset:
    return jaxpr.effects


@custom_partitioning_p.show
def _(*, jaxpr: ClosedJaxpr, how: Partitioner) -> dict:
    return {"name": how.name, "jaxpr": jaxpr}


@custom_partitioning_p.composite
def _(*xs: Any, jaxpr: ClosedJaxpr, how: Partitioner) -> list:
    return eval_jaxpr(jaxpr.jaxpr, (), *xs)


@record
class _Call:
    """Describe one call in a jaxpr that is being compiled."""

    how: Partitioner
    mesh: Any
    platform: str


_calls: OrderedDict[str, _Call] = OrderedDict()
_CALLS = 1024
_lock = fork_locks.lock()
_registered: set[str] = set()


@custom_partitioning_p.lower
def _(b: Any, *xs: Any, jaxpr: ClosedJaxpr, how: Partitioner) -> list:
    module = b.module
    whole = module.manual is not None and module.manual.manual == set(module.manual.sizes)
    if len(module.devices) < 2 or whole:
        return b.inline(jaxpr.jaxpr, xs)
    mesh = _mesh_for(module)
    shapes = [tuple(x.aval.shape) for x in xs], [tuple(a.shape) for a in jaxpr.out_avals]
    rule = _rule_for(how, mesh, [x.aval for x in xs], jaxpr.out_avals)
    with _lock:
        if not _registered:
            xla.custom_calls.register_partitioner(_TARGET, _partitioned)
            _registered.add(_TARGET)
        key = uuid.uuid4().hex  # jaxprs with other partitioners must not share a cache entry
        _calls[key] = _Call(how, mesh, module.platform)
        if len(_calls) > _CALLS:
            _calls.popitem(last=False)
    attributes = {} if rule is None else {"sdy__sharding_rule": rule.text(*shapes)}
    return b.custom_call(
        _TARGET,
        xs,
        jaxpr.out_avals,
        api_version="2 : i32",
        has_side_effect="false",
        called_computations="[]",
        backend_config=f'"{key}"',
        **attributes,
    )


def _rule_for(how: Partitioner, mesh: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Rule | None:
    rule: Any = how.rule
    if rule is None or isinstance(rule, Rule):
        return rule
    types = [[ShapeDtypeStruct.of(a) for a in avals] for avals in (ins, outs)]
    found = rule(*how.static, mesh, *types)
    found, options = found if isinstance(found, tuple) else (found, {})
    return parsed_rule(found, **options) if isinstance(found, str) else found


def _mesh_for(module: Any) -> Mesh:
    """Return the mesh for the shardings that the callback gets."""
    found = meshes.concrete_mesh() or module.mesh
    if found is not None and set(found._flat) == set(module.devices):
        return found
    array = np.empty(len(module.devices), object)
    array[:] = module.devices
    return Mesh(array, ("devices",))


def _struct(mesh: Any, shape: tuple, dtype: Any, text: str) -> ShapeDtypeStruct:
    tiles = Tiles(*xla.sharding_tiles(text, mesh.size, len(shape)))
    return ShapeDtypeStruct(shape, dtype, sharding=described(tiles, mesh))


def _shardings(call: _Call, tree: Any, shardings: Any, what: str) -> list:
    leaves = trees.leaves(shardings)
    if len(leaves) != tree.num_leaves or not all(isinstance(s, Sharding) for s in leaves):
        raise ArgumentError(
            f"{what} must have a sharding for each array",
            function=f"custom_partitioning of {call.how.name}",
            got=repr(shardings),
            expected=f"{tree.num_leaves} shardings",
        )
    return leaves


def _partitioned(key: str, operands: list, results: list) -> tuple[str, list, list]:
    """Lower the function of one device, with the shardings of operands and results."""
    call = _calls[key]
    how, mesh = call.how, call.mesh
    ins = [_struct(mesh, *o) for o in operands]
    outs = [_struct(mesh, *r) for r in results]
    mesh, fun, out_shardings, in_shardings = how.partition(
        *how.static, mesh, how.in_tree.unflatten(ins), how.out_tree.unflatten(outs)
    )
    in_found = _shardings(call, how.in_tree, in_shardings, "arg_shardings of partition")
    out_found = _shardings(call, how.out_tree, out_shardings, "result_shardings of partition")
    avals = [
        intern_aval(sharding.shard_shape(s.shape), s.dtype)
        for s, sharding in zip(ins, in_found, strict=True)
    ]
    region = Region(mesh, frozenset(mesh.axis_names), False)
    with region.inside():
        body = trace_body(
            fun, how.in_tree, avals, transform="custom_partitioning", same=(object(),)
        )
        found = [(a.shape, a.dtype) for a in body.jaxpr.out_avals]
        expected = [
            (sh.shard_shape(s.shape), s.dtype) for s, sh in zip(outs, out_found, strict=True)
        ]
        if found != expected:
            raise ArgumentValueError(
                "the function for one device gives other parts than the shardings of the result say",
                function=f"custom_partitioning of {how.name}",
                argument="lower_fn",
                got=found,
                expected=expected,
            )
        text = lower_for_one_device(
            body.jaxpr.jaxpr, body.consts, call.platform, how.name, DeviceGroups.of(mesh)
        )
    return (
        text,
        [s.engine_text(len(x.shape)) for s, x in zip(in_found, ins, strict=True)],
        [s.engine_text(len(x.shape)) for s, x in zip(out_found, outs, strict=True)],
    )


class custom_partitioning:
    """Return a function that `def_partition` shards in jaxprs that run on several devices.

    Elsewhere, on one device and inside `shard_map`, it is `fun` itself; so are its derivatives and
    its batched form.

    Args:
      fun: a function of arrays (pytrees of them), and of static values at `static_argnums`.

    >>> from sagax.experimental.custom_partitioning import custom_partitioning
    >>> @custom_partitioning
    ... def double(x):
    ...     return x * 2
    >>> def partition(mesh, args, result):
    ...     return mesh, lambda x: x * 2, result.sharding, (args[0].sharding,)
    >>> _ = double.def_partition(partition, sharding_rule="... -> ...")
    >>> double(snp.arange(3))
    Array([0, 2, 4], dtype=int32)
    """

    def __init__(self, fun: Callable, static_argnums: Any = ()) -> None:
        arguments.check_callable(fun, "custom_partitioning")
        self.fun = fun
        self.static_argnums = checks.positions(
            "custom_partitioning", "static_argnums", static_argnums
        )
        self._defined: tuple[Callable, Any] | None = None
        copy_attributes(self, fun)

    def def_partition(
        self,
        partition: Callable,
        infer_sharding_from_operands: Callable | None = None,
        propagate_user_sharding: Callable | None = None,
        decode_shardings: bool = True,
        sharding_rule: Any = None,
        *,
        reduction_factors: Sequence[str] = (),
        need_replication_factors: Sequence[str] = (),
        permutation_factors: Sequence[str] = (),
        **factor_sizes: int,
    ) -> Callable:
        """Define how the function is sharded.

        Args:
          partition: `partition(*static, mesh, arg_shapes, result_shape)` gets structures of `ShapeDtypeStruct`s with
            shardings, and returns `(mesh, lower_fn, result_shardings, arg_shardings)`: `lower_fn` is the function of
            the shards of one device, which may use collectives over the axes of the mesh.
          infer_sharding_from_operands, propagate_user_sharding, decode_shardings: accepted beside a `sharding_rule`, and not called.
          sharding_rule: how dimensions correspond, such as "i j, j k -> i k", with "..." for leading dimensions
            and "(i j)" for a dimension that two factors make up; a `SdyShardingRule`; or a function
            `(*static, mesh, arg_types, result_types)` that returns one of these.
          reduction_factors, need_replication_factors, permutation_factors: factors that are summed over, that must not
            be sharded, along which devices exchange their shards.
          factor_sizes: the sizes of factors that a dimension is made up of.
        """
        options = {
            "reduction_factors": reduction_factors,
            "need_replication_factors": need_replication_factors,
            "permutation_factors": permutation_factors,
            **factor_sizes,
        }
        if isinstance(sharding_rule, str):
            sharding_rule = parsed_rule(sharding_rule, **options)
        elif any(options.values()):
            raise ArgumentValueError(
                "factors are named together with a rule that is a text",
                function="def_partition",
                argument="sharding_rule",
                got=repr(sharding_rule),
                expected="a text, as in 'i j -> i j'",
            )
        elif sharding_rule is None and (infer_sharding_from_operands or propagate_user_sharding):
            raise ArgumentValueError(
                "functions that tell how shardings follow from others are not asked any more",
                function="def_partition",
                argument="sharding_rule",
                got=None,
                expected="how the dimensions of operands and results belong together",
                fix="say it by a rule, such as sharding_rule='... i -> ... i'",
            )
        self._defined = (partition, sharding_rule)
        return partition

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = function_name(self.fun)
        if self._defined is None:
            raise ArgumentValueError(
                "nothing is known of how devices share its work",
                function=f"custom_partitioning of {name}",
                fix=f"call {name}.def_partition(partition, sharding_rule=...) first",
            )
        bound = inspect.signature(self.fun).bind(*args, **kwargs)
        bound.apply_defaults()
        full = bound.args
        fixed = {k % len(full) for k in self.static_argnums}
        static = tuple([x for i, x in enumerate(full) if i in fixed])
        dynamic = tuple([x for i, x in enumerate(full) if i not in fixed])
        leaves, tree = operand_leaves("custom_partitioning", name, dynamic)

        def call(*some: Any) -> Any:
            values, constants = iter(some), iter(static)
            return self.fun(
                *[next(constants) if i in fixed else next(values) for i in range(len(full))]
            )

        copy_attributes(call, self.fun)
        body = trace_body(call, tree, [aval_of(x) for x in leaves], transform="custom_partitioning")
        if body.consts:
            raise ArgumentValueError(
                "a function with a partitioning of its own must not close over arrays",
                function=f"custom_partitioning of {name}",
                fix="pass them as arguments",
            )
        partition, rule = self._defined
        how = Partitioner(name, partition, rule, static, tree, body.out_tree)
        outs = custom_partitioning_p.bind(*leaves, jaxpr=body.jaxpr, how=how)
        return body.out_tree.unflatten(outs)
