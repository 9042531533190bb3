"""What is tried in a process of its own: `python probe.py cpu|cuda|driver NUM_CPU_DEVICES`.

Each step that was reached is one line of JSON on standard output, so that a crash loses nothing. Of
sagax it imports nothing but `_src/xla`, which needs little else of it: that starts quickest, and
whatever else is wrong cannot matter.
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

__all__ = ["main"]


@functools.cache
def _xla() -> Any:
    """Import the package that calls XLA, without the rest of sagax."""
    folder = pathlib.Path(__file__).resolve().parents[1]
    for name, path in (("sagax", folder), ("sagax._src", folder / "_src")):
        package = types.ModuleType(name)  # in its place: the package's own __init__ does not run
        package.__path__ = [str(path)]
        sys.modules[name] = package
    return importlib.import_module("sagax._src.xla")


def _tell(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def _cpu(count: int) -> None:
    client = _xla().client.make_cpu_client(count if count > 0 else None)
    _tell(devices=[repr(d) for d in client.local_devices()])


def _cuda(_: int) -> None:
    xla = _xla()
    plugin = xla.cuda.check_plugin()
    try:
        xla.cuda.load_libraries(plugin)
    finally:
        _tell(mapped=_mapped())
    xla.cuda.load_plugin(plugin)
    # without preallocation: whoever uses the GPU meanwhile shall not notice
    client = xla.cuda.make_client({"preallocate": False})
    _tell(mapped=_mapped(), devices=[repr(d) for d in client.local_devices()])


def _mapped() -> list[str]:
    """The libraries that this process has loaded."""
    try:
        lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return []
    found = [line.partition("/") for line in lines if ".so" in line]
    return sorted({slash + path for _, slash, path in found if slash})


def _driver(_: int) -> None:
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        _tell(library=None, error=str(error))
        return
    _tell(library=next((p for p in _mapped() if "libcuda.so" in p), "libcuda.so.1"))
    code = cuda.cuInit(0)
    number = ctypes.c_int(0)
    cuda.cuDriverGetVersion(ctypes.byref(number))
    _tell(code=code, cuda=[number.value // 1000, number.value % 1000 // 10])
    if code == 0:
        cuda.cuDeviceGetCount(ctypes.byref(number))
        _tell(count=number.value)


_PROBES = {"cpu": _cpu, "cuda": _cuda, "driver": _driver}


def main(what: str, num_cpu_devices: str) -> int:
    """Try one thing; the exit status: 1 if it failed in a way that was told."""
    try:
        _PROBES[what](int(num_cpu_devices))
    except Exception as error:
        step = getattr(error, "step", "starting the client")
        detail = getattr(error, "detail", f"{type(error).__name__}: {error}")
        _tell(step=step, detail=detail, advice=getattr(error, "advice", ""))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
