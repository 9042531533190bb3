"""What is said where the memory of a device is full, an address is wrong, or a library is missing."""

from __future__ import annotations

import linecache
import types

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import errors
from sagax._src import xla
from sagax._src.runtime import device_errors

GIB = 1 << 30


def fake(hlo="", arguments=0, results=0, temporaries=0, aliased=0, limit=0, used=0):
    """An executable as XLA's, with what it needs and the statistics of its device."""
    stats = types.SimpleNamespace(
        argument_size_in_bytes=arguments,
        output_size_in_bytes=results,
        alias_size_in_bytes=aliased,
        temp_size_in_bytes=temporaries,
    )
    device = types.SimpleNamespace(
        memory_stats=lambda: {"bytes_limit": limit, "bytes_in_use": used} if limit else None
    )
    module = types.SimpleNamespace(name="jit_step", to_string=lambda: hlo)
    return types.SimpleNamespace(
        get_compiled_memory_stats=lambda: stats,
        local_devices=lambda: [device],
        hlo_modules=lambda: [module],
    )


def explained(text, executable=None):
    cause = xla.EngineError(text)
    found = device_errors.explain(cause, executable)
    assert found is cause or found.__cause__ is cause
    return found


def shown(error):
    """The text without its line breaks."""
    return " ".join(str(error).split())


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("RESOURCE_EXHAUSTED: Out of memory allocating 4398046511104 bytes.", "4.0 TiB"),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12.5GiB.", "12.5 GiB"),
        ("INTERNAL: CUDA_ERROR_OUT_OF_MEMORY: failed to allocate 1536 bytes", "1.5 KiB"),
        ("RESOURCE_EXHAUSTED: Failed to allocate request for 2.00MiB (2097152B)", None),
    ],
)
def test_the_requested_size_is_said(text, size):
    found = explained(text)
    if size is None:  # no size that we know how to read: the error stays as it is
        assert type(found) is xla.EngineError
        return
    assert isinstance(found, errors.OutOfMemoryError)
    assert isinstance(found, errors.JaxRuntimeError)
    assert f"requested: {size}" in str(found)
    assert str(found).startswith(text)


TEXT = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8.00GiB."


def test_needs_and_memory_are_said_and_the_advice_follows_them():
    text = shown(explained(TEXT, fake(arguments=2 * GIB, results=2 * GIB, temporaries=30 * GIB, limit=60 * GIB, used=58 * GIB)))  # fmt: skip
    assert "memory of the device: 58.0 GiB of 60.0 GiB in use" in text
    assert "step needs 2.0 GiB of arguments, 2.0 GiB of results, 30.0 GiB of intermediate" in text
    for words in ("sagax.checkpoint", "donate_argnums", "XLA_CLIENT_MEM_FRACTION=0.95"):
        assert words in text, words
    assert "ALLOCATOR" not in text


def test_donated_arguments_are_no_advice_and_free_memory_in_pieces_is():
    text = str(explained(TEXT, fake(arguments=2 * GIB, results=2 * GIB, aliased=2 * GIB, limit=60 * GIB, used=40 * GIB)))  # fmt: skip
    assert "donate" not in text
    assert "XLA_PYTHON_CLIENT_ALLOCATOR=platform" in " ".join(text.split())
    assert "MEM_FRACTION" not in text


def test_the_largest_arrays_are_said_with_their_variables():
    big = snp.asarray(np.ones((3, 1 << 20), np.float32)) + 1
    tree = {"weights": [snp.asarray(np.ones((2, 1 << 20), np.float32)) + 1]}
    sagax.block_until_ready((big, tree))
    unmade = object.__new__(type(big))  # as a signal handler that raises leaves one
    held = device_errors.largest_arrays()
    del unmade
    assert [a.size for a in held] == sorted([a.size for a in held], reverse=True)
    texts = list(map(str, held))
    assert any(t.startswith("float32[3, 1048576] (12.0 MiB), big (test_device_errors.py:") for t in texts)  # fmt: skip
    assert any("(8.0 MiB), tree['weights'][0] (test_device_errors.py:" in t for t in texts)
    line = next(t for t in texts if "tree" in t).rpartition(":")[2].rstrip(")")
    source = linecache.getline(__file__, int(line))
    assert source.lstrip().startswith("tree = ")


def test_memory_that_is_full_on_this_machine():
    x = snp.ones(1 << 20) + 1
    outer = sagax.jit(lambda x: x[:, None] * x)
    with pytest.raises(errors.OutOfMemoryError) as caught:
        outer(x).block_until_ready()
    text = str(caught.value)
    assert "requested: 4.0 TiB" in text
    assert "x (test_device_errors.py:" in text
    assert "4.0 TiB)" not in text  # results of what failed hold no memory
    assert caught.value.code == "SX0218"
    assert float(x[0]) == 2  # the process goes on


