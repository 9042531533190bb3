"""Find the installed wheels of XLA's CUDA plugin and of NVIDIA's libraries."""

from __future__ import annotations

import importlib.util
import pathlib
from collections.abc import Iterator
from typing import NamedTuple


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
    """Find a package's folder without importing it (the plugin's own __init__ would import jax)."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # not even its parent is there
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return pathlib.Path(next(iter(spec.submodule_search_locations)))


def find_plugins() -> Iterator[CudaPlugin]:
    """Find the installed CUDA plugins, that of the newest CUDA first."""
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


def find_plugin() -> CudaPlugin | None:
    """Find the CUDA plugin of the newest CUDA; None if none is installed."""
    return next(find_plugins(), None)


def plugin_available() -> bool:
    """Tell whether the wheels that XLA needs for CUDA are installed (a GPU may still be missing)."""
    return find_plugin() is not None


def find_libraries(plugin: CudaPlugin) -> list[CudaLibrary]:
    """Find the NVIDIA libraries that the plugin needs, in the order in which to load them."""
    found = []
    for package, names in _CUDA_LIBRARIES[plugin.cuda]:
        root = _package_path(f"nvidia.{package}")
        for name in names:
            path = root / "lib" / name if root else None
            found.append(CudaLibrary(name, path if path and path.exists() else None))
    return found
