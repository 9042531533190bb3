"""Implement `pallas_call`: trace a kernel once, and apply it to the blocks of operands."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.experimental.pallas._check as _check
import sagax.experimental.pallas._expand as _expand
import sagax.experimental.pallas._fold as _fold
import sagax.experimental.pallas._frames as _frames
import sagax.experimental.pallas._waits as _waits
import sagax.experimental.pallas.triton as triton
from sagax._src import config, trees
from sagax._src.argument_checks.functions import check_function
from sagax._src.callbacks.callbacks import debug_callback, pure_callback
from sagax._src.core import dims, dtypes, memo_keys
from sagax._src.core.avals import ShapedArray
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.references import AbstractRef
from sagax._src.core.staging import stage, stage_closed
from sagax._src.core.value import aval_of, sockets
from sagax._src.diagnostics import events
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, TreeError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.frozen_class import record
from sagax._src.higher_order.call import bind_call, call_primitive, jit_p
from sagax._src.higher_order.trace_bodies import is_concrete, operand_leaves, trace_body
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.references import Ref
from sagax._src.transforms.batch import batch_jaxpr, move_batch_dims
from sagax.experimental.pallas._blocks import (
    BlockMapping,
    GridSpec,
    block_mapping,
    flat_specs,
    no_block_spec,
)
from sagax.experimental.pallas._interpret import InterpretParams, chosen
from sagax.experimental.pallas._memory import MemorySpace, ref_aval

if TYPE_CHECKING or lazy_imports():
    import sagax.experimental.pallas._triton.batch as _triton_batch
    import sagax.experimental.pallas._triton.call as _triton_call

_ID = ShapedArray((), np.dtype(np.int32))


@record(eq=False)
class Kernel:
    """A traced kernel with its grid: what a program does, and which blocks it sees.

    `jaxpr` takes captured arrays, the indices of the program and the sizes of the grid, then references:
    prefetched operands, inputs, outputs, scratch.
    """

    jaxpr: ClosedJaxpr
    n_captured: int
    grid: tuple
    prefetched: tuple
    inputs: tuple
    outputs: tuple
    scratch: tuple
    aliases: tuple
    name: str
    semantics: tuple
    interpret: Any
    compiler_params: Any = None
    n_batched: int = 0  # axes that vmap added before the others

    @property
    def runs_on_triton(self) -> bool:
        """True if GPUs run it through Triton: unless it is interpreted, or has options of another compiler."""
        return not self.interpret and (
            self.compiler_params is None or isinstance(self.compiler_params, triton.CompilerParams)
        )

    @property
    def runs_in_any_order(self) -> bool:
        """True if its author says that the order of programs makes no difference, by Triton's options."""
        return self.compiler_params is not None

    def __repr__(self) -> str:
        blocks = ", ".join(map(repr, (*self.inputs, *self.outputs)))
        return f"Kernel(grid={self.grid}, block_mappings=({blocks}))"


# Its parameter `jaxpr` computes the results from values: the kernel over its whole grid. Derivatives and
# batched forms are calls of that.
pallas_call_p = call_primitive("pallas_call")


def _as_jit(slot: str) -> None:
    rule = getattr(jit_p, f"{slot}_rule")

    def through(*args: Any, kernel: Kernel, **params: Any) -> Any:
        return rule(*args, name=kernel.name, **params)

    setattr(pallas_call_p, f"{slot}_rule", through)


for _slot in ("jvp", "linearize", "transpose", "discharge"):
    _as_jit(_slot)


def _evaluate(*args: Any, jaxpr: ClosedJaxpr, kernel: Kernel) -> Any:
    run: Any = jit_p.impl
    return run(*args, jaxpr=_called(jaxpr, kernel), name=kernel.name)


def _called(jaxpr: ClosedJaxpr, kernel: Kernel) -> ClosedJaxpr:
    """Return a jaxpr that calls a kernel, so that each platform may lower it in its way. Cached."""
    if not kernel.runs_on_triton:
        return jaxpr
    memo = jaxpr.jaxpr.memo
    key = memo_keys.KERNEL_CALL, kernel.name, kernel.compiler_params, kernel.n_batched
    found = memo.get(key)
    if found is None:

        def call(*xs: Any) -> list:
            return pallas_call_p.bind(*xs, jaxpr=jaxpr, kernel=kernel)

        found = memo[key] = stage_closed(call, jaxpr.in_avals)
    return found


