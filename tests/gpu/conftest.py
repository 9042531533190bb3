"""Select what these tests run on: a GPU of NVIDIA's, or with REHEARSE_GPU_TESTS=1 the CPU, to rehearse them.

Without a GPU they are skipped, with the reason. `make gpu` runs them on a machine that has one.
"""

from __future__ import annotations

import ctypes
import functools
import os

import pytest

import sagax

REHEARSED = os.environ.get("REHEARSE_GPU_TESTS") == "1"


@functools.cache
def missing() -> str:
    """Why there is no GPU to run on; "" if there is one."""
    if REHEARSED:
        return ""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no driver of NVIDIA's (libcuda.so.1) on this machine: `make gpu` runs it where there is one"
    try:
        sagax.devices("cuda")
    except sagax.errors.BackendError as error:
        return f"no GPU could be started: {error}"
    return ""


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("gpu") and (reason := missing()):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def gpu():
    """The device under test."""
    return sagax.devices("cpu" if REHEARSED else "cuda")[0]


@pytest.fixture
def on_gpu(gpu):
    """Computes on the device under test, with products of full precision."""
    with sagax.default_device(gpu), sagax.default_matmul_precision("highest"):
        yield gpu


@pytest.fixture
def only_on_gpu():
    """Marks what a CPU cannot rehearse."""
    if REHEARSED:
        pytest.skip("needs a GPU's own behavior: memory, streams or kernels of its libraries")
