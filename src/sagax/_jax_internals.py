"""Map internal names of jax that widely used libraries import, for `sagax.as_jax`.

`jax._src` is private to jax. But several libraries import names from it that have a public meaning, such
as the type of an abstract array. `INTERNALS` lists those with an equivalent here, by module below `jax`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

import numpy as np

from sagax import api_util, core, dtypes, flatten_util
from sagax._src import trees
from sagax._src.core.trace import state
from sagax._src.diagnostics import spans
from sagax._src.primitives.identities import stop_gradient_p
from sagax._src.runtime.effect_tokens import effects_barrier

JAX_VERSION_INFO = (0, 12, 0)
JAX_VERSION = ".".join(map(str, JAX_VERSION_INFO))


def api_boundary(fun: Callable[..., Any], **_: Any) -> Callable[..., Any]:
    """Return the function itself: sagax recognizes its own frames by their files."""
    return fun


class _Excluded(list[str]):
    """Hold the files whose frames tracebacks omit."""

    def append(self, path: str) -> None:
        spans.hide(path)
        super().append(path)

    def remove(self, path: str) -> None:
        super().remove(path)
        spans.unhide(path)


_exclude_paths = _Excluded()


def include_frame(frame: FrameType) -> bool:
    """Return whether tracebacks show a frame."""
    return not spans.is_hidden(frame.f_code.co_filename)


class _NodeTypes(Mapping[type, Any]):
    """Look up the types that are nodes of pytrees; they cannot be listed."""

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
    """Return whether no transformation is being traced."""
    return state.trace.parent is None


def backend_compile_and_load(*_: Any, **__: Any) -> Any:
    """Raise: libraries replace this function to hook into compilation, which sagax refuses."""
    raise NotImplementedError("sagax compiles by other ways: see sagax.jit(f).lower(...).compile()")


class ExtendedDType:
    """Base class for dtypes that libraries define in jax's form; sagax has no arrays of them."""


INTERNALS: dict[str, dict[str, Any]] = {
    "_src": {},
    "version": {"__version__": JAX_VERSION, "__version_info__": JAX_VERSION_INFO},
    "_src.ad_util": {"stop_gradient_p": stop_gradient_p},
    "_src.api_util": {name: getattr(api_util, name) for name in api_util.__all__},
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