pallas_call_p.impl = _evaluate


@pallas_call_p.key
def _(interpreter: Any, params: dict, *rest: Any) -> Any:
    rule: Any = jit_p.key_rule  # set where keys are followed
    return rule(interpreter, {"jaxpr": params["jaxpr"], "name": params["kernel"].name}, *rest)


@pallas_call_p.check
def _(eqn: Any, *rest: Any) -> Any:
    rule: Any = jit_p.check_rule  # set where programs are checked
    params = {"jaxpr": eqn.params["jaxpr"], "name": eqn.params["kernel"].name}
    return rule(eqn.replace(primitive=jit_p, params=params), *rest)


@pallas_call_p.show
def _(*, jaxpr: ClosedJaxpr, kernel: Kernel, **_: Any) -> dict:
    return {"name": kernel.name, "grid_mapping": kernel, "jaxpr": kernel.jaxpr}


@pallas_call_p.batch
def _(
    axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, jaxpr: ClosedJaxpr, kernel: Kernel
) -> tuple:
    """Batch the form on values, and give the kernel a further axis of its grid, if that is the same."""
    wider = _triton_batch.with_axis(kernel, axis.size, in_dims) if kernel.runs_on_triton else None
    if wider is None:
        rule: Any = jit_p.batch_rule
        return rule(axis, args, in_dims, jaxpr=jaxpr, name=kernel.name)
    first = [None if d is None else 0 for d in in_dims]
    batched, out_dims = batch_jaxpr(jaxpr, axis, tuple(first), force_out=True)
    args = move_batch_dims(args, in_dims)
    return bind_call(pallas_call_p, batched, args, kernel=wider), list(out_dims)


@pallas_call_p.prune
def _(used: Sequence[bool], *, jaxpr: ClosedJaxpr, kernel: Kernel) -> None:
    """Keep all operands and results: the kernel names them by position."""


@pallas_call_p.lower
def _(b: Any, *args: Any, jaxpr: ClosedJaxpr, kernel: Kernel) -> list:
    return b.call(jaxpr.jaxpr, args, kernel.name)


def _lower_on_cuda(b: Any, *args: Any, jaxpr: ClosedJaxpr, kernel: Kernel) -> list:
    if kernel.runs_on_triton:
        # a kernel that prints has a token as its first operand and result, which orders calls of Python functions
        n = len(args) - kernel.n_captured - len(kernel.prefetched) - len(kernel.inputs)
        return [*args[:n], *_triton_call.lower_call(b, args[n:], kernel)]
    return b.call(jaxpr.jaxpr, args, kernel.name)


pallas_call_p.lower_on["cuda"] = _lower_on_cuda


