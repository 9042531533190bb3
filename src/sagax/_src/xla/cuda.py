"""Load XLA's CUDA plugin and start clients of NVIDIA GPUs."""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sagax._src.xla.cuda_wheels as cuda_wheels
from sagax._src.lazy_import import lazy_imports
from sagax._src.xla.client import prepare_process
from sagax._src.xla.cuda_wheels import CudaPlugin
from sagax._src.xla.custom_calls import register_kernel_module, register_target
from sagax._src.xla.engine import EngineError, engine_version_text, xla_client

if TYPE_CHECKING or lazy_imports():
    from sagax._src.xla import profiler


class CudaUnavailable(RuntimeError):
    """No CUDA client can be had: `step` says at what, `detail` why, `advice` what to do."""

    def __init__(self, step: str, detail: str, advice: str) -> None:
        self.step, self.detail, self.advice = step, detail, advice
        super().__init__(f"no CUDA device can be used: {step}: {detail}. {advice}")


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
            register_kernel_module(importlib.import_module(f"jaxlib.{name}"), "CUDA")
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


def make_client(options: Mapping[str, Any] | None = None, *, distributed: Any = None) -> Any:
    """Start a client of this machine's NVIDIA GPUs. Raises CudaUnavailable, which names the step.

    `options` (memory_fraction, preallocate, allocator, visible_devices, node_id, num_nodes, ...)
    are added to those of the environment (`XLA_CLIENT_MEM_FRACTION` and the like).
    """
    plugin = check_plugin()
    load_libraries(plugin)
    load_plugin(plugin)
    prepare_process()
    try:
        if not xla_client.pjrt_plugin_initialized("cuda"):
            xla_client.initialize_pjrt_plugin("cuda")
        merged = {**xla_client.generate_pjrt_gpu_plugin_options(), **(options or {})}
        return xla_client.make_c_api_client("cuda", merged, distributed)
    except EngineError as error:
        advice = "See that `nvidia-smi` lists a GPU and that its driver is recent enough."
        raise CudaUnavailable("starting the client", error.error_message, advice) from error
