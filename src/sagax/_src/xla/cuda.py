"""Load XLA's CUDA plugin and start clients of NVIDIA GPUs."""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import sagax._src.xla.cuda_wheels as cuda_wheels
from sagax._src.lazy_import import lazy_imports
from sagax._src.xla.client import prepare_process
from sagax._src.xla.cuda_wheels import CudaPlugin
from sagax._src.xla.custom_calls import add_plugin, register_kernel_module, register_target
from sagax._src.xla.engine import EngineError, engine_version_text, xla_client
from sagax._src.xla.load import load

if TYPE_CHECKING or lazy_imports():
    from sagax._src.xla import bindings, gpu_targets, profiler


class CudaUnavailable(RuntimeError):
    """No CUDA client can be had: `step` says at what, `detail` why, `advice` what to do."""

    def __init__(self, step: str, detail: str, advice: str) -> None:
        self.step, self.detail, self.advice = step, detail, advice
        text = detail.strip().removesuffix(".")
        super().__init__(f"no CUDA device can be used: {step}: {text}. {advice}")


def check_plugin() -> CudaPlugin:
    """Return the CUDA plugin that fits this jaxlib. Raises CudaUnavailable."""
    plugin = cuda_wheels.find_plugin()
    install = f'pip install "jax-cuda13-plugin[with-cuda]=={engine_version_text}"'
    if plugin is None:
        raise CudaUnavailable("finding the plugin", "it is not installed", f"Try: {install}")
    # jaxlib's own modules ignore a plugin of another version, and executables then lack kernels.
    if plugin.version != engine_version_text:
        detail = f"its version is {plugin.version}, that of jaxlib {engine_version_text}"
        advice = f"They must be the same. Try: {install}"
        raise CudaUnavailable("checking the plugin", detail, advice)
    return plugin


def load_libraries(plugin: CudaPlugin) -> None:
    """Load NVIDIA's libraries from their wheels, for XLA to find. Raises CudaUnavailable."""
    for name, path in cuda_wheels.find_libraries(plugin):
        if path is not None:
            try:
                ctypes.cdll.LoadLibrary(str(path))
            except OSError as error:
                advice = f"Reinstall the nvidia wheels for CUDA {plugin.cuda}."
                raise CudaUnavailable(f"loading {name}", str(error), advice) from error


@functools.cache
def load_plugin(plugin: CudaPlugin) -> None:
    """Load the plugin and register its custom calls; once a process. Raises CudaUnavailable."""
    try:
        # jax, if the process uses it too, may have loaded and registered it already.
        if not xla_client.pjrt_plugin_loaded("cuda"):
            _register_extension(plugin)
        for name in ("gpu_linalg", "gpu_prng", "gpu_solver", "gpu_sparse"):
            register_kernel_module(load(f"jaxlib.{name}"), "CUDA")
    except (ImportError, EngineError) as error:
        advice = f"Reinstall jax-cuda{plugin.cuda}-plugin and jax-cuda{plugin.cuda}-pjrt."
        raise CudaUnavailable("loading the plugin", str(error), advice) from error


def _register_extension(plugin: CudaPlugin) -> None:
    extension = importlib.import_module(f"{plugin.support_package}.cuda_plugin_extension")
    c_api = xla_client.load_pjrt_plugin_dynamically("cuda", str(plugin.library))
    on_type = functools.partial(extension.register_custom_type, c_api)
    on_target = functools.partial(extension.register_custom_call_target, c_api)
    xla_client.register_custom_type_handler("CUDA", on_type)
    xla_client.register_custom_call_handler("CUDA", on_target)
    for name, value in extension.ffi_types().items():
        xla_client.register_custom_type(name, value, platform="CUDA")
    for name, value in extension.ffi_handlers().items():
        register_target(name, value, "CUDA")
    profiler.register_plugin(c_api)
    add_plugin(c_api)


