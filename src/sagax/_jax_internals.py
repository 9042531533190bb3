"""Map internal names of jax that widely used libraries import, for `sagax.as_jax`.

`jax._src` is private to jax. But many libraries import names from it that have a public meaning, such as
the type of an abstract array. `PUBLIC` lists internal modules whose names are those of public modules
here; `INTERNALS` lists further names with an equivalent, by module below `jax`. docs/libraries.md says
which library asks for which.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, Protocol

import numpy as np

import sagax
from sagax import api_util, core, distributed
from sagax._src import trees
from sagax._src.core.dtypes import is_extended
from sagax._src.core.meshes import get_abstract_mesh
from sagax._src.core.trace import state
from sagax._src.diagnostics import spans
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.higher_order.call import jit_p
from sagax._src.languages.choice import worded
from sagax._src.primitives.identities import stop_gradient_p
from sagax._src.runtime import devices
from sagax._src.runtime.array import ConcreteArray
from sagax._src.runtime.distributed import process
from sagax._src.runtime.effect_tokens import effects_barrier
from sagax.experimental.checkify import JaxRuntimeError
from sagax.sharding import NamedSharding, PartitionSpec

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
        raise worded(TypeError("the types that are nodes of pytrees cannot be listed"))

    def __len__(self) -> int:
        raise worded(TypeError("the types that are nodes of pytrees cannot be counted"))


def trace_state_clean() -> bool:
    """Return whether no transformation is being traced."""
    return state.trace.parent is None


def backend_compile_and_load(*_: Any, **__: Any) -> Any:
    """Raise: libraries replace this function to hook into compilation, which sagax refuses."""
    raise worded(
        NotImplementedError("sagax compiles by other ways: see sagax.jit(f).lower(...).compile()")
    )


class ExtendedDType:
    """Base class for dtypes that libraries define in jax's form; sagax has no arrays of them."""


