"""The engine adapter: what sagax asks of XLA goes through this file, the only one to import jaxlib.

It knows nothing of the rest of sagax and starts nothing when it is imported: no client, no thread,
no MLIR context. What differs between the supported versions of jaxlib is settled here. Nothing that
can crash the process or give garbage (a wrong count, shape or type, a missing callback) is passed
on without a check; the one exception is the hot path, `Executable.run`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import importlib
import importlib.util
import io
import itertools
import os
import pathlib
import platform as host_platform
import re
import sys
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

# XLA writes a line per device on stderr, unless it is told otherwise before it is loaded.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import jaxlib.version
import jaxlib.xla_client as _xc

# jaxlib's extension modules have no stubs: to a type checker everything in them is Any.
_jax: Any = importlib.import_module("jaxlib._jax")

engine_version_text: str = jaxlib.version.__version__


def _version_numbers(text: str) -> tuple[int, int, int]:
    major, minor, patch = (int(digits) for digits in re.findall(r"\d+", text)[:3])
    return major, minor, patch


engine_version: tuple[int, int, int] = _version_numbers(engine_version_text)
_BEFORE_0_11 = engine_version < (0, 11, 0)
# Whether XLA for the CPU keeps an optimization barrier until it merges operations; before 0.11 it drops it.
keeps_barriers: bool = not _BEFORE_0_11
_BEFORE_0_12 = engine_version < (0, 12, 0)

EngineError = _jax.JaxRuntimeError
Client = _jax.Client
Device = _jax.Device
Buffer = _jax.ArrayImpl
PyTreeDef = _jax.pytree.PyTreeDef


class DeletedBufferError(RuntimeError):
    """A buffer was used after it had been deleted or donated."""


# --- living without jax ---------------------------------------------------------------------------

# What jaxlib's C++ imports by itself, in the calls that `no_jax` guards.
_JAX_NAMES = ("jax", "jax._src.literals", "jax._src.named_sharding", "jax._src.sharding_impls")
_no_jax_lock = threading.RLock()


@contextlib.contextmanager
def no_jax() -> Iterator[None]:
    """Keeps jaxlib's hidden `import jax` from finding any jax but one that the program imported.

    A few functions of jaxlib import jax behind the caller's back. A `None` in `sys.modules` makes
    such an import fail at once, before any finder is asked, and jaxlib copes with that. The cases:

    - jax is not imported: its name is blocked for the duration. Else an installed jax would be
      loaded (seconds), or a finder that serves sagax under the name `jax` would be asked for it.
    - `sys.modules["jax"]` is an alias of sagax (it has an attribute `__sagax_alias__`): the alias,
      with the submodules that jaxlib asks for, is hidden for the duration and then put back.
    - the real jax is there: nothing is done, and jaxlib finds what it expects.

    An import of jax in another thread would fail within the window. So the window is kept short,
    and calls of jaxlib that need no guard are preferred everywhere.
    """
    with _no_jax_lock:
        present = sys.modules.get("jax")
        if present is not None and not hasattr(present, "__sagax_alias__"):
            yield
            return
        hidden = {name: sys.modules[name] for name in _JAX_NAMES if name in sys.modules}
        blocked: dict[str, Any] = dict.fromkeys(["jax", *hidden])
        sys.modules.update(blocked)
        try:
            yield
        finally:
            for name in blocked:
                if sys.modules.get(name) is None:
                    sys.modules.pop(name, None)
                    if name in hidden:
                        sys.modules[name] = hidden[name]


# --- pytrees --------------------------------------------------------------------------------------

SequenceKey = _jax.pytree.SequenceKey
DictKey = _jax.pytree.DictKey
GetAttrKey = _jax.pytree.GetAttrKey
FlattenedIndexKey = _jax.pytree.FlattenedIndexKey


def new_tree_registry(*, none_is_leaf: bool = False) -> Any:
    """A new registry of pytree nodes, shared with nobody; it has tuple, list, dict and None."""
    return _jax._PyTreeRegistry(
        enable_none=not none_is_leaf,
        enable_tuple=True,
        enable_namedtuple=True,
        enable_list=True,
        enable_dict=True,
    )


def treedef_tuple(registry: Any, treedefs: Iterable[Any]) -> Any:
    """The treedef of a tuple whose items have the given treedefs."""
    return _jax.pytree.treedef_tuple(registry, list(treedefs))


# --- tracebacks -----------------------------------------------------------------------------------

Traceback = _jax.Traceback
# The current stack, cheaply: code objects and offsets. None where tracebacks are switched off.
get_traceback: Callable[[], Any] = _jax.Traceback.get_traceback
# A context manager: stacks end at the function that entered it, which is left out.
TracebackScope = _jax.TracebackScope


class Frame(NamedTuple):
    """One place on a stack. Lines count from 1, columns from 0."""

    file_name: str
    function_name: str
    line: int
    column: int
    end_line: int
    end_column: int


def traceback_frames(traceback: Any) -> list[Frame]:
    """The frames of a traceback, innermost first, with exact columns; none for None."""
    if traceback is None:
        return []
    locate = _jax.Traceback.code_addr2location
    return [
        Frame(code.co_filename, code.co_name, *locate(code, offset))
        for code, offset in zip(*traceback.raw_frames())
    ]


def python_traceback(frames: Iterable[Frame]) -> types.TracebackType | None:
    """A traceback of the frames (innermost first) for `error.with_traceback`; None for none."""
    return _jax.Traceback.traceback_from_frames(
        [_jax.Frame(f.file_name, f.function_name, f.line, f.line) for f in frames]
    )


# --- custom-call targets --------------------------------------------------------------------------


def register_target(
    name: str, capsule: Any, platform: str = "cpu", api_version: int = 1, **more: Any
) -> None:
    """Makes a native function callable from programs; the same one once more is no error.

    `api_version` 1 is XLA's typed FFI, 0 the old untyped form.
    """
    _xc.register_custom_call_target(
        name, capsule, platform=platform, api_version=api_version, **more
    )


def register_type(name: str, registration: dict, platform: str = "cpu") -> None:
    """Makes a type known of which native functions keep a state: capsules by 'type_id', 'type_info'."""
    _xc.register_custom_type(name, registration, platform=platform)


def register_batch_partitionable(name: str) -> None:
    """Lets calls of a native function be divided among devices along leading dimensions."""
    _xc.register_custom_call_as_batch_partitionable(name)


# What a partitioner is told of an operand or result: shape, dtype, and the text of its sharding.
Divided = tuple[tuple[int, ...], np.dtype, str]
Partition = Callable[[str, list[Divided], list[Divided]], tuple[str, list[str], list[str]]]
# What partitioners raised, of which XLA keeps the text only, by the `backend_config` of the call.
_partition_failures: dict[str, Exception] = {}


def register_partitioner(name: str, partition: Partition) -> None:
    """Lets Python divide calls of the target `name` among devices.

    `partition` gets the calls' `backend_config`, and gives the module that each device runs on its parts and the
    shardings that operands and results then have.
    """

    def divided(shape: Any, sharding: Any) -> Divided:
        return tuple(shape.dimensions()), shape.numpy_dtype(), str(sharding)

    def packed(shape: Any, found: list[Any]) -> Any:
        return _xc.HloSharding.tuple_sharding(shape, found) if shape.is_tuple() else found[0]

    def on_partition(shapes: Any, given: Any, shape: Any, result: Any, key: bytes) -> Any:
        several = shape.is_tuple()
        outs = zip(shape.tuple_shapes(), result.tuple_elements()) if several else [(shape, result)]
        try:
            operands = list(map(divided, shapes, given))
            text, ins, found = partition(key.decode(), operands, [divided(*out) for out in outs])
        except Exception as error:
            _partition_failures[key.decode()] = error
            raise
        places = list(map(_parse_sharding, found))
        return text.encode(), list(map(_parse_sharding, ins)), packed(shape, places)

    def on_infer(shapes: Any, given: Any, shape: Any, key: bytes) -> Any:
        count = len(shape.tuple_shapes()) if shape.is_tuple() else 1
        return packed(shape, [_REPLICATED] * count)  # how shardings follow, the sdy dialect says

    _xc.register_custom_call_partitioner(
        name,
        lambda sharding, shape, key: sharding,
        on_partition,
        on_infer,
        can_side_effecting_have_replicated_sharding=True,
    )


def include_dir() -> str:
    """The folder of the C++ headers for native functions."""
    return str(pathlib.Path(jaxlib.version.__file__).parent / "include")


def _register_module(module: Any, platform: str) -> None:
    for name, capsule, api_version in module.registrations()[platform]:
        register_target(name, capsule, platform, api_version)
    for name in getattr(module, "batch_partitionable_targets", list)():
        _xc.register_custom_call_as_batch_partitionable(name)


@functools.cache
def register_cpu_kernels() -> None:
    """Makes LAPACK and the other native functions for the CPU callable; once a process.

    To be called before a program that uses them is run, and not without need: it loads SciPy.
    """
    from jaxlib import cpu_sparse, lapack

    _register_module(lapack, "cpu")
    _register_module(cpu_sparse, "cpu")
    # Takes the routines from SciPy; before that the kernels are null pointers.
    importlib.import_module("jaxlib.cpu._lapack").initialize()


# --- clients --------------------------------------------------------------------------------------


@functools.cache
def _prepare_process() -> None:
    importlib.import_module("jaxlib.cpu_feature_guard").check_cpu_features()
    # What XLA's own threads let go of waits in a list until somebody who holds the GIL frees it.
    gc.callbacks.append(_collect_garbage)


def _collect_garbage(phase: str, info: Mapping[str, int]) -> None:
    if phase == "stop":
        _jax.collect_garbage()


def cpu_client(
    num_devices: int | None = None,
    *,
    distributed: Any = None,
    node_id: int = 0,
    num_nodes: int = 1,
    collectives: Any = None,
) -> Any:
    """A new client of the host CPU with `num_devices` devices (None: as XLA_FLAGS says, else 1).

    Where several processes work together: a connected `distributed_client`, this process' number
    and how many there are, and `gloo_collectives`.
    """
    if num_devices is not None and num_devices < 1:
        raise ValueError(f"cpu_client: num_devices must be at least 1, got {num_devices}")
    _prepare_process()
    return _xc.make_cpu_client(
        num_devices=num_devices,
        distributed_client=distributed,
        node_id=node_id,
        num_nodes=num_nodes,
        collectives=collectives,
    )


def platform_fingerprint(client: Any) -> str:
    """All that a serialised program depends on besides its module and options, as one text.

    The engine itself loads the programs of another version or processor without complaint.
    """
    device = client.local_devices()[0]
    parts = [engine_version_text, client.platform, client.platform_version, device.device_kind]
    if client.platform == "cpu":
        parts += [host_platform.machine(), *_cpu_features()]
    return "\n".join(parts)


def _cpu_features() -> list[str]:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return [host_platform.processor()]
    fields = dict(re.split(r"\s*:\s*", line, maxsplit=1) for line in lines if ":" in line)
    return [fields.get(name, "") for name in ("model name", "flags", "CPU part", "Features")]


# --- CUDA -----------------------------------------------------------------------------------------


class CudaUnavailable(RuntimeError):
    """No CUDA client can be had: `step` says at what, `detail` why, `advice` what to do."""

    def __init__(self, step: str, detail: str, advice: str) -> None:
        self.step, self.detail, self.advice = step, detail, advice
        super().__init__(f"no CUDA device can be used: {step}: {detail}. {advice}")


class CudaPlugin(NamedTuple):
    """The installed wheels that bring XLA for CUDA (jaxlib's companions: they need no jax)."""

    cuda: int
    library: pathlib.Path
    support_package: str
    version: str


class CudaLibrary(NamedTuple):
    """A library of NVIDIA's that XLA loads. `path` None: no wheel has it, the system may."""

    name: str
    path: pathlib.Path | None


# In the order in which they must be loaded: the package under `nvidia`, and libraries in it.
_CUDA_LIBRARIES: dict[int, list[tuple[str, list[str]]]] = {
    13: [
        ("cu13", ["libcudart.so.13", "libnvrtc.so.13", "libcublas.so.13", "libcublasLt.so.13"]),
        ("nccl", ["libnccl.so.2"]),
        ("cu13", ["libcupti.so.13", "libcusparse.so.12", "libcusolver.so.12", "libcufft.so.12"]),
        ("nvshmem", ["libnvshmem_host.so.3"]),
        ("cudnn", ["libcudnn.so.9"]),
    ],
    12: [
        ("cuda_runtime", ["libcudart.so.12"]),
        ("cuda_nvrtc", ["libnvrtc.so.12"]),
        ("cublas", ["libcublas.so.12", "libcublasLt.so.12"]),
        ("nccl", ["libnccl.so.2"]),
        ("cuda_cupti", ["libcupti.so.12"]),
        ("cusparse", ["libcusparse.so.12"]),
        ("cusolver", ["libcusolver.so.11"]),
        ("cufft", ["libcufft.so.11"]),
        ("nvshmem", ["libnvshmem_host.so.3"]),
        ("cudnn", ["libcudnn.so.9"]),
    ],
}


def _package_path(name: str) -> pathlib.Path | None:
    """Where a package lies; it is not imported (the plugin's own __init__ would import jax)."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # not even its parent is there
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return pathlib.Path(next(iter(spec.submodule_search_locations)))


def find_cuda_plugins() -> Iterator[CudaPlugin]:
    """The installed CUDA plugins, that of the newest CUDA first."""
    for cuda in sorted(_CUDA_LIBRARIES, reverse=True):
        folder = _package_path(f"jax_plugins.xla_cuda{cuda}")
        if folder is not None and (folder / "xla_cuda_plugin.so").exists():
            import importlib.metadata  # 15 ms that only machines with a plugin need

            try:
                version = importlib.metadata.version(f"jax-cuda{cuda}-plugin")
            except importlib.metadata.PackageNotFoundError:
                version = "unknown"
            support = f"jax_cuda{cuda}_plugin"
            yield CudaPlugin(cuda, folder / "xla_cuda_plugin.so", support, version)


def find_cuda_plugin() -> CudaPlugin | None:
    """The installed CUDA plugin, that of the newest CUDA first; None if there is none."""
    return next(find_cuda_plugins(), None)


def cuda_plugin_available() -> bool:
    """Whether the wheels are installed that XLA needs for CUDA (a GPU may still be missing)."""
    return find_cuda_plugin() is not None


def cuda_libraries(plugin: CudaPlugin) -> list[CudaLibrary]:
    """NVIDIA's libraries that the plugin needs, and where the wheels have them."""
    found = []
    for package, names in _CUDA_LIBRARIES[plugin.cuda]:
        root = _package_path(f"nvidia.{package}")
        for name in names:
            path = root / "lib" / name if root else None
            found.append(CudaLibrary(name, path if path and path.exists() else None))
    return found


def check_cuda_plugin() -> CudaPlugin:
    """The CUDA plugin that fits this jaxlib. Raises CudaUnavailable."""
    plugin = find_cuda_plugin()
    install = f'pip install "jax-cuda13-plugin[with-cuda]=={engine_version_text}"'
    if plugin is None:
        raise CudaUnavailable("finding the plugin", "it is not installed", f"Try: {install}")
    # jaxlib's own modules ignore a plugin of another version, and programs then lack kernels.
    if plugin.version != engine_version_text:
        detail = f"its version is {plugin.version}, that of jaxlib {engine_version_text}"
        advice = f"They must be the same. Try: {install}"
        raise CudaUnavailable("checking the plugin", detail, advice)
    return plugin


def load_cuda_libraries(plugin: CudaPlugin) -> None:
    """Loads NVIDIA's libraries from their wheels, for XLA to find. Raises CudaUnavailable."""
    for name, path in cuda_libraries(plugin):
        if path is not None:
            try:
                ctypes.cdll.LoadLibrary(str(path))
            except OSError as error:
                advice = f"Reinstall the nvidia wheels for CUDA {plugin.cuda}."
                raise CudaUnavailable(f"loading {name}", str(error), advice) from error


@functools.cache
def load_cuda_plugin(plugin: CudaPlugin) -> None:
    """Loads the plugin and gives XLA its custom calls; once a process. Raises CudaUnavailable."""
    try:
        # jax, if the program uses it too, may have loaded and registered it already.
        if not _xc.pjrt_plugin_loaded("cuda"):
            _register_cuda_extension(plugin)
        for name in ("gpu_linalg", "gpu_prng", "gpu_solver", "gpu_sparse"):
            _register_module(importlib.import_module(f"jaxlib.{name}"), "CUDA")
    except (ImportError, EngineError) as error:
        advice = f"Reinstall jax-cuda{plugin.cuda}-plugin and jax-cuda{plugin.cuda}-pjrt."
        raise CudaUnavailable("loading the plugin", str(error), advice) from error


def _register_cuda_extension(plugin: CudaPlugin) -> None:
    extension = importlib.import_module(f"{plugin.support_package}.cuda_plugin_extension")
    c_api = _xc.load_pjrt_plugin_dynamically("cuda", str(plugin.library))
    on_type = functools.partial(extension.register_custom_type, c_api)
    on_target = functools.partial(extension.register_custom_call_target, c_api)
    _xc.register_custom_type_handler("CUDA", on_type)
    _xc.register_custom_call_handler("CUDA", on_target)
    for name, value in extension.ffi_types().items():
        _xc.register_custom_type(name, value, platform="CUDA")
    for name, value in extension.ffi_handlers().items():
        register_target(name, value, "CUDA")
    _profiler().register_plugin_profiler(c_api)


def cuda_client(options: Mapping[str, Any] | None = None, *, distributed: Any = None) -> Any:
    """A new client of this machine's NVIDIA GPUs. Raises CudaUnavailable, which names the step.

    `options` (memory_fraction, preallocate, allocator, visible_devices, node_id, num_nodes, ...)
    are added to what the environment says (`XLA_CLIENT_MEM_FRACTION` and the like).
    """
    plugin = check_cuda_plugin()
    load_cuda_libraries(plugin)
    load_cuda_plugin(plugin)
    _prepare_process()
    try:
        if not _xc.pjrt_plugin_initialized("cuda"):
            _xc.initialize_pjrt_plugin("cuda")
        merged = {**_xc.generate_pjrt_gpu_plugin_options(), **(options or {})}
        return _xc.make_c_api_client("cuda", merged, distributed)
    except EngineError as error:
        advice = "See that `nvidia-smi` lists a GPU and that its driver is recent enough."
        raise CudaUnavailable("starting the client", error.error_message, advice) from error


# --- avals and shardings as jaxlib asks for them --------------------------------------------------


class EngineAval:
    """What jaxlib reads of an array's type. It never compares it with the data: that is on us."""

    __slots__ = ("dtype", "shape", "sharding", "weak_type")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.shape = shape
        self.dtype = dtype
        self.weak_type = False

    def __repr__(self) -> str:
        return _describe(self.shape, self.dtype)


def _describe(shape: Iterable[int], dtype: np.dtype) -> str:
    return f"{dtype}[{','.join(map(str, shape))}]"


class EngineSharding:
    """Devices, and how an array lies on them, as jaxlib asks for it.

    A plain class on purpose: jax patches properties onto jaxlib's own sharding classes, and so onto
    all that is derived from them.
    """

    __slots__ = ("__weakref__", "_internal_device_list", "devices", "hlo_sharding", "memory_kind")

    def __init__(
        self, devices: Iterable[Any], hlo_sharding: Any = None, memory_kind: str | None = None
    ) -> None:
        self.memory_kind = memory_kind
        self.devices = tuple(devices)
        self.hlo_sharding = _REPLICATED if hlo_sharding is None else hlo_sharding
        self._internal_device_list = _xc.DeviceList(self.devices)

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return self.hlo_sharding

    def __repr__(self) -> str:
        return f"EngineSharding({list(self.devices)}, {self.hlo_sharding})"


_REPLICATED = _xc.HloSharding.replicate()
_single_device_shardings: dict[Any, EngineSharding] = {}


def _on(device: Any, memory_kind: str | None = None) -> EngineSharding:
    if memory_kind is not None:
        return EngineSharding([device], None, memory_kind)
    sharding = _single_device_shardings.get(device)
    if sharding is None:
        sharding = _single_device_shardings[device] = EngineSharding([device])
    return sharding


def _parse_sharding(text: str | None) -> Any:
    if text is None:
        return _REPLICATED
    try:
        return _xc.HloSharding.from_string(text)
    except EngineError as error:
        raise ValueError(f"not the text of a sharding: {text!r} ({error})") from None


def shard_indices(
    sharding_text: str | None, shape: Sequence[int], num_devices: int
) -> list[tuple[slice, ...]]:
    """The part of an array that lies on each device, by position in the list of devices.

    `sharding_text` is XLA's notation, such as `{devices=[8,1]<=[8]}`; None means replicated.
    """
    return _shard_indices(_parse_sharding(sharding_text), tuple(shape), num_devices)


def _shard_indices(sharding: Any, shape: tuple[int, ...], num_devices: int) -> list[Any]:
    whole = tuple(slice(0, size) for size in shape)
    if sharding.is_replicated() or num_devices == 1:
        return [whole] * num_devices
    # Dimensions of the tile assignment beyond the array's own stand for copies: they cut nothing.
    tiles = tuple(sharding.tile_assignment_dimensions())
    positions = sharding.tile_assignment_devices()
    if len(positions) != num_devices or len(tiles) < len(shape):
        raise ValueError(
            f"sharding {sharding} does not fit an array of shape {shape} on {num_devices} devices"
        )
    for axis, (size, parts) in enumerate(zip(shape, tiles)):
        if size % parts:
            raise ValueError(
                f"sharding {sharding} cuts axis {axis} of shape {shape} into {parts} parts, "
                f"which does not divide its size {size}"
            )
    steps = [size // parts for size, parts in zip(shape, tiles)]
    indices = [whole] * num_devices
    for position, tile in zip(positions, np.ndindex(*tiles)):
        indices[position] = tuple(slice(i * step, (i + 1) * step) for i, step in zip(tile, steps))
    return indices


def sharding_tiles(text: str, num_devices: int, ndim: int) -> tuple[tuple, tuple]:
    """Into how many parts each dimension is cut, and each device's part, by position."""
    sharding = _parse_sharding(text)
    if sharding.is_replicated() or num_devices == 1:
        return (1,) * ndim, ((0,) * ndim,) * num_devices
    parts = tuple(sharding.tile_assignment_dimensions())
    places = zip(sharding.tile_assignment_devices(), np.ndindex(*parts))
    return parts[:ndim], tuple([tile[:ndim] for _, tile in sorted(places)])


# --- placing and reading arrays -------------------------------------------------------------------

_SHARE = _jax.HostBufferSemantics.ZERO_COPY
_COPY = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
_batched_device_put = _jax.batched_device_put


def put(
    x: Any,
    device: Any,
    *,
    shape: tuple[int, ...] | None = None,
    dtype: np.dtype | None = None,
    share: bool,
    memory_kind: str | None = None,
) -> Any:
    """A buffer on `device` with the values of the NumPy array `x`, in its default kind of memory or another.

    With `share=True` it may use x's own memory: for an array that nobody will change any more. With
    `share=False` a later change of x never shows. `shape` and `dtype`, where given, say what x is
    to be reshaped and converted to. Raises TypeError for element types that XLA does not have.
    """
    if type(x) is not np.ndarray:
        x = np.asarray(x)
    if dtype is not None and x.dtype != dtype:
        x = x.astype(dtype)
    if shape is not None and x.shape != shape:
        x = x.reshape(shape)
    own = x.dtype
    if not own.isnative:  # XLA would take the bytes as they stand
        own = own.newbyteorder("=")
        x = x.astype(own)
    try:
        return _batched_device_put(
            EngineAval(x.shape, own),
            _on(device, memory_kind),
            [x],
            [device],
            True,  # committed: a flag that jaxlib does not look at
            False,
            _SHARE if share else _COPY,
            enable_x64=True,
        )
    except EngineError as error:
        if "Unknown NumPy dtype" not in str(error):
            raise
    raise TypeError(f"an array of dtype {own} cannot be put on a device: XLA has no such type")


def _local(devices: Sequence[Any], items: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The devices of this process, each with its item."""
    here = devices[0].client.process_index()
    return [(d, item) for d, item in zip(devices, items) if d.process_index == here]


@functools.lru_cache(maxsize=1024)
def _division(
    devices: tuple, text: str | None, shape: tuple[int, ...], memory_kind: str | None
) -> tuple[EngineSharding, list[tuple[Any, tuple[int, ...]]]]:
    """The sharding of arrays of a shape, and the local devices with the shapes of their parts."""
    sharding = EngineSharding(devices, _parse_sharding(text), memory_kind)
    indices = _shard_indices(sharding.hlo_sharding, shape, len(devices))
    local = _local(devices, indices)
    return sharding, [(d, tuple([cut.stop - cut.start for cut in index])) for d, index in local]


def put_sharded(
    shards: Sequence[Any],
    devices: Sequence[Any],
    shape: Sequence[int],
    dtype: Any,
    sharding_text: str | None = None,
    *,
    share: bool = False,
    memory_kind: str | None = None,
) -> Any:
    """A buffer that lies on several devices, as an array of `shape` cut as the text says.

    `devices` are those of all processes; `shards` holds, in the same order, the parts (NumPy arrays
    or single-device buffers) for the devices of this process. Without a `sharding_text` each device
    has an array of `shape`. Raises ValueError if the number, shape or dtype of the shards is wrong.
    """
    aval = EngineAval(tuple(shape), np.dtype(dtype))
    sharding, local = _division(tuple(devices), sharding_text, aval.shape, memory_kind)
    if len(shards) != len(local):
        raise ValueError(f"put_sharded: {len(shards)} shards for {len(local)} local devices")
    parts = []
    for part, (device, wanted) in zip(shards, local):
        given = part.aval if isinstance(part, Buffer) else np.asarray(part)
        if tuple(given.shape) != wanted or given.dtype != aval.dtype:
            raise ValueError(
                f"put_sharded: the shard for {device} must be {_describe(wanted, aval.dtype)}, "
                f"got {_describe(given.shape, given.dtype)}"
            )
        if not isinstance(part, Buffer):
            part = put(part, device, share=share, memory_kind=memory_kind)
        elif device_of(part) != device:
            part = copy_to_device(part, device)
        parts.append(part)
    # One by one: given several host arrays at once, jaxlib takes one for all devices that should
    # hold the same values, and fails for some layouts of which parts are copies.
    return Buffer(aval, sharding, parts, True, _skip_checks=True)


def to_numpy(buffer: Any) -> np.ndarray:
    """The values as a read-only NumPy array, waited for; a view of the memory where possible.

    An array on several devices is gathered. Raises DeletedBufferError for a deleted buffer, and if
    a callback failed in the program that should have made the values, the callback's exception.
    """
    if _wait is not None:
        _wait([buffer])
    try:
        # Not np.asarray(buffer): without the buffer protocol that gives an object array, no error.
        return np.asarray(memoryview(buffer))
    except BufferError:
        # A type that the protocol does not know, several devices, deleted, or without values.
        pass
    return _to_numpy_by_copy(buffer)


def _to_numpy_by_copy(buffer: Any) -> np.ndarray:
    if buffer.is_deleted():
        raise _deleted(buffer)
    try:
        if not _BEFORE_0_11:
            array = buffer._to_np_array_did_copy()[0]
        elif len(devices_of(buffer)) == 1:
            with no_jax():
                array = buffer._single_device_array_to_np_array_did_copy()[0]
        else:
            array = _gather(buffer)
    except EngineError as error:
        failure = error
    else:
        array = array.view()
        array.flags.writeable = False
        return array
    raise original_error(failure)


def _gather(buffer: Any) -> np.ndarray:
    shape, devices = buffer.aval.shape, devices_of(buffer)
    indices = _shard_indices(buffer._sharding.hlo_sharding, shape, len(devices))
    array = np.empty(shape, buffer.aval.dtype)
    for shard, (_, index) in zip(shards(buffer), _local(devices, indices)):
        array[index] = to_numpy(shard)
    return array


def _deleted(buffer: Any, what: str = "buffer") -> DeletedBufferError:
    text = _describe(buffer.aval.shape, buffer.aval.dtype)
    return DeletedBufferError(f"{what} ({text}) was used after it had been deleted or donated")


def is_deleted(buffer: Any) -> bool:
    """Whether the buffer's memory was given back, by `delete` or by donation."""
    return buffer.is_deleted()


def delete(buffer: Any) -> None:
    """Gives the buffer's memory back now."""
    buffer.delete()


def is_ready(buffer: Any) -> bool:
    """Whether reading the buffer would not have to wait. Raises DeletedBufferError."""
    if buffer.is_deleted():
        raise _deleted(buffer)
    return buffer.is_ready()


def block(buffer: Any) -> None:
    """Waits until the values are there. Raises what went wrong in making them."""
    if _wait is not None:
        _wait([buffer])
    try:
        buffer.block_until_ready()
    except EngineError:
        block_all([buffer])  # finds out what it was


def block_all(buffers: Sequence[Any]) -> None:
    """Waits until the values of all buffers are there. Raises what went wrong in making them."""
    if _wait is not None:
        _wait(buffers)
    try:
        _jax.batched_block_until_ready(buffers)
        return
    except EngineError as error:
        failure = error
    for i, buffer in enumerate(buffers):
        if buffer.is_deleted():
            raise _deleted(buffer, f"buffer {i}")
    raise original_error(failure)


def devices_of(buffer: Any) -> tuple[Any, ...]:
    """The devices that the buffer lies on."""
    return buffer._sharding.devices


def device_of(buffer: Any) -> Any:
    """The device that the buffer lies on; the first of several."""
    return buffer._sharding.devices[0]


def shards(buffer: Any) -> list[Any]:
    """The single-device buffers, on the devices of this process, that the buffer is made of."""
    if buffer.is_deleted():
        raise _deleted(buffer)
    devices, aval = devices_of(buffer), buffer.aval
    if len(devices) == 1:
        return [buffer]
    local = _local(devices, _shard_indices(buffer._sharding.hlo_sharding, aval.shape, len(devices)))
    with no_jax():
        parts = buffer._arrays
    result = []
    for part, (device, index) in zip(parts, local):
        part_aval = EngineAval(tuple(cut.stop - cut.start for cut in index), aval.dtype)
        where = _on(device, buffer._sharding.memory_kind)
        result.append(part._rewrap_with_aval_and_sharding(part_aval, where))
    return result


def copy_to_device(buffer: Any, device: Any) -> Any:
    """A copy of a single-device buffer on another device of the same client."""
    if buffer.is_deleted():
        raise _deleted(buffer)
    return _jax.batched_copy_array_to_devices_with_sharding(
        [buffer],
        [_xc.DeviceList((device,))],
        [_on(device)],
        [_jax.ArrayCopySemantics.ALWAYS_COPY],
    )[0]


def reordered(buffer: Any, devices: Sequence[Any]) -> Any:
    """The buffer with the same parts on the same devices, these in another order."""
    old, aval = devices_of(buffer), buffer.aval
    tiles = buffer._sharding.hlo_sharding
    if not tiles.is_replicated():
        where = {d: i for i, d in enumerate(devices)}
        renamed = [where[old[i]] for i in tiles.tile_assignment_devices()]
        shape = list(tiles.tile_assignment_dimensions())
        copies = " last_tile_dim_replicate" if len(shape) > len(aval.shape) else ""
        text = f"{{devices=[{','.join(map(str, shape))}]{','.join(map(str, renamed))}{copies}}}"
        tiles = _parse_sharding(text)
    sharding = EngineSharding(devices, tiles, buffer._sharding.memory_kind)
    local = [d for d, _ in _local(tuple(devices), devices)]
    parts = {device_of(part): part for part in shards(buffer)}
    return Buffer(aval, sharding, [parts[d] for d in local], True, _skip_checks=True)


def rebuilt(buffer: Any, parts: Sequence[Any]) -> Any:
    """A buffer like `buffer` of other parts: single-device buffers on the same devices."""
    return Buffer(buffer.aval, buffer._sharding, list(parts), True, _skip_checks=True)


def start_copy_to_host(buffer: Any) -> None:
    """Begins to copy the values to the host, so that `to_numpy` finds them there."""
    if _BEFORE_0_11:
        with no_jax():
            buffer._copy_single_device_array_to_host_async()
    else:
        _jax.batched_copy_to_host_async([buffer])


def make_error_buffer(
    client: Any, shape: Sequence[int], dtype: Any, device: Any, message: str
) -> Any:
    """A buffer that never gets values: using it raises EngineError with the message. For tests."""
    aval = EngineAval(tuple(shape), np.dtype(dtype))
    aval.sharding = _on(device)
    return _jax._make_error_array(client, aval, message)


# --- host callbacks -------------------------------------------------------------------------------

ResultType = tuple[Sequence[int], Any] | None
"""The (shape, dtype) of a result; None for a token."""

Callback = tuple[Callable[..., Any], Sequence[ResultType]]
"""A function of NumPy arrays, and what it returns a tuple of. It never sees tokens."""


class CallbackError(ValueError):
    """A host callback returned something else than was declared."""


_failure_numbers = itertools.count()
_failures: OrderedDict[int, BaseException] = OrderedDict()
# An exception keeps its frames alive, and perhaps nobody ever comes to fetch it.
_MAX_FAILURES = 16


def _guarded(function: Callable[..., Any], results: Sequence[ResultType]) -> Callable[..., Any]:
    """The callback as jaxlib is to call it: it returns exactly what was declared, or raises.

    XLA takes as many bytes from the results as it expects: from anything else it would read
    foreign memory, or crash.
    """
    wanted = [(tuple(result[0]), np.dtype(result[1])) for result in results if result is not None]
    name = getattr(function, "__name__", type(function).__name__)

    def checked(values: Any) -> Iterator[np.ndarray]:
        if not isinstance(values, tuple | list) or len(values) != len(wanted):
            got = f"{len(values)}" if isinstance(values, tuple | list) else type(values).__name__
            raise CallbackError(
                f"callback {name!r} must return a tuple of {len(wanted)} arrays, got {got}"
            )
        for i, (value, (shape, dtype)) in enumerate(zip(map(np.asarray, values), wanted)):
            if value.shape != shape or value.dtype != dtype:
                raise CallbackError(
                    f"callback {name!r} must return {_describe(shape, dtype)} as result {i}, "
                    f"got {_describe(value.shape, value.dtype)}"
                )
            yield value

    def call(*arguments: Any) -> tuple[Any, ...]:
        try:
            values = list(checked(function(*[a for a in arguments if a is not None])))
            rest = iter(values)
            return tuple(None if result is None else next(rest) for result in results)
        except BaseException as error:
            number = next(_failure_numbers)
            _failures[number] = error
            while len(_failures) > _MAX_FAILURES:
                _failures.popitem(last=False)
            kind = type(error).__name__
        raise RuntimeError(f"callback {name!r} raised {kind} (sagax-callback-failure-{number})")

    return call


def original_error(error: BaseException) -> BaseException:
    """The exception of the Python callback that made the engine fail; `error` if it was none.

    XLA hands on the text of an exception, not the exception: the text tells where it is kept.
    """
    found = re.search(r"sagax-callback-failure-(\d+)", str(error))
    if found:
        return _failures.get(int(found[1]), error)
    return error if _explain is None else _explain(error)


def _check_callbacks(module: Any, callbacks: Sequence[Callback]) -> None:
    """Checks that callbacks are declared to return what the custom calls of the module expect."""
    ir = importlib.import_module("jaxlib.mlir.ir")
    ops: list[Any] = []
    # An exception could not pass through the walk as it is.
    module.operation.walk(lambda op: ops.append(op) or ir.WalkResult.ADVANCE)
    for op in ops:
        if op.name != "stablehlo.custom_call":
            continue
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        if not _CALLS_PYTHON.search(target):
            continue
        config = op.attributes["backend_config"]
        if not isinstance(config, ir.DictAttr):
            config = op.attributes["mhlo.backend_config"]
        index = ir.IntegerAttr(ir.DictAttr(config)["index"]).value
        if not 0 <= index < len(callbacks):
            raise ValueError(f"compile: the module calls callback {index} of {len(callbacks)}")
        declared = [_mlir_type(result) for result in callbacks[index][1]]
        expected = [str(value.type) for value in op.results]
        if declared != expected:
            raise ValueError(
                f"compile: callback {index} is declared to return {declared}, "
                f"the module expects {expected}"
            )
        if "_partitioned_" in target and "operand_layouts" not in op.attributes:
            raise ValueError(f"compile: the call of callback {index} needs operand_layouts")


def _mlir_type(result: ResultType) -> str:
    if result is None:
        return "!stablehlo.token"
    shape, dtype = result
    name, bits, variant = re.findall(r"([a-z]+)(\d*)(\w*)", np.dtype(dtype).name)[0]
    if name == "complex":
        element = f"complex<f{int(bits) // 2}>"
    else:
        short = {"bool": "i1", "int": "i", "uint": "ui", "float": "f", "bfloat": "bf"}[name]
        element = short + bits + variant.lstrip("_").upper()
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


# --- compiling and running ------------------------------------------------------------------------


class Executable:
    """A compiled program on its devices.

    `run(buffers)` gives the list of its results, as buffers. `run_with_token(buffers)` gives
    them with a token that can be waited for (`token.block_until_ready()`), for the sake of effects.
    Neither checks its arguments: a wrong type of the right size gives garbage. If they fail, they
    raise the exception of the callback that failed, or what `check_arguments` finds wrong.
    """

    __slots__ = (
        "__weakref__",
        "devices",
        "execute",
        "handlers",
        "loaded",
        "out_avals",
        "run",
        "run_with_token",
    )

    def __init__(
        self, loaded: Any, devices: tuple[Any, ...], out_avals: Sequence[ResultType] | None
    ) -> None:
        self.loaded = loaded
        self.devices = devices
        self.out_avals = _read_out_avals(loaded) if out_avals is None else list(out_avals)
        self.handlers = _result_handlers(loaded, devices, self.out_avals)
        # `execute(buffers).consume_with_handlers(handlers)` is `run` without the explanation of failures
        self.execute = loaded.execute_sharded
        self.run, self.run_with_token = _runners(loaded, devices, self.handlers)

    def explained(self, failure: BaseException, buffers: Sequence[Any]) -> BaseException:
        """The exception to raise where executing failed."""
        return _explained(failure, self.loaded, self.devices, buffers)

    def check_arguments(self, buffers: Sequence[Any]) -> None:
        """Raises TypeError, ValueError or DeletedBufferError if the program cannot be run on them.

        Takes long: for use after a failure and in tests.
        """
        _check_arguments(self.loaded, self.devices, buffers)

    def serialize(self) -> bytes:
        """The program as bytes, for `deserialize` where `platform_fingerprint` is the same."""
        return self.loaded.serialize()

    def hlo_text(self) -> str:
        """The optimised HLO."""
        return self.loaded.hlo_modules()[0].to_string()

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates: 'flops', 'bytes accessed', 'transcendentals', ..."""
        return dict(self.loaded.cost_analysis())

    def memory_analysis(self) -> Any:
        """Sizes in bytes: argument_size_in_bytes, output_size_in_bytes, temp_size_in_bytes, ..."""
        return self.loaded.get_compiled_memory_stats()

    @property
    def fingerprint(self) -> bytes | None:
        """Equal for equal optimised programs, in every process."""
        return self.loaded.fingerprint

    @property
    def input_shardings(self) -> list[str] | None:
        """The text of each argument's sharding; None if the program is not partitioned."""
        return _sharding_texts(self.loaded.get_parameter_shardings())

    @property
    def output_shardings(self) -> list[str] | None:
        """The text of each result's sharding; None if the program is not partitioned."""
        return _sharding_texts(self.loaded.get_output_shardings())


def _sharding_texts(protos: Sequence[Any] | None) -> list[str] | None:
    return None if protos is None else [str(_xc.HloSharding.from_proto(p)) for p in protos]


def _program_shape(loaded: Any) -> Any:
    module = loaded.hlo_modules()[0]
    return _xc.XlaComputation(module.as_serialized_hlo_module_proto()).program_shape()


def _type_of(shape: Any) -> ResultType:
    return None if shape.is_token() else (tuple(shape.dimensions()), shape.numpy_dtype())


def _read_out_avals(loaded: Any) -> list[ResultType]:
    if loaded.get_output_shardings() is not None:
        raise ValueError(
            "out_avals are needed: a partitioned program knows only its shards' shapes"
        )
    result = _program_shape(loaded).result_shape()
    return [_type_of(shape) for shape in (result.tuple_shapes() if result.is_tuple() else [result])]


def _result_handlers(
    loaded: Any, devices: tuple[Any, ...], out_avals: Sequence[ResultType]
) -> list[Any]:
    # Before 0.11 a handler calls a method that jax adds to the class, unless told not to check.
    extra = {"_skip_checks": True} if _BEFORE_0_11 else {}
    if len(devices) == 1:
        shardings = [_on(devices[0])] * len(out_avals)
    else:
        protos = loaded.get_output_shardings()
        layouts = map(_xc.HloSharding.from_proto, protos) if protos else itertools.repeat(None)
        shardings = [EngineSharding(devices, layout) for layout, _ in zip(layouts, out_avals)]
    handlers = []
    for out_aval, sharding in zip(out_avals, shardings, strict=True):
        shape, dtype = ((0,), bool) if out_aval is None else out_aval  # a token is an empty array
        aval = EngineAval(tuple(shape), np.dtype(dtype))
        handlers.append(_jax.array_result_handler(aval, sharding, True, **extra))
    return handlers


def _runners(loaded: Any, devices: tuple[Any, ...], handlers: list[Any]) -> tuple[Any, Any]:
    execute = loaded.execute_sharded

    def run(buffers: Sequence[Any]) -> list[Any]:
        try:
            return execute(buffers).consume_with_handlers(handlers)
        except (EngineError, TypeError, ValueError) as error:
            failure = error
        raise _explained(failure, loaded, devices, buffers)

    def run_with_token(buffers: Sequence[Any]) -> tuple[list[Any], Any]:
        try:
            results = execute(buffers, with_tokens=True)
            token = results.consume_token()
            return results.consume_with_handlers(handlers), token
        except (EngineError, TypeError, ValueError) as error:
            failure = error
        raise _explained(failure, loaded, devices, buffers)

    return run, run_with_token


def _explained(
    failure: BaseException, loaded: Any, devices: tuple[Any, ...], buffers: Sequence[Any]
) -> BaseException:
    original = original_error(failure)
    if original is failure:
        try:
            _check_arguments(loaded, devices, buffers)
        except (TypeError, ValueError, DeletedBufferError) as reason:
            reason.__cause__ = failure
            return reason
    return original


def _check_arguments(loaded: Any, devices: tuple[Any, ...], buffers: Sequence[Any]) -> None:
    for i, buffer in enumerate(buffers):
        if not isinstance(buffer, Buffer):
            raise TypeError(f"argument {i} must be a buffer, got {type(buffer).__name__}")
        if buffer.is_deleted():
            raise _deleted(buffer, f"argument {i}")
    wanted = [_type_of(shape) for shape in _program_shape(loaded).parameter_shapes()]
    if len(wanted) != len(buffers):
        raise ValueError(f"the program takes {len(wanted)} arguments, got {len(buffers)}")
    for i, (want, buffer) in enumerate(zip(wanted, buffers)):
        if devices_of(buffer) != devices:
            raise ValueError(
                f"argument {i} lies on {list(devices_of(buffer))}, the program on {list(devices)}"
            )
        aval = shards(buffer)[0].aval
        if want is not None and want != (aval.shape, aval.dtype):
            raise ValueError(
                f"argument {i} must be {_describe(*want)} on each device, "
                f"got {_describe(aval.shape, aval.dtype)}"
            )


_BUILD_OPTIONS = frozenset(
    {
        "allow_spmd_sharding_propagation_to_output",
        "allow_spmd_sharding_propagation_to_parameters",
        "fdo_profile",
        "memory_fitting_level",
        "optimization_level",
    }
)


def _compile_options(
    devices: Sequence[Any],
    options: Mapping[str, Any],
    num_replicas: int,
    num_partitions: int,
    shardy: bool,
) -> Any:
    if len(devices) != num_replicas * num_partitions:
        raise ValueError(
            f"compile: {num_replicas} replicas of {num_partitions} partitions need "
            f"{num_replicas * num_partitions} devices, got {len(devices)}"
        )
    result = _xc.CompileOptions()
    ids = np.array([device.id for device in devices], np.int32)
    result.device_assignment = _xc.DeviceAssignment.create(
        ids.reshape(num_replicas, num_partitions)
    )
    build = result.executable_build_options
    for part in (result, build):
        part.num_replicas = num_replicas
        part.num_partitions = num_partitions
    build.use_spmd_partitioning = num_partitions > 1
    build.use_shardy_partitioner = shardy
    flags = []
    for name, value in options.items():
        if name in _BUILD_OPTIONS:
            setattr(build, name, value)
        elif name != UNROLL_THRESHOLD:  # a flag of XLA's; those that are bool do not accept text
            flags.append((name, {"true": True, "false": False}.get(str(value).lower(), value)))
    result.env_option_overrides = flags
    if UNROLL_THRESHOLD in options:
        size = str(options[UNROLL_THRESHOLD])
        # the parser of LLVM's options would end the process
        if not size.isdecimal() or int(size) >= 1 << 31:
            raise ValueError(
                f"compile: {UNROLL_THRESHOLD} must be an integer from 0 to 2**31 - 1, got {size}"
            )
        return _with_extra(result, "-unroll-threshold", size)
    return result


UNROLL_THRESHOLD = "unroll_threshold"


def _with_extra(options: Any, key: str, value: str) -> Any:
    """The options with an entry more among those that XLA_FLAGS calls xla_backend_extra_options.

    They are a map, which no setter of the engine's reaches; but what is appended to a serialized
    message sets fields of it.
    """
    # From here on they hold the flags of the process: else appending would leave XLA's defaults out.
    debug = options.executable_build_options.debug_options
    debug.xla_detailed_logging = debug.xla_detailed_logging
    entry = _message(1, key.encode()) + _message(2, value.encode())
    # CompileOptionsProto.executable_build_options.debug_options.xla_backend_extra_options
    added = _message(3, _message(3, _message(500, entry)))
    return _xc.CompileOptions.ParseFromString(options.SerializeAsString() + added)


def _message(number: int, content: bytes) -> bytes:
    """A field of a serialized protocol buffer: its number, that it has a length, the length, the content."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


def compile(
    client: Any,
    module: str | bytes,
    devices: Sequence[Any],
    *,
    options: Mapping[str, Any] = types.MappingProxyType({}),
    num_replicas: int = 1,
    num_partitions: int = 1,
    shardy: bool = False,
    callbacks: Sequence[Callback] = (),
    out_avals: Sequence[ResultType] | None = None,
) -> Executable:
    """The program compiled for the devices.

    `module` is StableHLO: text, MLIR bytecode or a portable artifact. `options` are flags of XLA by
    name, those attributes of its build options that stand in `_BUILD_OPTIONS`, and on the CPU
    `unroll_threshold`: up to what size LLVM unrolls a loop. `shardy` says that the module uses the
    sdy dialect. `callbacks` are what the custom calls of Python in it
    refer to by index. `out_avals` are the types of the results; left out, they are read from the
    program, unless it is partitioned.

    Raises ModuleError if the module is not valid, and EngineError if XLA cannot compile it.
    """
    devices = tuple(devices)
    options = _keeping_barriers(module, client.platform, options)
    compile_options = _compile_options(devices, options, num_replicas, num_partitions, shardy)
    _check_module(module, shardy, bool(callbacks))
    arguments: list[Any] = [module, _xc.DeviceList(devices), compile_options]
    if callbacks:  # accepted with a parsed module only
        arguments[0] = _parse(module)
        _check_callbacks(arguments[0], callbacks)
        arguments.append([_guarded(*callback) for callback in callbacks])
    try:
        loaded = client.compile_and_load(*arguments)
    except EngineError as error:
        failure = error
        for key in list(_partition_failures):
            if isinstance(module, str) and key in module:
                raise _partition_failures.pop(key) from None
    else:
        return Executable(loaded, devices, out_avals)
    # The parser, asked alone, says more precisely what is wrong and where.
    verify_module(module)
    raise failure


def _keeping_barriers(
    module: str | bytes, platform: str, options: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The options with which optimization barriers last until the program has been divided into kernels.

    Before jaxlib 0.11 the CPU compiler removed them before it fuses operations. What makes one kernel of
    a small loop does not expect them there: it ends the process.
    """
    text = "optimization_barrier"
    if not _BEFORE_0_11 or platform != "cpu":
        return options
    if not (text in module if isinstance(module, str) else text.encode() in module):
        return options
    given = str(options.get("xla_disable_hlo_passes", ""))
    passes = ",".join(
        [*([given] if given else []), "cse_barrier_expander", "small-while-loop-hoisting"]
    )
    return {**options, "xla_disable_hlo_passes": passes}


# Custom calls of Python, and the sdy dialect, as they show in text, bytecode and HLO.
_CALLS_PYTHON = re.compile(r"_python_[cg]pu_callback")
# A source file called sdy.py is no such thing. The search for a word is quick if the pattern begins with it.
_USES_SDY = re.compile(r"sdy(?<!\wsdy)[.\0](?!py\b)")


def _check_module(module: str | bytes, shardy: bool, has_callbacks: bool) -> None:
    """Refuses what would end the process."""
    text = module if isinstance(module, str) else module.decode("latin-1")
    if _CALLS_PYTHON.search(text) and not has_callbacks:
        raise ValueError("compile: the module calls Python callbacks, but none are given")
    if _USES_SDY.search(text) and not shardy:
        raise ValueError("compile: the module uses the sdy dialect, which needs shardy=True")


def deserialize(
    client: Any,
    blob: bytes,
    devices: Sequence[Any],
    out_avals: Sequence[ResultType] | None = None,
    callbacks: Sequence[Callback] = (),
    *,
    num_replicas: int = 1,
) -> Executable:
    """The program that `Executable.serialize` gave as bytes, on the given devices.

    `out_avals` as in `compile`; `callbacks` must be declared as they were there. Only for bytes
    that this user wrote where `platform_fingerprint` was the same: the engine checks neither.
    """
    if not callbacks and _CALLS_PYTHON.search(blob.decode("latin-1")):
        raise ValueError("deserialize: the program calls Python callbacks, but none are given")
    devices = tuple(devices)
    guarded = [_guarded(*callback) for callback in callbacks]
    # Without options the program would run on the devices that it was compiled for.
    partitions = len(devices) // num_replicas
    options = _compile_options(devices, {}, num_replicas, partitions, shardy=False)
    loaded = client.deserialize_executable(blob, _xc.DeviceList(devices), options, guarded)
    return Executable(loaded, devices, out_avals)


# --- modules --------------------------------------------------------------------------------------


class ModuleError(ValueError):
    """A module is not valid. `problems` lists (location, message), both text."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(f"{where}: {what}" for where, what in self.problems))


def _mlir_context() -> Any:
    """A new MLIR context with every dialect that a program may use; the rarer ones are loaded when met.

    New each time (0.5 ms), since a context never forgets a constant that it has seen.
    """
    ir = importlib.import_module("jaxlib.mlir.ir")
    extension = importlib.import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext")
    dialects = importlib.import_module("jaxlib.mlir.dialects")
    for name in ("chlo", "mhlo", "sdy", "stablehlo"):
        importlib.import_module(f"jaxlib.mlir.dialects.{name}")
    context = ir.Context()
    registry = ir.DialectRegistry()
    extension.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.enable_multithreading(False)
    dialects.sdy.register_dialect(context)
    dialects.mhlo.register_mhlo_dialect(context)
    dialects.chlo.register_dialect(context)
    dialects.stablehlo.register_dialect(context)
    return context


def _parse(module: str | bytes) -> Any:
    ir = importlib.import_module("jaxlib.mlir.ir")
    context = _mlir_context()
    problems: list[tuple[str, str]] = []

    def note(diagnostic: Any) -> bool:
        place = str(diagnostic.location).removeprefix("loc(").removesuffix(")")
        problems.append((place, diagnostic.message))
        return True  # and so it is not written on stderr

    with context, context.attach_diagnostic_handler(note):
        try:
            if _is_artifact(module):
                stablehlo = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
                return stablehlo.deserialize_portable_artifact(context, module)
            return ir.Module.parse(module)
        except (ir.MLIRError, ValueError) as error:
            for diagnostic in getattr(error, "error_diagnostics", ()):
                note(diagnostic)
            text = str(error)
    raise ModuleError(problems or [("unknown", text)])


def _is_artifact(module: str | bytes) -> bool:
    return isinstance(module, bytes) and b"StableHLO_v" in module[:32]


def _problems(error: Exception) -> list[tuple[str, str]]:
    """The problems that the text of an error of the engine tells of."""
    return re.findall(r"(\S+:\d+:\d+): error: (.*)", str(error)) or [("unknown", str(error))]


def verify_module(module: str | bytes) -> None:
    """Raises ModuleError, with location and message of each problem, if the module is not valid."""
    _parse(module)


def format_module(module: str | bytes, *, locations: bool = False) -> str:
    """The module in MLIR's pretty form, with or without source locations."""
    return _parse(module).operation.get_asm(enable_debug_info=locations)


def _computation(module: str | bytes) -> Any:
    return _jax.mlir.mlir_module_to_xla_computation(
        module, use_tuple_args=False, return_tuple=False
    )


def parsed_module(module: str | bytes) -> Any:
    """The module as an object of MLIR's Python bindings."""
    return _parse(module)


def module_computation(module: str | bytes) -> Any:
    """The module as a computation in HLO, an object of XLA's."""
    return _computation(module)


def module_to_hlo_text(module: str | bytes) -> str:
    """The HLO of a module, as it is before XLA optimises it."""
    return _computation(module).as_hlo_text()


def module_cost_analysis(client: Any, module: str | bytes) -> dict[str, float]:
    """XLA's estimates ('flops', 'bytes accessed', ...) for a module that is not compiled."""
    return dict(_jax.hlo_module_cost_analysis(client, _computation(module).as_hlo_module()))


def refine_shapes(
    module: str | bytes, *, check_assertions: bool = True, shardy: bool = False
) -> bytes:
    """The module, as bytecode, in the static shapes that follow from those of @main's arguments.

    Raises ModuleError if a `shape_assertion` does not hold or a shape stays dynamic.
    """
    bytecode = io.BytesIO()
    _parse(module).operation.write_bytecode(bytecode)
    try:
        return _jax.mlir.refine_polymorphic_shapes(
            bytecode.getvalue(),
            enable_shape_assertions=check_assertions,
            validate_static_shapes=True,
            enable_shardy=shardy,
        )
    except (EngineError, ValueError) as error:
        problems = _problems(error)
    raise ModuleError(problems)


class ModuleFunctions(NamedTuple):
    """The functions of a module as text, to be put into another one."""

    main: str
    arg_types: list[str]
    result_types: list[str]
    texts: list[str]


def module_functions(
    module: str | bytes, prefix: str, mesh_named: Callable[[str], str] | None = None
) -> ModuleFunctions:
    """The functions of a module, made private, with names that begin with `prefix`.

    `mesh_named` gives the name that a mesh has in the other module, for its text as in `sdy.mesh @name = text`.
    """
    ir = importlib.import_module("jaxlib.mlir.ir")
    parsed = _parse(module)
    with parsed.context:
        names, meshes = {}, []
        for op in parsed.body.operations:
            kind = op.operation.name
            if kind == "sdy.mesh" and mesh_named is not None:
                text = str(op.attributes["mesh"]).removeprefix("#sdy.mesh")
                meshes.append((op, mesh_named(text)))
                continue
            if "sym_name" not in op.attributes or not kind.startswith("func."):
                raise ValueError(f"a module with {kind} cannot be put into another one")
            names[ir.StringAttr(op.attributes["sym_name"]).value] = op
        # By names between: the new name of one may be the old one of another.
        between = [f"{prefix}mesh_{i}" for i in range(len(meshes))]
        for name, (op, _) in zip(between, meshes, strict=True):
            old = ir.StringAttr(op.attributes["sym_name"]).value
            ir.SymbolTable.replace_all_symbol_uses(old, name, parsed.operation)
        for name, (_, new) in zip(between, meshes, strict=True):
            ir.SymbolTable.replace_all_symbol_uses(name, new, parsed.operation)
        for name, op in names.items():
            ir.SymbolTable.replace_all_symbol_uses(name, prefix + name, parsed.operation)
            ir.SymbolTable.set_symbol_name(op, prefix + name)
            ir.SymbolTable.set_visibility(op, "private")
            for attributes in ("arg_attrs", "res_attrs"):
                if attributes in op.attributes:
                    del op.attributes[attributes]
        kind = names["main"].type
        return ModuleFunctions(
            prefix + "main",
            [str(t) for t in kind.inputs],
            [str(t) for t in kind.results],
            [str(op) for op in names.values()],
        )


def propagated_shardings(module: str | bytes, mark: str) -> dict[str, list[str]]:
    """The axes that divide each dimension of marked values, as Shardy decides it for the module.

    Keys are the values of the frontend attribute `mark`; axes of a dimension are joined by commas.
    """
    ir = importlib.import_module("jaxlib.mlir.ir")
    passes = importlib.import_module("jaxlib.mlir.passmanager")
    found: dict[str, list[str]] = {}

    def note(op: Any) -> Any:
        if "mhlo.frontend_attributes" in op.attributes and "sdy.sharding" in op.attributes:
            marks = ir.DictAttr(op.attributes["mhlo.frontend_attributes"])
            if mark in marks:
                dims = re.findall(r"\{([^{}]*)\}", str(op.attributes["sdy.sharding"]))
                axes = [",".join(re.findall(r'"([^"]*)"', d)) for d in dims]
                found[ir.StringAttr(marks[mark]).value] = axes
        return ir.WalkResult.ADVANCE

    parsed = _parse(module)
    with parsed.context:
        passes.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(parsed.operation)
    parsed.operation.walk(note)
    return found


def custom_call_targets(module: str | bytes) -> list[str]:
    """The targets of the custom calls in a module, each once."""
    ir = importlib.import_module("jaxlib.mlir.ir")
    found: dict[str, None] = {}

    def note(op: Any) -> Any:
        if op.name == "stablehlo.custom_call":
            found[ir.StringAttr(op.attributes["call_target_name"]).value] = None
        return ir.WalkResult.ADVANCE

    parsed = _parse(module)
    parsed.operation.walk(note)
    return list(found)


def stablehlo_version(*, weeks_back: int = 0) -> str:
    """The version of StableHLO that this engine writes; with `weeks_back` 4 or 12, one that old."""
    stablehlo = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
    if weeks_back == 0:
        return stablehlo.get_current_version()
    requirement = getattr(stablehlo.StablehloCompatibilityRequirement, f"WEEK_{weeks_back}")
    return stablehlo.get_version_from_compatibility_requirement(requirement)


def serialize_artifact(module: str | bytes, target: str | None = None) -> bytes:
    """The module as a portable artifact, which other versions of the engine can load too.

    `target` is a version of StableHLO, by default one 12 weeks old, or the newest that it takes to
    express the module. Raises ModuleError if the module is not valid or cannot be expressed.
    """
    problems: list[tuple[str, str]] = []
    for version in [target] if target else [stablehlo_version(weeks_back=w) for w in (12, 4, 0)]:
        try:
            # Mixed: other dialects (sdy) keep their own form within the artifact.
            return _jax.mlir.serialize_portable_artifact(
                _parse(module), version, use_mixed_serialization=True
            )
        except (EngineError, ValueError) as error:
            problems = _problems(error)
    raise ModuleError(problems)


def artifact_to_text(artifact: bytes, *, locations: bool = False) -> str:
    """The text of a portable artifact, in MLIR's pretty form. Raises ModuleError if it is none."""
    if not _is_artifact(artifact):
        raise ModuleError([("unknown", "these bytes are no portable artifact of StableHLO")])
    return format_module(artifact, locations=locations)


# --- DLPack ---------------------------------------------------------------------------------------

# The newest kind of versioned capsule that the engine knows; None: the unversioned kind alone.
dlpack_max_version: tuple[int, int] | None = None if _BEFORE_0_12 else _jax.dlpack_version


class _DLTensor(ctypes.Structure):
    # The layouts are fixed: https://dmlc.github.io/dlpack/latest/c_api.html
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    )


_DLPACK_TYPES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_DLPACK_TYPES |= {
    code: f"float8_{variant}"
    for code, variant in enumerate(
        ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu"), 7
    )
}


def _capsule_tensor(capsule: Any) -> _DLTensor:
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    for name, struct in (
        (b"dltensor_versioned", _DLManagedTensorVersioned),
        (b"dltensor", _DLTensor),
    ):
        try:
            pointer = pointer_of(capsule, name)
        except ValueError:  # it has another name
            continue
        found: Any = ctypes.cast(pointer, ctypes.POINTER(struct)).contents
        return found if struct is _DLTensor else found.tensor
    raise ValueError("from_dlpack: not a DLPack capsule, or one that was used before")


def _capsule_aval(tensor: _DLTensor) -> EngineAval:
    shape = tuple(tensor.shape[: tensor.ndim])
    if tensor.strides:
        expected = 1
        for size, stride in zip(reversed(shape), reversed(tensor.strides[: tensor.ndim])):
            if size > 1 and stride != expected:
                raise BufferError("from_dlpack: the array is not contiguous; copy it first")
            expected *= size
    name = _DLPACK_TYPES.get(tensor.code, "")
    if tensor.code in (0, 1, 2, 4, 5):
        name += str(tensor.bits)
    try:
        dtype = np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        dtype = None
    if not name or dtype is None or tensor.lanes != 1 or dtype.itemsize * 8 != tensor.bits:
        raise BufferError(f"from_dlpack: no such type: code {tensor.code}, {tensor.bits} bits")
    return EngineAval(shape, dtype)


def to_dlpack(
    buffer: Any,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    copied: bool = False,
) -> Any:
    """A DLPack capsule of the buffer's memory; versioned if the engine and `max_version` allow it.

    `copied` says that the buffer is a copy made for the receiver. Raises BufferError for an
    array on several devices and for types that DLPack does not have.
    """
    if buffer.is_deleted():
        raise _deleted(buffer)
    extra = {} if _BEFORE_0_12 else {"max_version": max_version, "copied": copied}
    try:
        return _jax.buffer_to_dlpack_managed_tensor(buffer, stream=stream, **extra)
    except EngineError as error:
        reason = error.error_message
    raise BufferError(f"to_dlpack: {reason}")


def from_dlpack(capsule: Any, device: Any) -> Any:
    """A buffer of the capsule's memory, or a copy of it if that is not aligned to 64 bytes.

    The capsule must describe memory of `device`, contiguous in row-major order: else BufferError.
    """
    aval = _capsule_aval(_capsule_tensor(capsule))
    try:
        with no_jax():
            buffer = _jax.dlpack_managed_tensor_to_buffer(capsule, device, None)
        return buffer._rewrap_with_aval_and_sharding(aval, _on(device))
    except EngineError as error:
        reason = error.error_message
    raise BufferError(f"from_dlpack: {reason}")


# --- profiling ------------------------------------------------------------------------------------


@functools.cache
def _profiler() -> Any:
    return importlib.import_module("jaxlib._profiler")


def profiler_session(options: Any = None) -> Any:
    """A running profile, one at a time: `.stop()` gives bytes, `.stop_and_export(folder)` files."""
    return _profiler().ProfilerSession(options or _profiler().ProfileOptions())


def profile_options_class() -> Any:
    """The engine's class of what a profile is to record."""
    return _profiler().ProfileOptions


def profile_data_class() -> Any:
    """The engine's class of recorded profiles: planes, lines, events."""
    return importlib.import_module("jaxlib._profile_data").ProfileData


def trace_me(name: str, **metadata: Any) -> Any:
    """A context that shows as a named region in a running profile."""
    return _profiler().TraceMe(name, **metadata)


def profiler_server(port: int) -> Any:
    """A server from which profiles of this process can be fetched, as long as the object lives."""
    return _profiler().start_server(port)


def profile_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Profiles of this process take in that of another one, whose server is at `port`.

    Gives what ends that. Raises EngineError if the process does not answer.
    """
    return _profiler().register_subprocess(pid, port)


def profile_events(profile: bytes) -> list[tuple[str, str, float, float]]:
    """What a stopped session recorded: (plane, region, start, duration), times in nanoseconds."""
    data = importlib.import_module("jaxlib._profile_data").ProfileData
    return [
        (plane.name, event.name, event.start_ns, event.duration_ns)
        for plane in data.from_serialized_xspace(profile).planes
        for line in plane.lines
        for event in line.events
    ]


# --- several processes ----------------------------------------------------------------------------


def distributed_service(address: str, num_nodes: int, **options: Any) -> Any:
    """The service, in one of the processes, through which all meet. `address`: '[::]:1234'."""
    return _jax.get_distributed_runtime_service(address, num_nodes, **options)


def distributed_client(address: str, node_id: int, **options: Any) -> Any:
    """A client of the service, to be connected by `.connect()`: a key-value store and barriers."""
    return _jax.get_distributed_runtime_client(address, node_id, **options)


def gloo_collectives(client: Any, hostname: str | None = None) -> Any:
    """Collective operations between processes on CPUs; `client` is a connected distributed one."""
    return _jax.make_gloo_tcp_collectives(client, hostname=hostname)


# While processes work together: waits for buffers in a way that a lost process ends, and finds the
# error to raise for one of the engine's.
_wait: Callable[[Sequence[Any]], None] | None = None
_explain: Callable[[BaseException], BaseException] | None = None


def work_together(
    wait: Callable[[Sequence[Any]], None] | None,
    explain: Callable[[BaseException], BaseException] | None,
) -> None:
    """Sets how to wait for buffers, and how to explain failures; None: as the engine does."""
    global _wait, _explain
    _wait, _explain = wait, explain


def keep_for_ever(*objects: Any) -> None:
    """Keeps objects from being freed, also at the end of the process.

    A client of a service ends the process when it sees the service go, so neither may.
    """
    for kept in objects:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


_quiet_lock = threading.Lock()
_quiet_depth = 0


@contextlib.contextmanager
def quiet_standard_output() -> Iterator[None]:
    """Keeps C++ code from writing to std::cout. What Python writes is not touched."""
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        stream = ctypes.addressof(ctypes.c_char.in_dll(library, "_ZSt4cout"))
        set_state = library["_ZNSt9basic_iosIcSt11char_traitsIcEE5clearESt12_Ios_Iostate"]
    except (OSError, ValueError, AttributeError):  # another C++ library: its lines are shown
        yield
        return
    # The state belongs to a virtual base, whose offset stands before the table of virtual functions.
    table = ctypes.c_void_p.from_address(stream).value or 0
    state = ctypes.c_void_p(stream + ctypes.c_ssize_t.from_address(table - 24).value)

    def enter(step: int) -> None:
        global _quiet_depth
        with _quiet_lock:
            _quiet_depth += step
            set_state(state, ctypes.c_int(1 if _quiet_depth else 0))  # 1 is badbit

    enter(1)
    try:
        yield
    finally:
        enter(-1)
