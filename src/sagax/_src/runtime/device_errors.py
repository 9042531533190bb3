"""Explain failures of devices: memory that is full, addresses that are wrong, libraries that are missing."""

from __future__ import annotations

import ast
import itertools
import linecache
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from sagax._src import xla
from sagax._src.core import dtypes
from sagax._src.diagnostics import leaks
from sagax._src.diagnostics.base import Details
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.diagnostics.spans import is_user_file
from sagax._src.runtime.array import existing_arrays

if TYPE_CHECKING:
    from types import FrameType

_SHOWN_ARRAYS = 5
_SMALL = 1 << 10
_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_OUT_OF_MEMORY = re.compile(r"RESOURCE_EXHAUSTED|out of memory|OUT_OF_MEMORY", re.IGNORECASE)
_REQUESTED = re.compile(r"(?:allocat\w+|requested)\s+(\d+(?:\.\d+)?)\s*([KMGT]iB)?", re.IGNORECASE)
_WRONG_ADDRESS = re.compile(
    r"ILLEGAL_ADDRESS|illegal memory access|MISALIGNED_ADDRESS", re.IGNORECASE
)
_TARGETS = re.compile(r'custom_call_target="([^"]+)"')
# What XLA says of a library that it cannot use, and the library.
_LIBRARIES = [
    (re.compile(r"(lib(?:cu|nv|nccl)\w*\.so[.\d]*)"), ""),
    (re.compile(r"CUDNN_STATUS|\bcuDNN\b|DNN library", re.IGNORECASE), "cuDNN (libcudnn.so.9)"),
    (re.compile(r"CUBLAS_STATUS|\bcublas", re.IGNORECASE), "cuBLAS (libcublas.so)"),
    (re.compile(r"cusolver", re.IGNORECASE), "cuSOLVER (libcusolver.so)"),
    (re.compile(r"cufft", re.IGNORECASE), "cuFFT (libcufft.so)"),
    (re.compile(r"cusparse", re.IGNORECASE), "cuSPARSE (libcusparse.so)"),
    (re.compile(r"\bNCCL\b|ncclUnhandled", re.IGNORECASE), "NCCL (libnccl.so.2)"),
    (re.compile(r"ptxas|nvlink|libdevice", re.IGNORECASE), "the compiler for GPUs (ptxas, libdevice)"),
]  # fmt: skip
_UNUSABLE = re.compile(
    r"NOT_INITIALIZED|initializ|could not load|cannot open|not found|no such file|version|mismatch|too old|undefined symbol",
    re.IGNORECASE,
)


class OutOfMemoryError(SagaxError, xla.EngineError):
    """The memory of a device is full."""

    code = "SX0218"

    def details(self) -> Details:
        """Return what fills the memory."""
        return Details(notes=tuple(self.facts.get("notes", ())))


class DeviceFaultError(SagaxError, xla.EngineError):
    """A device failed: a kernel used a wrong address, or a library cannot be used."""

    code = "SX0219"

    def details(self) -> Details:
        """Return what was running."""
        return Details(notes=tuple(self.facts.get("notes", ())))


OutOfMemoryError.__module__ = DeviceFaultError.__module__ = "sagax.errors"  # their public module


def explain(error: BaseException, executable: Any = None) -> BaseException:
    """Return the error to raise for one of XLA's; `error` itself if nothing more can be said.

    `executable` is XLA's executable that failed, where it is known.
    """
    if type(error) is not xla.EngineError:
        return error
    text = str(error)
    if _OUT_OF_MEMORY.search(text) and (requested := _requested(text)) is not None:
        found: BaseException = _out_of_memory(text, requested, executable)
    elif _WRONG_ADDRESS.search(text):
        found = _wrong_address(text, executable)
    elif (library := _library(text)) is not None:
        found = _unusable(text, library)
    else:
        return error
    found.__cause__ = error
    return found


# Memory ---------------------------------------------------------------------------------------------


def _requested(text: str) -> int | None:
    found = _REQUESTED.search(text)
    return None if found is None else int(float(found[1]) * _UNITS[found[2] or ""])