def infer_argnums_and_argnames(
    sig: inspect.Signature, argnums: Any, argnames: Any
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return positions and names of marked parameters, each derived from the other if only one is given."""
    nums = () if argnums is None else tuple(np.ravel(argnums).tolist())
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    named = [p.name for p in sig.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    if argnums is None:
        nums = tuple([i for i, name in enumerate(named) if name in names])
    elif argnames is None:
        names = tuple([named[i] for i in nums if i < len(named)])
    return nums, names


def prefix_errors(
    prefix_tree: Any, full_tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> list[Callable[[str], ValueError]]:
    """Return functions, one for each mismatch, from the name of `prefix_tree` to the error."""

    def error(difference: Any) -> Callable[[str], ValueError]:
        return lambda name: worded(
            ValueError(f"pytree structure error: {dataclasses.replace(difference, left_name=name)}")
        )

    return [*map(error, trees.prefix_mismatch(prefix_tree, full_tree, is_leaf=is_leaf))]


def physical_aval(aval: Any) -> Any:
    """Return the type of the array that stores a value: the key data of PRNG keys; else `aval` itself."""
    if not is_extended(aval.dtype):
        return aval
    stored = aval.dtype
    return core.ShapedArray((*aval.shape, *stored.physical_shape), stored.physical_dtype)


def full_lower(value: Any) -> Any:
    """Return the value itself: tracers here exist only while a transformation needs them."""
    return value


def canonicalize_sharding(
    sharding: NamedSharding | PartitionSpec | None, api_name: str
) -> NamedSharding | None:
    """Return a sharding over an abstract mesh, the current one for a spec; None if there is no mesh.

    Its spec may only name Explicit axes.
    """
    if sharding is None or (isinstance(sharding, NamedSharding) and sharding.mesh.empty):
        return None
    if not isinstance(sharding, NamedSharding | PartitionSpec):
        raise ArgumentError.about(
            api_name, "out_sharding", repr(sharding), "a NamedSharding, a PartitionSpec or None"
        )
    current = get_abstract_mesh()
    if isinstance(sharding, PartitionSpec):
        if current.empty:
            raise ArgumentValueError.about(
                api_name, "out_sharding", repr(sharding), "a NamedSharding, outside of `set_mesh`"
            )
        sharding = NamedSharding(current, sharding)
    own, spec = sharding.mesh.abstract_mesh, sharding.spec
    automatic = current.are_all_axes_auto and own.are_all_axes_auto
    if not (current.empty or automatic or own == current):
        raise ArgumentValueError(
            f"Context mesh {current} should match the mesh of sharding {own} passed to {api_name}",
            function=api_name,
            argument="out_sharding",
            got=repr(sharding),
        )
    used = {*spec.used_axes(), *spec.unreduced, *spec.reduced}
    wrong = [n for n in own.axis_names if n in used and n not in own.explicit_axes]
    if wrong:
        raise ArgumentValueError(
            f"PartitionSpec passed to {api_name} cannot contain axis names that are of type Auto or Manual",
            function=api_name,
            argument="out_sharding",
            got=f"{spec!r}, with {wrong[0]!r} of type {own._name_to_type[wrong[0]].name}",
        )
    return NamedSharding(own, spec)


def supports_inf(dtype: Any) -> bool:
    """Return whether a floating-point dtype has infinities."""
    return bool(np.isinf(np.asarray(np.inf).astype(dtype).astype(np.float32)))


def split_list(values: Sequence[Any], lengths: Sequence[int]) -> list[list[Any]]:
    """Split a sequence into lists of these lengths, and one of the rest."""
    ends = [*itertools.accumulate(lengths)]
    return [list(values[i:j]) for i, j in zip([0, *ends], [*ends, None])]


def unzip2(pairs: Iterable[tuple[Any, Any]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Turn pairs into a pair of tuples."""
    first, second = [], []
    for x, y in pairs:
        first.append(x)
        second.append(y)
    return tuple(first), tuple(second)


class UnfilteredStackTrace(Exception):
    """The cause that jax attaches to an error whose traceback it cut; sagax attaches none."""


class SupportsDType(Protocol):
    """Describe objects that have a dtype."""

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype."""
        ...


class _GlobalState:
    """The state of the process among several, as attributes."""

    @property
    def process_id(self) -> int:
        """The number of this process."""
        return sagax.process_index()

    @property
    def num_processes(self) -> int:
        """The number of processes."""
        return sagax.process_count()

    @property
    def client(self) -> Any:
        """The engine's store of keys and barriers that all processes share; None in a single process."""
        session = process.session()
        return None if session is None else session.client

    initialize = staticmethod(distributed.initialize)
    shutdown = staticmethod(distributed.shutdown)


_TOP = ("sagax",)
_LAX, _NUMPY, _SHARDING = ("sagax.lax",), ("sagax.numpy",), ("sagax.sharding",)

# internal module: the public modules whose names it has
PUBLIC: dict[str, tuple[str, ...]] = {
    "_src.ad_checkpoint": ("sagax.ad_checkpoint",),
    "_src.ad_util": ("sagax.interpreters.ad",),
    "_src.api": _TOP,
    "_src.api_util": ("sagax.api_util",),
    "_src.array": _TOP,
    "_src.checkify": ("sagax.experimental.checkify",),
    "_src.core": ("sagax.core", "sagax.extend.core"),
    "_src.custom_batching": ("sagax.custom_batching",),
    "_src.custom_derivatives": ("sagax.custom_derivatives",),
    "_src.debugging": ("sagax.debug",),
    "_src.dtypes": ("sagax.dtypes",),
    "_src.errors": ("sagax.errors",),
    "_src.flatten_util": ("sagax.flatten_util",),
    "_src.interpreters.ad": ("sagax.interpreters.ad",),
    "_src.interpreters.batching": ("sagax.interpreters.batching",),
    "_src.interpreters.mlir": ("sagax.interpreters.mlir",),
    "_src.interpreters.partial_eval": ("sagax.interpreters.partial_eval",),
    "_src.interpreters.pxla": ("sagax.interpreters.pxla",),
    "_src.lax": (),
    "_src.lax.control_flow": _LAX,
    "_src.lax.lax": _LAX,
    "_src.lax.linalg": ("sagax.lax.linalg",),
    "_src.lax.parallel": _LAX,
    "_src.lax.slicing": _LAX,
    "_src.linear_util": ("sagax.extend.linear_util",),
    "_src.mesh": _SHARDING,
    "_src.named_sharding": _SHARDING,
    "_src.nn": (),
    "_src.nn.functions": ("sagax.nn",),
    "_src.nn.initializers": ("sagax.nn.initializers",),
    "_src.numpy": (),
    "_src.numpy.lax_numpy": _NUMPY,
    "_src.numpy.linalg": ("sagax.numpy.linalg",),
    "_src.numpy.reductions": _NUMPY,
    "_src.numpy.ufuncs": _NUMPY,
    "_src.numpy.util": (),
    "_src.partition_spec": _SHARDING,
    "_src.pjit": ("sagax.experimental.pjit", "sagax.sharding"),
    "_src.prng": ("sagax.extend.random",),
    "_src.random": ("sagax.random",),
    "_src.scipy": (),
    "_src.scipy.linalg": ("sagax.scipy.linalg",),
    "_src.scipy.special": ("sagax.scipy.special",),
    "_src.sharding": _SHARDING,
    "_src.sharding_impls": _SHARDING,
    "_src.source_info_util": ("sagax.extend.source_info_util",),
    "_src.stages": ("sagax.stages",),
    "_src.state": (),
    "_src.state.types": ("sagax.ref",),
    "_src.tree_util": ("sagax.tree_util",),
    "_src.typing": ("sagax.typing",),
    "_src.xla_bridge": ("sagax.extend.backend",),
}

INTERNALS: dict[str, dict[str, Any]] = {
    "_src": {},
    "version": {"__version__": JAX_VERSION, "__version_info__": JAX_VERSION_INFO},
    "_src.ad_util": {"stop_gradient_p": stop_gradient_p},
    "_src.api_util": {"infer_argnums_and_argnames": infer_argnums_and_argnames},
    "_src.array": {"ArrayImpl": ConcreteArray},
    "_src.checkify": {"JaxException": JaxRuntimeError},
    "_src.compiler": {"backend_compile_and_load": backend_compile_and_load},
    "_src.config": {"config": sagax.config},
    "_src.core": {
        "full_lower": full_lower,
        "physical_aval": physical_aval,
        "trace_state_clean": trace_state_clean,
    },
    "_src.dispatch": {"wait_for_tokens": effects_barrier},
    "_src.distributed": {"global_state": _GlobalState()},
    "_src.dtypes": {
        "DType": np.dtype,
        "ExtendedDType": ExtendedDType,
        "supports_inf": supports_inf,
    },
    "_src.interpreters": {},
    "_src.pjit": {"jit_p": jit_p},
    "_src.sharding_impls": {"canonicalize_sharding": canonicalize_sharding},
    "_src.traceback_util": {
        "UnfilteredStackTrace": UnfilteredStackTrace,
        "_exclude_paths": _exclude_paths,
        "api_boundary": api_boundary,
        "include_frame": include_frame,
        "register_exclusion": _exclude_paths.append,
    },
    "_src.tree_util": {
        "BuiltInKeyEntry": trees.KeyEntry,
        "_registry": _NodeTypes(),
        "flatten_one_level": trees.flatten_one_level,
        "prefix_errors": prefix_errors,
    },
    "_src.typing": {"DType": np.dtype, "Shape": Sequence[int], "SupportsDType": SupportsDType},
    "_src.util": {
        "safe_map": api_util.safe_map,
        "safe_zip": api_util.safe_zip,
        "split_list": split_list,
        "unzip2": unzip2,
    },
    "_src.xla_bridge": {"_backends": devices._backends},
}
INTERNALS = {module: INTERNALS.get(module, {}) for module in sorted({*INTERNALS, *PUBLIC})}


def find_name(module: str, name: str) -> Any:
    """Return what a name of an internal module means here; raise AttributeError if it has no meaning."""
    if not name.startswith("_"):
        for public in PUBLIC.get(module, ()):
            found = getattr(importlib.import_module(public), name, _MISSING)
            if found is not _MISSING:
                return found
    raise AttributeError(name)


_MISSING = object()
