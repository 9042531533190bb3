"""Internal names of jax that widely used libraries import, for `sagax.as_jax`.

`jax._src` is private to jax, and sagax is built otherwise inside. But several libraries reach into it for
a name that has a public meaning (the type of an abstract array, the switch that hides a library's frames
from tracebacks). `INTERNALS` lists those that have an equivalent here, module by module below `jax`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import Any

import numpy as np

from sagax import core, dtypes, flatten_util, tree_util
from sagax._src import trees
from sagax._src.core.trace import state
from sagax._src.diagnostics import spans
from sagax._src.primitives.identities import stop_gradient_p
from sagax._src.runtime.effect_tokens import effects_barrier
from sagax.extend import linear_util as lu

JAX_VERSION_INFO = (0, 12, 0)
JAX_VERSION = ".".join(map(str, JAX_VERSION_INFO))


def api_boundary(fun: Callable[..., Any], **_: Any) -> Callable[..., Any]:
    """Return the function itself: sagax knows its own frames without being told where they begin."""
    return fun


class _Excluded(list[str]):
    """List files whose frames tracebacks leave out."""

    def append(self, path: str) -> None:
        spans.hide(path)
        super().append(path)

    def remove(self, path: str) -> None:
        super().remove(path)
        spans.unhide(path)


_exclude_paths = _Excluded()


def include_frame(frame: FrameType) -> bool:
    """Decide if tracebacks show a frame."""
    return not spans.is_hidden(frame.f_code.co_filename)


class _NodeTypes(Mapping[type, Any]):
    """Test which types are nodes of pytrees; they cannot be listed."""

    def __contains__(self, typ: object) -> bool:
        return isinstance(typ, type) and trees.is_tree_node(typ)

    def __getitem__(self, typ: type) -> Any:
        if typ not in self:
            raise KeyError(typ)
        return trees.default_registry

    def __iter__(self) -> Iterator[type]:
        raise TypeError("the types that are nodes of pytrees cannot be listed")

    def __len__(self) -> int:
        raise TypeError("the types that are nodes of pytrees cannot be counted")


def trace_state_clean() -> bool:
    """Check that no transformation is active."""
    return state.trace.parent is None


def backend_compile_and_load(*_: Any, **__: Any) -> Any:
    """Raise: libraries replace it to intercept compilation. (Replacing it is refused.)"""
    raise NotImplementedError("sagax compiles by other ways: see sagax.jit(f).lower(...).compile()")


class ExtendedDType:
    """A base for the dtypes that libraries define in jax's form; arrays of them cannot be made here."""


def debug_info(traced_for: str, fun: Callable[..., Any], args: Any, kwargs: Any, **_: Any) -> None:
    """Return None: what messages say of a function is found when they are written."""
    return None


@lu.transformation_with_aux2
def flatten_fun(f: Callable[..., Any], store: Any, in_tree: Any, *leaves: Any) -> Any:
    """Convert a function of `(args, kwargs)` to one of leaves, and a thunk for its result's tree."""
    args, kwargs = tree_util.tree_unflatten(in_tree, leaves)
    out, tree = tree_util.tree_flatten(f(*args, **kwargs))
    store.store(tree)
    return out


@lu.transformation_with_aux2
def flatten_fun_nokwargs(f: Callable[..., Any], store: Any, in_tree: Any, *leaves: Any) -> Any:
    """Convert a function of positional arguments to one of leaves: `in_tree` is that of `args`."""
    out, tree = tree_util.tree_flatten(f(*tree_util.tree_unflatten(in_tree, leaves)))
    store.store(tree)
    return out


def flatten_axes(name: str, treedef: Any, axis_tree: Any, **_: Any) -> list[Any]:
    """Return the leaves of `axis_tree`, a prefix of a tree, one for each leaf of the tree."""
    template = tree_util.tree_unflatten(treedef, [object()] * treedef.num_leaves)
    return trees.broadcast_prefix(axis_tree, template, is_leaf=lambda x: x is None)


def safe_map(fun: Callable[..., Any], *sequences: Iterable[Any]) -> list[Any]:
    """Map `fun` over sequences of one length; a list."""
    return [fun(*xs) for xs in zip(*sequences, strict=True)]


def safe_zip(*sequences: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Zip sequences of one length; a list of tuples."""
    return list(zip(*sequences, strict=True))


INTERNALS: dict[str, dict[str, Any]] = {
    "_src": {},
    "api_util": {
        "debug_info": debug_info,
        "flatten_axes": flatten_axes,
        "flatten_fun": flatten_fun,
        "flatten_fun_nokwargs": flatten_fun_nokwargs,
        "safe_map": safe_map,
        "safe_zip": safe_zip,
    },
    "version": {"__version__": JAX_VERSION, "__version_info__": JAX_VERSION_INFO},
    "_src.ad_util": {"stop_gradient_p": stop_gradient_p},
    "_src.compiler": {"backend_compile_and_load": backend_compile_and_load},
    "_src.core": {
        "ShapedArray": core.ShapedArray,
        "get_aval": core.get_aval,
        "trace_state_clean": trace_state_clean,
    },
    "_src.dispatch": {"wait_for_tokens": effects_barrier},
    "_src.dtypes": {name: getattr(dtypes, name) for name in dtypes.__all__}
    | {"DType": np.dtype, "ExtendedDType": ExtendedDType},
    "_src.flatten_util": {"ravel_pytree": flatten_util.ravel_pytree},
    "_src.traceback_util": {
        "_exclude_paths": _exclude_paths,
        "api_boundary": api_boundary,
        "include_frame": include_frame,
        "register_exclusion": _exclude_paths.append,
    },
    "_src.tree_util": {"_registry": _NodeTypes(), "flatten_one_level": trees.flatten_one_level},
}