def make_client(options: Mapping[str, Any] | None = None, *, distributed: Any = None) -> Any:
    """Start a client of this machine's NVIDIA GPUs. Raises CudaUnavailable, which names the step.

    `options` (memory_fraction, preallocate, allocator, visible_devices, node_id, num_nodes, ...)
    are added to those of the environment (`XLA_CLIENT_MEM_FRACTION` and the like).
    """
    plugin = check_plugin()
    load_libraries(plugin)
    load_plugin(plugin)
    check_libraries(plugin)
    prepare_process()
    try:
        _initialize()
        merged = {**xla_client.generate_pjrt_gpu_plugin_options(), **(options or {})}
        return xla_client.make_c_api_client("cuda", merged, distributed)
    except EngineError as error:
        advice = "See that `nvidia-smi` lists a GPU and that its driver is recent enough."
        raise CudaUnavailable("starting the client", error.error_message, advice) from error


def _initialize() -> None:
    if not xla_client.pjrt_plugin_initialized("cuda"):
        xla_client.initialize_pjrt_plugin("cuda")


def described_devices(name: str, options: Mapping[str, Any]) -> list[Any]:
    """Return devices that XLA can compile for, and that hold no arrays; they need no GPU and no driver.

    `name` is a model of `gpu_targets`, or empty. `options` are those of XLA's topologies: `topology`, "1x1x8" for eight
    devices of one process, and `target_config`, a description of the GPU as text. Raises CudaUnavailable, and
    EngineError where the options do not describe devices.
    """
    plugin = check_plugin()
    load_libraries(plugin)
    load_plugin(plugin)
    _initialize()
    merged = dict(options)
    if name in gpu_targets.MODELS:
        merged = {
            "topology": "1x1x1",
            "target_config": gpu_targets.target_config(name, plugin.cuda),
            **merged,
        }
        name = ""
    return bindings.named_topology("cuda", name, merged)


class LibraryVersion(NamedTuple):
    """Hold the versions of a library: that which is loaded, and that which XLA was built with."""

    loaded: int
    built: int

    @property
    def fits(self) -> bool:
        """Tell whether the loaded library can stand for the one that XLA was built with."""
        return self.loaded >= self.built

    @property
    def text(self) -> str:
        return f"{self.loaded} is loaded, XLA was built with {self.built}"


# Names of functions of the plugin that return versions, and of the libraries.
_VERSIONED = {
    "cuda_runtime": "CUDA runtime",
    "cublas": "cuBLAS",
    "cudnn": "cuDNN",
    "cufft": "cuFFT",
    "cusolver": "cuSOLVER",
    "cusparse": "cuSPARSE",
}
_SINCE = {"cuBLAS": 100, "cuDNN": 100}  # the digits of patches do not count


@functools.cache
def library_versions() -> dict[str, LibraryVersion]:
    """Return the versions of NVIDIA's libraries that the plugin finds, by name; {} without a plugin that fits."""
    plugin = cuda_wheels.find_plugin()
    if plugin is None or plugin.version != engine_version_text:
        return {}
    load_libraries(plugin)
    try:
        versions = importlib.import_module(f"{plugin.support_package}._versions")
    except ImportError:  # loading the plugin reports what is wrong with it
        return {}
    found = {}
    for prefix, name in _VERSIONED.items():
        try:
            pair = [getattr(versions, f"{prefix}_{w}_version")() for w in ("get", "build")]
        except RuntimeError:  # the library cannot be loaded
            continue
        digits = _SINCE.get(name, 1)
        found[name] = LibraryVersion(*[v // digits * digits for v in pair])
    return found


def check_libraries(plugin: CudaPlugin) -> None:
    """Raise CudaUnavailable if one of NVIDIA's libraries is older than that which XLA was built with."""
    for name, version in library_versions().items():
        if not version.fits:
            advice = f"Reinstall the nvidia wheels for CUDA {plugin.cuda}, or see what LD_LIBRARY_PATH puts before them."
            raise CudaUnavailable("checking the libraries", f"{name} {version.text}", advice)


@functools.cache
def cusolver_has_eig() -> bool:
    """Tell whether the installed cuSOLVER computes eigenvalues of general matrices (from 11.7.1 on)."""
    found = library_versions().get("cuSOLVER")
    return found is not None and found.loaded >= 11701


@functools.cache
def initialize_hybrid_kernels() -> None:
    """Give the kernels that run on the host in part their LAPACK; once a process. It loads SciPy."""
    load("jaxlib.gpu_solver").initialize_hybrid_kernels()