READS = """
import numpy as np
import sagax
import sagax.numpy as snp

x = snp.ones(1 << 20) + 1
wide, narrow = sagax.jit(lambda x: (x[:, None] * x, x[:3] * 2))(x)
ways = {
    "asarray": lambda: np.asarray(wide),
    "asarray of what was made beside it": lambda: np.asarray(narrow),
    "text": lambda: repr(wide),
    "item": lambda: wide[0, 0].item(),
    "buffer": lambda: memoryview(wide),
    "dlpack": lambda: np.from_dlpack(wide),
    "address": lambda: wide.unsafe_buffer_pointer(),
    "device_get": lambda: sagax.device_get(wide),
    "shard": lambda: np.asarray(wide.addressable_shards[0].data),
    "computed of it": lambda: np.asarray(wide + 1),
    "donated": lambda: np.asarray(sagax.jit(lambda y: y * 2, donate_argnums=0)(wide + 0)),
    "copied": lambda: wide.copy().block_until_ready(),
    "branch": lambda: sagax.lax.cond(wide[0, 0] > 0, lambda: 1, lambda: 2),
    "eager": lambda: np.asarray(x[:, None] * x),
    "debug_nans": lambda: sagax.debug_nans(True)(lambda: x[:, None] * x)(),
}
for name, read in ways.items():
    try:
        read()
    except sagax.errors.OutOfMemoryError:
        print(name)
print(float(x[0]))
"""


def test_memory_that_could_not_be_had_is_never_read(run_python):
    """XLA ends the process where it reads such memory, or waits for it for ever."""
    said = run_python("-c", READS, timeout=120).stdout.splitlines()
    named = [line.split('"')[1] for line in READS.splitlines() if line.startswith('    "')]
    assert len(named) > 10 and said == [*named, "2.0"]


def test_wrong_addresses_are_reported_with_the_executable_and_its_kernels():
    hlo = 'x = f32[] custom-call(), custom_call_target="my_kernel"\ny = custom_call_target="my_kernel"'
    text = "INTERNAL: CUDA error: Failed to synchronize: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
    found = explained(text, fake(hlo))
    assert isinstance(found, errors.DeviceFaultError)
    shown = " ".join(str(found).split())
    assert "the executable that ran: step" in shown
    assert "it calls my_kernel" in shown
    assert "compute-sanitizer" in shown
    alone = str(explained(text))  # found when an array is read
    assert "a kernel read or wrote memory" in alone
    assert "executable that ran" not in alone


@pytest.mark.parametrize(
    ("text", "library"),
    [
        ("FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above", "cuDNN"),
        ("INTERNAL: libcudnn_graph.so.9: cannot open shared object file: No such file", "libcudnn_graph.so.9"),
        ("INTERNAL: Failed to create cuBLAS handle: CUBLAS_STATUS_NOT_INITIALIZED", "cuBLAS"),
        ("INTERNAL: jaxlib/gpu/solver_handle_pool.cc: cuSolver internal: NOT_INITIALIZED", "cuSOLVER"),
        ("INTERNAL: NCCL operation ncclCommInitRank failed: unhandled system error, version 2", "NCCL"),
    ],
)  # fmt: skip
def test_libraries_that_cannot_be_used_are_named(text, library, monkeypatch):
    versions = {"cuDNN": xla.cuda.LibraryVersion(90100, 91200)}
    monkeypatch.setattr(xla.cuda, "library_versions", lambda: versions)
    found = explained(text)
    assert isinstance(found, errors.DeviceFaultError)
    assert f"{library}" in str(found).splitlines()[0]
    assert "sagax doctor" in " ".join(str(found).split())
    assert ("90100 is loaded, XLA was built with 91200" in str(found)) == (library == "cuDNN")


@pytest.mark.parametrize(
    "text",
    [
        "INVALID_ARGUMENT: shapes do not fit",
        "INTERNAL: cublas: CUBLAS_STATUS_EXECUTION_FAILED",  # usable, and something else is wrong
        "UNKNOWN: boom",
    ],
)
def test_other_errors_stay_as_they_are(text):
    assert type(explained(text)) is xla.EngineError


def test_errors_of_callbacks_are_not_taken_for_the_devices():
    def fail(x):
        raise MemoryError("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes.")

    def call(x):
        return sagax.pure_callback(fail, x, x)

    with pytest.raises(MemoryError):
        sagax.jit(call)(snp.ones(2)).block_until_ready()