def size_text(size: float) -> str:
    """Return a number of bytes in the unit that suits it, such as "1.5 GiB"."""
    unit = next((u for u in ("TiB", "GiB", "MiB", "KiB") if size >= _UNITS[u]), "")
    return f"{size / _UNITS[unit]:.1f} {unit}" if unit else f"{int(size)} bytes"


def _out_of_memory(text: str, requested: int, executable: Any) -> OutOfMemoryError:
    notes = [f"requested: {size_text(requested)}"]
    stats = _memory_stats(executable)
    limit, used = stats.get("bytes_limit", 0), stats.get("bytes_in_use", 0)
    if limit:
        notes.append(f"memory of the device: {size_text(used)} of {size_text(limit)} in use")
    needs = _needs(executable)
    if needs:
        parts = [f"{size_text(size)} of {what}" for what, size in needs.items() if size]
        notes.append(f"{_name(executable)} needs {', '.join(parts)}")
    held = largest_arrays()
    if held:
        notes.append("the largest live arrays:")
        notes += [f"  {array}" for array in held]
    advice = list(_advice(requested, used, limit, needs, held))
    return OutOfMemoryError(text.splitlines()[0].strip(), notes=notes, fix="; or ".join(advice))


def _memory_stats(executable: Any) -> dict[str, int]:
    """Return the allocator's statistics of the device that the executable runs on; {} if it has none."""
    try:
        device = executable.local_devices()[0]
        return dict(device.memory_stats() or {})
    except (AttributeError, IndexError, xla.EngineError):
        return {}


def _needs(executable: Any) -> dict[str, int]:
    """Return what an executable needs on each device, in bytes."""
    try:
        found = executable.get_compiled_memory_stats()
    except (AttributeError, xla.EngineError):
        return {}
    return {
        "arguments": found.argument_size_in_bytes,
        "results": found.output_size_in_bytes - found.alias_size_in_bytes,
        "intermediate values": found.temp_size_in_bytes,
    }


def _name(executable: Any) -> str:
    try:
        return executable.hlo_modules()[0].name.removeprefix("jit_")
    except (AttributeError, IndexError, xla.EngineError):
        return "an executable"


def _advice(
    requested: int, used: int, limit: int, needs: dict[str, int], held: list[HeldArray]
) -> Iterator[str]:
    """Yield what would help, the likeliest first."""
    largest = max(needs, key=needs.__getitem__) if needs else ""
    if largest == "intermediate values":
        yield "recompute instead of keeping: sagax.checkpoint around layers; or a smaller batch"
    if needs and 0.2 * needs["arguments"] < needs["results"] <= needs["arguments"]:
        yield "donate arguments that the results replace: sagax.jit(f, donate_argnums=...)"
    if limit and used + requested <= limit:
        yield "the free memory is in pieces: set XLA_PYTHON_CLIENT_ALLOCATOR=platform"
    elif limit and not os.environ.get("XLA_CLIENT_MEM_FRACTION"):
        yield "let XLA use more of the GPU than three quarters: XLA_CLIENT_MEM_FRACTION=0.95"
    if sum(a.size for a in held) > requested // 2:
        yield "delete arrays that are not needed any more, as with `del`"
    if not limit and (not needs or largest == "results"):
        yield "a smaller batch, or a dtype of fewer bits"


class HeldArray(NamedTuple):
    """Describe a live array: its type, its size in bytes, and the variable that holds it."""

    size: int
    type: str
    holder: str

    def __str__(self) -> str:
        where = f", {self.holder}" if self.holder else ""
        return f"{self.type} ({size_text(self.size)}){where}"