def pallas_call(
    kernel: Callable[..., None],
    out_shape: Any,
    *,
    grid_spec: GridSpec | None = None,
    grid: Any = (),
    in_specs: Any = no_block_spec,
    out_specs: Any = no_block_spec,
    scratch_shapes: Any = (),
    input_output_aliases: Mapping[int, int] = {},
    debug: bool = False,
    interpret: Any = False,
    name: str | None = None,
    compiler_params: Any = None,
    cost_estimate: Any = None,
    metadata: Any = None,
) -> Callable[..., Any]:
    """Return a function that runs `kernel` once for each program of a grid, on blocks of its arguments.

    The kernel gets references: of the block of each input, of each output, then of scratch memory. It reads
    inputs and writes outputs; memory that it does not write holds NaN, or the least integer.

    Args:
      kernel: a function of references that returns None.
      out_shape: a pytree of shapes and dtypes, such as `ShapeDtypeStruct`.
      grid: the number of programs along each axis. They run in order, the last axis fastest; where that makes no
        difference, they run as one vectorized program.
      in_specs, out_specs: a `BlockSpec` for each input and output; by default all of it.
      grid_spec: these three and `scratch_shapes` as one `GridSpec`, instead of them.
      scratch_shapes: memory that lasts from one program to the next, such as `pl.ANY((8,), sagax.numpy.float32)`.
      input_output_aliases: {position of an input: position of an output} that starts with its contents.
      interpret: True runs programs one after the other; `InterpretParams` also checks them.
      name: the name in messages and modules.
      compiler_params, cost_estimate, metadata, debug: for accelerators.

    >>> def add_one(x_ref, o_ref):
    ...     o_ref[...] = x_ref[...] + 1
    >>> spec = sagax.experimental.pallas.BlockSpec((2,), lambda i: (i,))
    >>> out = sagax.ShapeDtypeStruct((4,), snp.float32)
    >>> pallas_call(add_one, out, grid=(2,), in_specs=[spec], out_specs=spec)(snp.arange(4.0))
    Array([1., 2., 3., 4.], dtype=float32)
    """
    check_function(kernel, "pallas_call: kernel should be a callable.", "pallas_call", "kernel")
    if grid_spec is None:
        grid_spec = GridSpec(grid, in_specs, out_specs, scratch_shapes)
    elif grid != () or in_specs is not no_block_spec or out_specs is not no_block_spec:
        raise ArgumentValueError(
            "both grid_spec and one of grid, in_specs and out_specs are given",
            function="pallas_call",
            argument="grid_spec",
            got="grid_spec=..., and others",
            fix="put them into grid_spec",
        )
    elif scratch_shapes != ():
        raise ArgumentValueError(
            "both grid_spec and scratch_shapes are given",
            function="pallas_call",
            argument="scratch_shapes",
            got="grid_spec=..., scratch_shapes=...",
            fix="put them into grid_spec",
        )
    outs, out_tree = trees.flatten_argument(
        "pallas_call", "out_shape", tuple(out_shape) if isinstance(out_shape, list) else out_shape
    )
    out_avals = [_out_aval(x, i) for i, x in enumerate(outs)]
    title = name or function_name(kernel)
    spec = grid_spec

    @functools.wraps(kernel, updated=())
    def apply(*args: Any) -> Any:
        leaves, tree = operand_leaves("pallas_call", "args", args)
        found = _apply(
            kernel, title, spec, args, leaves, tree, out_avals, out_tree,
            dict(input_output_aliases), chosen(interpret), compiler_params,
        )  # fmt: skip
        return out_tree.unflatten(found)

    if hasattr(apply, "__wrapped__"):
        del apply.__wrapped__
    return apply


def _out_aval(x: Any, i: int) -> ShapedArray:
    if isinstance(x, AbstractRef):
        x = x.inner_aval
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        raise ArgumentError(
            f"leaf {i} of out_shape has no shape and dtype",
            function="pallas_call",
            argument="out_shape",
            got=f"a value of type {type(x).__name__}",
            expected="sagax.ShapeDtypeStruct(shape, dtype)",
        )
    return ShapedArray(tuple(x.shape), np.dtype(x.dtype))


