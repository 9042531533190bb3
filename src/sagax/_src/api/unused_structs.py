"""Call jitted functions with `ShapeDtypeStruct`s among the arguments, which the functions must not use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.api import arguments
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct, shaped
from sagax._src.core.jaxpr import eval_jaxpr
from sagax._src.transforms.prune import prune_jaxpr, used_inputs


class WithoutStructs:
    """A traced function of its arguments with data, `function`, and marks of the structs that it uses."""

    __slots__ = ("compiled", "function", "used")

    def __init__(self, traced: Any, is_struct: Sequence[bool]) -> None:
        pruned = prune_jaxpr(traced.closed.jaxpr)
        pairs = zip(used_inputs(pruned), is_struct, strict=True)
        self.used = [used and struct for used, struct in pairs]
        invars = [v for v, struct in zip(pruned.invars, is_struct, strict=True) if not struct]
        jaxpr, consts = pruned.replace(invars=invars), traced.closed.consts

        def function(*operands: Any) -> list:
            return eval_jaxpr(jaxpr, consts, *operands)

        function.__name__ = function.__qualname__ = traced.name
        self.function = function
        self.compiled: Any = None


def call(
    jitted: Any,
    jit: Callable[..., Any],
    statics: tuple,
    leaves: Sequence[Any],
    tree: Any,
    args: tuple,
    kwargs: dict,
) -> Any:
    """Call `jitted` with arguments that have the given leaves; return its result.

    Raises NotAnArrayError if the function uses a struct, or keeps unused arguments.
    """
    is_struct = tuple([isinstance(x, ShapeDtypeStruct) for x in leaves])

    def check(refused: Sequence[bool]) -> None:
        marked = zip(leaves, is_struct, refused, strict=True)
        checked = [0 if struct and not no else x for x, struct, no in marked]
        arguments.check_operands(checked, lambda: jitted._paths(args, kwargs), "jit", jitted._fun)

    check([struct and jitted._keep_unused for struct in is_struct])
    traced = jitted._trace(statics, tree, [shaped(x) for x in leaves], args, kwargs)
    found = traced.without_structs.get(is_struct)
    if found is None:
        found = traced.without_structs[is_struct] = WithoutStructs(traced, is_struct)
    if any(found.used):
        check(found.used)
    if found.compiled is None:
        kept = [i for i, struct in enumerate(is_struct) if not struct]
        found.compiled = _compiled(jitted, jit, traced, found.function, kept, tree, args, kwargs)
    operands = [x for x, struct in zip(leaves, is_struct, strict=True) if not struct]
    return traced.out_tree.unflatten(found.compiled(*operands))


def _compiled(
    jitted: Any,
    jit: Callable[..., Any],
    traced: Any,
    function: Callable[..., list],
    kept: Sequence[int],
    tree: Any,
    args: tuple,
    kwargs: dict,
) -> Any:
    """Jit a function of the leaves at `kept` with the options of `jitted`."""
    donated = jitted._donated(tree, args, kwargs)
    options = {}
    requested = jitted._requested_shardings
    if requested is not None:
        _, dyn_args, dyn_kwargs = jitted._split(args, kwargs)
        shardings = requested.of_arguments(tree, dyn_args, dyn_kwargs)
        options["in_shardings"] = tuple([shardings[i] for i in kept])
        options["out_shardings"] = requested.of_results(traced.out_tree, traced.closed.out_avals)
    compiled = jit(
        function,
        device=jitted._device,
        inline=jitted._inline,
        donate_argnums=[i for i, leaf in enumerate(kept) if leaf in donated],
        compiler_options=jitted._options,
        **options,
    )
    compiled._context = jitted._context
    return compiled


__all__ = ["call"]