def largest_arrays(count: int = _SHOWN_ARRAYS) -> list[HeldArray]:
    """Return the largest arrays on devices, with the variables that hold them and the lines that set these."""
    live = [
        x
        for x in existing_arrays()
        if x._buffer is not None and x.nbytes >= _SMALL and not x.is_deleted()
    ]
    by_buffer = {id(x._buffer): x for x in live}
    by_size = iter(sorted(by_buffer.values(), key=lambda x: -x.nbytes))
    ordered = list(itertools.islice((x for x in by_size if xla.was_computed(x._buffer)), count))
    frames = list(_user_frames())
    del live, by_buffer, by_size
    return [
        HeldArray(x.nbytes, f"{dtypes.name(x.dtype)}{list(x.shape)}", _holder(x, frames))
        for x in ordered
    ]


def _user_frames() -> Iterator[FrameType]:
    """Yield the running frames of the user's code, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def _holder(x: Any, frames: Iterable[FrameType]) -> str:
    passed_on = ""  # a parameter: a caller may have the variable
    for frame in frames:
        code = frame.f_code
        last = frame.f_lineno if code.co_name != "<module>" else sys.maxsize
        for name, value in list(frame.f_locals.items()):
            path = _path_to(x, value)
            if path is None:
                continue
            if where := _assignment(code.co_filename, name, code.co_firstlineno, last):
                return f"{name}{path} ({where})"
            passed_on = passed_on or f"{name}{path} ({place(code.co_filename, frame.f_lineno)})"
    if passed_on:
        return passed_on
    found = leaks.find_holder(x, ignored=frames)
    return "" if found is None else f"in {found.text}"


def _path_to(x: Any, value: Any) -> str | None:
    """Return the path from a value to the array in it, a container or two deep."""
    if value is x:
        return ""
    for key, inner in _items(value):
        if inner is x:
            return f"[{key!r}]"
        for further, leaf in _items(inner):
            if leaf is x:
                return f"[{key!r}][{further!r}]"
    return None


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    if type(value) in (list, tuple):
        return itertools.islice(enumerate(value), 1000)
    return itertools.islice(list(value.items()), 1000) if type(value) is dict else ()


def _assignment(file: str, name: str, first: int, last: int) -> str:
    """Return the place of the last statement between two lines that sets a variable; "" if there is none."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ""
    lines = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Store)
        and first <= node.lineno <= last
    ]
    return place(file, max(lines)) if lines else ""


def place(file: str, line: int) -> str:
    """Return a place in a file, as short as it can be read."""
    return f"{os.path.basename(file)}:{line}"


# Addresses and libraries ----------------------------------------------------------------------------------


def _wrong_address(text: str, executable: Any) -> DeviceFaultError:
    notes = []
    if executable is not None:
        notes.append(f"the executable that ran: {_name(executable)}")
        targets = _kernels_called(executable)
        if targets:
            notes.append(f"it calls {', '.join(targets)}")
    return DeviceFaultError(
        f"a kernel read or wrote memory that is not its own: {text.splitlines()[0].strip()}",
        notes=notes,
        expected="kernels of your own, of Pallas or by ffi_call, to stay within their blocks",
        fix="the GPU's context is lost: start the process anew. `compute-sanitizer python ...` finds the kernel, "
        "interpret=True runs Pallas kernels with checks",
    )


def _kernels_called(executable: Any) -> list[str]:
    try:
        text = executable.hlo_modules()[0].to_string()
    except (AttributeError, IndexError, xla.EngineError):
        return []
    return list(dict.fromkeys(_TARGETS.findall(text)))


def _library(text: str) -> str | None:
    """Return the library that cannot be used, if an error is about one."""
    if not _UNUSABLE.search(text):
        return None
    for pattern, name in _LIBRARIES:
        found = pattern.search(text)
        if found:
            return name or found[1]
    return None


def _unusable(text: str, library: str) -> DeviceFaultError:
    versions = xla.cuda.library_versions()
    word = library.partition(" ")[0].lower()
    known = next((f"{n} {v.text}" for n, v in versions.items() if n.lower() == word), "")
    return DeviceFaultError(
        f"{library} cannot be used: {text.splitlines()[0].strip()}",
        notes=[known] if known else [],
        fix="run `python -m sagax doctor`: it names the library that is missing or of another version. If memory is "
        "short, it fails the same way: XLA_CLIENT_MEM_FRACTION=0.7 leaves some for libraries",
    )
