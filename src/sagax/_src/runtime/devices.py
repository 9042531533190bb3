"""Backends and devices: started when first needed, one client a platform."""

from __future__ import annotations

import threading
from typing import Any

from sagax._src import config, xla
from sagax._src.diagnostics.errors import ArgumentValueError, SagaxError

_lock = threading.RLock()
_backends: dict[str, Backend] = {}
_ALIASES = {"gpu": "cuda"}


class BackendError(SagaxError, RuntimeError):
    """A platform that cannot be started."""

    code = "SX0201"


class Backend:
    """A platform that has been started."""

    __slots__ = ("client", "devices", "local_devices", "platform")

    def __init__(self, platform: str, client: Any) -> None:
        self.platform = platform
        self.client = client
        self.devices = tuple(client.devices())
        self.local_devices = tuple(client.local_devices())


def _start(platform: str) -> Backend:
    if platform == "cpu":
        count = config.current().num_cpu_devices
        return Backend("cpu", xla.cpu_client(count if count > 0 else None))
    if platform == "cuda":
        return Backend("cuda", xla.cuda_client())
    raise BackendError(
        f"unknown platform {platform!r}",
        expected="cpu or cuda",
        fix="unset JAX_PLATFORMS, or set it to 'cpu'",
    )


def backend(platform: str | None = None) -> Backend:
    """The backend of `platform` (None: the default one), started if it was not yet."""
    if platform is None:
        return _default()
    platform = _ALIASES.get(platform, platform)
    found = _backends.get(platform)
    if found is None:
        with _lock:
            found = _backends.get(platform)
            if found is None:
                try:
                    found = _start(platform)
                except SagaxError:
                    raise
                except Exception as error:
                    raise BackendError(
                        f"the platform {platform!r} could not be started: {error}"
                    ) from error
                _backends[platform] = found
    return found


_named = backend  # for the functions that have a parameter called `backend`


def _wanted() -> list[str]:
    settings = config.current()
    text = settings.platforms or settings.platform_name
    if text:
        return [p.strip() for p in text.split(",") if p.strip()]
    return ["cuda", "cpu"] if xla.cuda_plugin_available() else ["cpu"]


_default_backend: Backend | None = None


def _default() -> Backend:
    global _default_backend
    found = _default_backend
    if found is None:
        with _lock:
            if _default_backend is None:
                _default_backend = backend(_wanted()[0])
            found = _default_backend
    return found


def default_device() -> Any:
    """The device of what is not committed to another one."""
    wanted = config.thread.settings.default_device
    if wanted is None:
        return (_default_backend or _default()).local_devices[0]
    if isinstance(wanted, str):
        return backend(wanted).local_devices[0]
    return wanted


def devices(platform: str | None = None) -> list[Any]:
    """All devices of a platform (default: the default one), those of other processes included.

    >>> import sagax
    >>> sagax.devices()[0].platform in ("cpu", "gpu")
    True
    """
    return list(backend(platform).devices)


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Any]:
    """The devices of this process (or of the process `process_index`).

    >>> import sagax
    >>> sagax.local_devices() == [d for d in sagax.devices() if d.process_index == 0]
    True
    """
    index = process_index if process_index is not None else host_id
    found = _named(backend)
    if index is None:
        return list(found.local_devices)
    if not 0 <= index < process_count():
        raise ArgumentValueError(
            function="local_devices",
            argument="process_index",
            got=index,
            expected=f"a process from 0 to {process_count() - 1}",
        )
    return [d for d in found.devices if d.process_index == index]


def device_count(backend: str | None = None) -> int:
    """How many devices the platform has, in all processes.

    >>> import sagax
    >>> sagax.device_count() == len(sagax.devices())
    True
    """
    return len(_named(backend).devices)


def local_device_count(backend: str | None = None) -> int:
    """How many devices of the platform belong to this process.

    >>> import sagax
    >>> sagax.local_device_count() <= sagax.device_count()
    True
    """
    return len(_named(backend).local_devices)


def process_count(backend: str | None = None) -> int:
    """How many processes run together; 1 unless `sagax.distributed` was initialised.

    >>> import sagax
    >>> sagax.process_count()
    1
    """
    return 1 + max(d.process_index for d in _named(backend).devices)


def process_index(backend: str | None = None) -> int:
    """The number of this process among those that run together.

    >>> import sagax
    >>> sagax.process_index()
    0
    """
    return _named(backend).client.process_index()


def default_backend() -> str:
    """The name of the default platform: "cpu" or "gpu".

    >>> import sagax
    >>> sagax.default_backend() in ("cpu", "gpu")
    True
    """
    return platform_name(_default())


def platform_name(b: Backend) -> str:
    """The public name of a platform: all GPUs are "gpu"."""
    return "gpu" if b.platform == "cuda" else b.platform


def backend_of(device: Any) -> Backend:
    """The backend that a device belongs to."""
    for b in _backends.values():
        if device.client is b.client or device in b.devices:
            return b
    raise ArgumentValueError(f"{device} is no device of sagax", fix="take one from sagax.devices()")