def _apply(
    kernel: Callable,
    name: str,
    spec: GridSpec,
    args: tuple,
    leaves: list,
    tree: Any,
    out_avals: list,
    out_tree: Any,
    aliases: dict,
    interpret: Any,
    compiler_params: Any,
) -> list:
    n_prefetched = spec.num_scalar_prefetch
    avals = [aval_of(x).strip_weak_type() for x in leaves]
    in_trees = trees.treedef_children(tree)
    n_leaves = sum(t.num_leaves for t in in_trees[:n_prefetched])
    prefetched = tuple([AbstractRef(a, MemorySpace.INDEX) for a in avals[:n_leaves]])
    index_trees, in_trees = in_trees[:n_prefetched], in_trees[n_prefetched:]
    in_tree = trees.treedef_tuple(tuple(in_trees))
    paths = [trees.argument_path("args", p) for p in trees.key_paths(args)]
    out_paths = [
        trees.argument_path("outputs", p) for p in trees.key_paths(trees.of_objects(out_tree))
    ]
    static = tuple([g if isinstance(g, int) or dims.is_dim(g) else None for g in spec.grid])
    inputs = _mappings(
        spec.in_specs, in_tree, avals[n_leaves:], paths[n_leaves:], "in_specs", "inputs", static,
        prefetched,
    )  # fmt: skip
    outputs = _mappings(
        spec.out_specs, out_tree, out_avals, out_paths, "out_specs", "out_shape", static, prefetched
    )
    scratch_tree, scratch = _scratch(spec.scratch_shapes)
    _check_aliases(aliases, avals, out_avals, n_leaves, paths, out_paths)
    body, captured = _traced(
        kernel, name, static, spec.grid_names, index_trees, in_trees, out_tree, scratch_tree,
        prefetched, inputs, outputs, scratch, spec.grid,
    )  # fmt: skip
    semantics = _semantics(compiler_params, static)
    traced = Kernel(
        body,
        len(captured),
        static,
        prefetched,
        inputs,
        outputs,
        scratch,
        tuple(sorted((i - n_leaves, o) for i, o in aliases.items())),
        name,
        semantics,
        interpret,
        _triton_options(compiler_params),
    )
    dynamic = [g for g, s in zip(spec.grid, static, strict=True) if s is None]
    operands = [*dynamic, *captured, *leaves]
    if isinstance(traced.interpret, InterpretParams):
        return _checked(traced, operands, out_avals)
    if not interpret:
        _waits.check_waits(traced)
    if events.kernel_called.function is not None:
        _observed(traced, operands)
    expanded = _expanded(traced, [aval_of(x) for x in operands])
    return bind_call(pallas_call_p, expanded, operands, kernel=traced)


def _checked(kernel: Kernel, operands: list, out_avals: list) -> list:
    """Run a kernel in the checking interpreter: now if its operands are known, else when they are."""
    if all(map(is_concrete, operands)):
        found = _check.check(kernel, operands)
        return [sockets.concrete(np.asarray(x)) for x in found]

    def call(*values: Any) -> list:
        return _check.check(kernel, values)

    return pure_callback(call, out_avals, *operands, vmap_method="sequential")


# A tool checks kernels of at most so many programs, and operands of at most so many elements.
_OBSERVED_PROGRAMS, _OBSERVED_ELEMENTS = 256, 1 << 18


def _observed(kernel: Kernel, operands: list) -> None:
    """Let the tool that watches kernels check this one, now or when its operands are known."""
    mode = InterpretParams(detect_races=True)
    watched = dataclasses.replace(kernel, interpret=mode)
    small = sum(aval_of(x).size for x in operands if aval_of(x).shape) <= _OBSERVED_ELEMENTS
    static = all(type(n) is int for n in kernel.grid)
    if not small or not static or math.prod(kernel.grid) > _OBSERVED_PROGRAMS:
        return

    def check(*values: Any) -> None:
        function = events.kernel_called.function
        if function is not None:
            function(lambda: _check.check(watched, values))

    if all(map(is_concrete, operands)):
        check(*operands)
    else:
        debug_callback(check, *operands)


def _mappings(
    specs: Any,
    tree: Any,
    avals: Sequence[Any],
    paths: Sequence[str],
    what: str,
    operands: str,
    grid: tuple,
    prefetched: tuple,
) -> tuple[BlockMapping, ...]:
    flat = flat_specs(specs, tree, what, operands)
    return tuple(
        [
            block_mapping(s, a, p, grid, prefetched)
            for s, a, p in zip(flat, avals, paths, strict=True)
        ]
    )


def _scratch(shapes: Any) -> tuple[Any, tuple]:
    """Return the structure of the scratch arguments, and the type of each reference."""
    named = isinstance(shapes, dict)
    if isinstance(shapes, list):
        shapes = tuple(shapes)
    leaves, tree = trees.flatten(shapes, lambda x: hasattr(x, "get_ref_aval"))
    refs = tuple([ref_aval(x, "pallas_call", "scratch_shapes") for x in leaves])
    if not named and not isinstance(shapes, tuple):
        raise TreeError(
            "scratch_shapes is one type, not a sequence of them",
            function="pallas_call",
            argument="scratch_shapes",
            got=f"a value of type {type(shapes).__name__}",
            expected="a tuple",
            fix="write scratch_shapes=(x,)",
        )
    return tree, refs


