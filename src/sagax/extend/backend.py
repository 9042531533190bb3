"""Access the platforms and clients of the engine.

>>> from sagax.extend import backend
>>> backend.get_backend().platform in ("cpu", "cuda", "gpu")
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sagax._src.api import tracing_utils
from sagax._src.runtime import devices
from sagax._src.xla import bindings, compile_options

__all__ = [
    "backend_xla_version",
    "backends",
    "clear_backends",
    "clear_in_memory_compilation_cache",
    "get_backend",
    "get_compile_options",
    "get_default_device",
    "ifrt_proxy",
    "register_backend_cache",
    "register_backend_factory",
]


if TYPE_CHECKING:
    ifrt_proxy: Any


def __getattr__(name: str) -> Any:
    if name == "ifrt_proxy":
        return bindings.module("_ifrt_proxy")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_backend(platform: str | None = None) -> Any:
    """Return the engine's client of a platform (default: the default one), starting it if needed.

    >>> len(backend.get_backend("cpu").local_devices()) > 0
    True
    """
    return devices.backend(platform).client


def backends() -> dict[str, Any]:
    """Return the engine's clients of the platforms that have been started.

    >>> backend.get_backend().platform in [c.platform for c in backend.backends().values()]
    True
    """
    devices.backend()
    return {name: devices.backend(name).client for name in devices.started()}


def get_default_device() -> Any:
    """Return the device of uncommitted arrays.

    >>> backend.get_default_device() == sagax.local_devices()[0]
    True
    """
    return devices.default_device()


def backend_xla_version(platform: str | None = None) -> int | None:
    """Return the version of XLA in the plugin of a platform; None where XLA is part of jaxlib, as for the CPU.

    >>> backend.backend_xla_version("cpu") is None
    True
    """
    return getattr(get_backend(platform), "xla_version", None)


def get_compile_options(
    num_replicas: int,
    num_partitions: int,
    device_assignment: Any = None,
    env_options_overrides: Mapping[str, Any] | None = None,
    fdo_profile: bytes | None = None,
    detailed_logging: bool = True,
    backend: Any = None,
) -> Any:
    """Return the engine's options for compiling a module.

    Args:
      device_assignment: the devices, one for each replica and partition (default: the first ones).
      env_options_overrides: options of XLA by name.
      fdo_profile: a profile to optimize by.
      detailed_logging, backend: accepted as in jax.

    >>> backend.get_compile_options(1, 1).num_replicas
    1
    """
    count = num_replicas * num_partitions
    assigned = device_assignment
    if assigned is None:
        assigned = devices.backend().local_devices[:count]
    else:
        assigned = [d for row in assigned for d in (row if hasattr(row, "__iter__") else [row])]
    options = dict(env_options_overrides or {})
    if fdo_profile is not None:
        options["fdo_profile"] = fdo_profile
    return compile_options.compile_options(assigned, options, num_replicas, num_partitions, True)


def register_backend_cache(cache: Any, for_what: str) -> None:
    """Clear a cache, by its method `cache_clear`, whenever all caches are cleared.

    >>> import functools
    >>> cached = functools.lru_cache(lambda x: x)
    >>> backend.register_backend_cache(cached, "an example")
    >>> cached(1), sagax.clear_caches(), cached.cache_info().currsize
    (1, None, 0)
    """
    tracing_utils.also_cleared[for_what, id(cache)] = cache


def register_backend_factory(
    name: str,
    factory: Callable[[], Any],
    *,
    priority: int = 0,
    fail_quietly: bool = True,
    experimental: bool = False,
    make_topology: Any = None,
    c_api: Any = None,
) -> None:
    """Add a platform.

    Args:
      name: its name, for `sagax.devices(name)` and JAX_PLATFORMS.
      factory: a function that starts the engine's client of the platform, on first use.
      priority: above 0, the platform may become the default one: the highest that starts does. CUDA has 200.
      fail_quietly, experimental, make_topology, c_api: accepted as in jax.

    Raises RuntimeError if a platform of that name has been started.

    >>> from sagax._src import xla
    >>> backend.register_backend_factory("host2", xla.client.make_cpu_client)
    >>> backend.get_backend("host2") is backend.get_backend("cpu")
    False
    """
    devices.register_factory(name, factory, priority)


def clear_backends() -> None:
    """Forget all clients and clear all caches; the next use of devices starts new clients.

    Arrays made before can still be read, but not be computed with.

    >>> callable(backend.clear_backends)
    True
    """
    tracing_utils.clear_all_caches()
    devices.clear_backends()


def clear_in_memory_compilation_cache() -> None:
    """Clear all traces and executables in memory.

    >>> backend.clear_in_memory_compilation_cache()
    """
    tracing_utils.clear_all_caches()
