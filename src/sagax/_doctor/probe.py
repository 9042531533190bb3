"""Start a platform in a child process: `python probe.py cpu|cuda|driver NUM_CPU_DEVICES`.

Each completed step prints one line of JSON, so that a crash loses nothing. The engine adapter is the only
module of sagax that is loaded: it starts quickly, and other modules cannot interfere.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import json
import pathlib
import sys
import types
from typing import Any


@functools.cache
def _import_xla() -> Any:
    """Import the package that calls XLA, without the rest of sagax."""
    folder = pathlib.Path(__file__).resolve().parents[1]
    for name, path in (("sagax", folder), ("sagax._src", folder / "_src")):
        package = types.ModuleType(
            name
        )  # a stand-in, so that the package's own __init__ does not run
        package.__path__ = [str(path)]
        sys.modules[name] = package
    return importlib.import_module("sagax._src.xla")


def _print_facts(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def _probe_cpu(count: int) -> None:
    client = _import_xla().client.make_cpu_client(count if count > 0 else None)
    _print_facts(devices=[repr(d) for d in client.local_devices()])


def _probe_cuda(_: int) -> None:
    xla = _import_xla()
    plugin = xla.cuda.check_plugin()
    try:
        xla.cuda.load_libraries(plugin)
    finally:
        _print_facts(mapped=_loaded_libraries())
    xla.cuda.load_plugin(plugin)
    # without preallocation, so as not to disturb other processes on the GPU
    client = xla.cuda.make_client({"preallocate": False})
    _print_facts(mapped=_loaded_libraries(), devices=[repr(d) for d in client.local_devices()])


def _loaded_libraries() -> list[str]:
    """Return the libraries that this process has loaded."""
    try:
        lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return []
    found = [line.partition("/") for line in lines if ".so" in line]
    return sorted({slash + path for _, slash, path in found if slash})


def _probe_driver(_: int) -> None:
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        _print_facts(library=None, error=str(error))
        return
    _print_facts(
        library=next((p for p in _loaded_libraries() if "libcuda.so" in p), "libcuda.so.1")
    )
    code = cuda.cuInit(0)
    number = ctypes.c_int(0)
    cuda.cuDriverGetVersion(ctypes.byref(number))
    _print_facts(code=code, cuda=[number.value // 1000, number.value % 1000 // 10])
    if code == 0:
        cuda.cuDeviceGetCount(ctypes.byref(number))
        _print_facts(count=number.value)


_PROBES = {"cpu": _probe_cpu, "cuda": _probe_cuda, "driver": _probe_driver}


def main(platform: str, num_cpu_devices: str) -> int:
    """Run one probe; return the exit status, 1 if it failed and printed the reason."""
    try:
        _PROBES[platform](int(num_cpu_devices))
    except Exception as error:
        step = getattr(error, "step", "starting the client")
        detail = getattr(error, "detail", f"{type(error).__name__}: {error}")
        _print_facts(step=step, detail=detail, advice=getattr(error, "advice", ""))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