def _check_aliases(
    aliases: dict, avals: list, out_avals: list, n_prefetched: int, paths: list, out_paths: list
) -> None:
    for i, o in aliases.items():
        if not (0 <= i < len(avals) and 0 <= o < len(out_avals)) or i < n_prefetched:
            raise ArgumentValueError(
                f"input_output_aliases names the input {i} and the output {o}, which are not both there",
                function="pallas_call",
                argument="input_output_aliases",
                got=aliases,
                expected=f"inputs from {n_prefetched} to {len(avals) - 1}, outputs from 0 to {len(out_avals) - 1}",
            )
        a, b = avals[i], out_avals[o]
        if a.dtype != b.dtype or not dims.same_shape(a.shape, b.shape):
            raise ArgumentValueError(
                f"the input {paths[i]} and the output {out_paths[o]} are aliases, and have different types",
                function="pallas_call",
                argument="input_output_aliases",
                got=a,
                expected=b,
                fix="give both one shape and dtype",
            )


def _semantics(params: Any, grid: tuple) -> tuple:
    """Return the declared semantics of each axis of the grid: "parallel", or "arbitrary"."""
    if isinstance(params, Mapping):
        found = next(
            (p["dimension_semantics"] for p in (params, *params.values())
             if isinstance(p, Mapping) and "dimension_semantics" in p), None
        )  # fmt: skip
    else:
        found = getattr(params, "dimension_semantics", None)
    if found is None:
        return ("arbitrary",) * len(grid)
    if len(found) != len(grid):
        raise ArgumentValueError(
            "dimension_semantics has another number of entries than the grid has axes",
            function="pallas_call",
            argument="compiler_params",
            got=tuple(found),
            expected=f"{len(grid)} entries for the grid {grid}",
        )
    return tuple([getattr(x, "value", x) for x in found])


def _triton_options(params: Any) -> Any:
    """Return the options of a compiler; those of Triton may be an entry of a dict."""
    if isinstance(params, Mapping):
        own = params.get("triton")
        return triton.CompilerParams(**own) if isinstance(own, Mapping) else own
    return params


def _traced(
    kernel: Callable,
    name: str,
    grid: tuple,
    names: tuple | None,
    index_trees: Sequence[Any],
    in_trees: Sequence[Any],
    out_tree: Any,
    scratch_tree: Any,
    prefetched: tuple,
    inputs: tuple,
    outputs: tuple,
    scratch: tuple,
    sizes: tuple,
) -> tuple[ClosedJaxpr, list]:
    """Trace the kernel on references of blocks; return it, and the arrays that it captures."""
    ids_tree = trees.flatten(tuple(range(2 * len(grid))))[1]
    outs = out_tree if trees.treedef_is_leaf(out_tree) else None
    out_children = (outs,) if outs is not None else tuple(trees.treedef_children(out_tree))
    by_name = not trees.treedef_is_leaf(scratch_tree) and _is_dict(scratch_tree)
    scratches = (scratch_tree,) if by_name else tuple(trees.treedef_children(scratch_tree))
    if outs is None and _is_dict(out_tree):
        out_children = (out_tree,)
    whole = trees.treedef_tuple((ids_tree, *index_trees, *in_trees, *out_children, *scratches))
    avals = [
        *[_ID] * (2 * len(grid)),
        *prefetched,
        *[m.ref_aval for m in inputs],
        *[m.ref_aval for m in outputs],
        *scratch,
    ]

    @wraps(kernel)
    def traced(ids: tuple, *refs: Any) -> None:
        n = len(grid)
        given = [ids[n + k] if g is None or dims.is_dim(g) else g for k, g in enumerate(grid)]
        keywords = {}
        if by_name:
            *refs, keywords = refs  # type: ignore[assignment]
        _check_signature(kernel, name, refs, keywords, (inputs, outputs, scratch))
        with _frames.entered(_frames.Frame(name, given, ids[:n], names or ())):
            result = kernel(*refs, **keywords)
        if trees.flatten(result)[0]:
            raise ArgumentValueError(
                f"The kernel function in the pallas_call {name} should return None",
                function="pallas_call",
                argument="kernel",
                got=f"a value of type {type(result).__name__}",
                fix="write the result to the output's reference: o_ref[...] = result",
            )

    def paths() -> list[str]:
        return [
            *[f"program_id({k})" for k in range(len(grid))],
            *[f"num_programs({k})" for k in range(len(grid))],
            *[f"prefetched operand {i}" for i in range(len(prefetched))],
            *[f"the block of {m.origin}" for m in (*inputs, *outputs)],
            *[f"scratch {i}" for i in range(len(scratch))],
        ]

    same = ("pallas_call", kernel, name, grid, names)
    body = trace_body(traced, whole, avals, transform="pallas_call", paths=paths, same=same)
    for x in body.consts:
        if type(x) is Ref:
            raise ArgumentValueError(
                f"The kernel {name} captures a reference of the program around it",
                function="pallas_call",
                argument="kernel",
                got=repr(x.aval),
                fix="pass its contents as an argument, and return new ones; or use pl.core_map",
            )
    return _with_literals(body.jaxpr, body.consts)


