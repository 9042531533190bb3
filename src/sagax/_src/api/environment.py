"""Print the environment: versions, devices and settings, for bug reports."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys

import numpy as np

from sagax._src.runtime import devices


def print_environment_info(return_string: bool = False) -> str | None:
    """Print the versions, devices and relevant settings, for bug reports.

    With `return_string` the text is returned and nothing printed.

    >>> import sagax
    >>> "jaxlib:" in sagax.print_environment_info(return_string=True)
    True
    """
    found = devices.devices()
    kinds = ", ".join(sorted({d.device_kind for d in found}))
    lines = [
        f"sagax:  {_version('sagax')}",
        f"jaxlib: {_version('jaxlib')}",
        f"numpy:  {np.__version__}",
        f"python: {sys.version}",
        f"device info: {kinds}-{len(found)}, {devices.local_device_count()} local devices",
        f"process_count: {devices.process_count()}",
        f"platform: {platform.uname()}",
    ]
    chosen = {k: v for k, v in os.environ.items() if k.startswith(("SAGAX_", "JAX_", "XLA_"))}
    lines += [f"{name}={value}" for name, value in sorted(chosen.items())]
    text = "\n".join(lines)
    if return_string:
        return text
    print(text)
    return None


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
