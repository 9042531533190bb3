"""Access the platforms and clients of the engine.

>>> from sagax.extend import backend
>>> backend.get_backend().platform in ("cpu", "cuda", "gpu")
True
"""

from __future__ import annotations

from typing import Any

from sagax._src.runtime import devices

__all__ = ["backends", "get_backend", "get_default_device"]


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