def _with_literals(closed: ClosedJaxpr, consts: list) -> tuple[ClosedJaxpr, list]:
    """Write captured numbers into the kernel, so that it does not read them from memory. Cached."""
    numbers = {
        i: x for i, x in enumerate(consts) if is_concrete(x) and np.shape(x) == () and dtypes.kind(x.dtype) in "bfiu"
    }  # fmt: skip
    if not numbers:
        return closed, consts
    values = {
        i: x.item() if aval_of(x).weak_type else np.asarray(x)[()] for i, x in numbers.items()
    }
    kept = [x for i, x in enumerate(consts) if i not in values]
    key = memo_keys.KERNEL_NUMBERS, *[(i, type(x), str(x)) for i, x in values.items()]
    found = closed.jaxpr.memo.get(key)
    if found is None:

        def fun(*xs: Any) -> list:
            given = iter(xs)
            first = [values[i] if i in values else next(given) for i in range(len(consts))]
            return eval_jaxpr(closed.jaxpr, (), *first, *given)

        avals = closed.in_avals
        some = [a for i, a in enumerate(avals) if i not in values]
        found = closed.jaxpr.memo[key] = stage_closed(fun, some, closed.jaxpr.debug_info)
    return found, kept


def _check_signature(
    kernel: Callable, name: str, refs: Sequence[Any], keywords: dict, operands: tuple
) -> None:
    """Raise if a kernel does not take the references that it gets."""
    try:
        inspect.signature(kernel).bind(*refs, **keywords)
    except ValueError:  # a function without a signature
        return
    except TypeError as error:
        counts = [len(x) for x in operands]
        raise ArgumentError(
            f"the kernel {name} does not take the references that it gets: {error}",
            function="pallas_call",
            argument="kernel",
            got=f"{name}{inspect.signature(kernel)}",
            expected=f"a function of {len(refs) + len(keywords)} references: of {counts[0]} inputs, {counts[1]} "
            f"outputs and {counts[2]} scratch shapes",
        ) from None


def _is_dict(tree: Any) -> bool:
    data = tree.node_data()
    return data is not None and data[0] is dict


def _expanded(kernel: Kernel, avals: list) -> ClosedJaxpr:
    """Return the kernel over its grid as a jaxpr on values. Cached."""
    memo = kernel.jaxpr.jaxpr.memo
    key = (
        memo_keys.KERNEL_OVER_GRID, config.thread.settings.key, *avals, kernel.grid, kernel.inputs, kernel.outputs, kernel.scratch,
        kernel.aliases, kernel.semantics, _hashed(kernel.interpret),
    )  # fmt: skip
    try:
        found = memo.get(key)
    except TypeError:
        key, found = None, None
    if found is None:
        run = functools.partial(_expand.run, kernel)
        jaxpr, consts = stage(run, avals)
        found = ClosedJaxpr(jaxpr, consts)
        if not kernel.interpret:
            found = _fold.fold(found)
        if key is not None and not found.consts:
            memo[key] = found
    return found


def _hashed(x: Any) -> Any:
    try:
        hash(x)
    except TypeError:
        return id(x)
    return x


__all__ = ["Kernel", "Ref", "pallas_call", "pallas_call_p"]
