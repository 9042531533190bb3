"""Arrays that travel between sagax and torch, where torch is installed: `make test-torch` does."""

from __future__ import annotations

import gc
import importlib.util
import textwrap

import numpy as np
import pytest

import sagax
import sagax.numpy as snp

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed; `make test-torch` installs it", allow_module_level=True)

import torch

DTYPES = (
    "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32",
    "bfloat16", "float16", "float32", "complex64",
)  # fmt: skip
WIDE = ("int64", "uint64", "float64", "complex128")


def numbers(x):
    """Return the elements of a tensor as NumPy has them; it knows no bfloat16."""
    x = x.detach().resolve_conj()
    return (x.float() if x.dtype is torch.bfloat16 else x).numpy().tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    values = [[0, 1, 3], [1, 0, 2]]
    there = torch.from_dlpack(snp.array(values).astype(dtype))
    assert (there.dtype, numbers(there)) == (
        getattr(torch, dtype),
        np.array(values).astype("float32" if dtype == "bfloat16" else dtype).tolist(),
    )
    back = snp.from_dlpack(torch.tensor(values).to(getattr(torch, dtype)))
    assert (back.dtype, back.tolist()) == (snp.dtype(dtype), numbers(there))


@pytest.mark.parametrize("dtype", WIDE)
def test_wide_dtypes(dtype):
    tensor = torch.tensor([0, 1, 3]).to(getattr(torch, dtype))
    narrow = {"int64": "int32", "uint64": "uint32", "float64": "float32"}.get(dtype, "complex64")
    assert snp.from_dlpack(tensor).dtype == narrow
    with sagax.enable_x64(True):
        x = snp.from_dlpack(tensor)
        assert (x.dtype, x.tolist()) == (dtype, tensor.tolist())
        assert torch.equal(torch.from_dlpack(x), tensor)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (2, 3, 4)])
def test_shapes(shape):
    x = np.arange(np.prod(shape, dtype=int), dtype="float32").reshape(shape)
    assert numbers(torch.from_dlpack(snp.asarray(x))) == x.tolist()
    found = sagax.dlpack.from_dlpack(torch.tensor(x))
    assert (found.shape, found.tolist()) == (shape, x.tolist())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "complex64"])
def test_tensors_that_are_not_contiguous(dtype):
    whole = torch.arange(24).reshape(2, 3, 4).to(getattr(torch, dtype))
    for view in (whole.permute(2, 0, 1), whole[:, ::2], whole[..., 1:], whole[:1].expand(3, 3, 4)):
        for take in (snp.from_dlpack, snp.asarray, lambda t: snp.from_dlpack(t, copy=True)):
            if dtype == "bfloat16" and take is snp.asarray:
                continue  # it goes through NumPy, which torch refuses to give this type
            found = take(view)
            assert found.shape == tuple(view.shape)
            assert found.tolist() == numbers(view)


def test_refused_tensors():
    with pytest.raises(BufferError, match="gradient"):
        snp.from_dlpack(torch.ones(3, requires_grad=True))
    with pytest.raises(BufferError, match="conjugate"):
        snp.from_dlpack(torch.tensor([1j]).conj())
    with pytest.raises(TypeError, match="negated lazily"):
        snp.from_dlpack(torch.tensor([1j]).conj().imag)
    with pytest.raises(ValueError, match="copy=False forbids"):
        snp.from_dlpack(torch.ones(4, 3).T, copy=False)


def test_memory_lives_as_long_as_it_is_used():
    tensor = torch.arange(1000.0)
    x = snp.from_dlpack(tensor)
    del tensor
    y = sagax.jit(lambda: snp.arange(1000.0) * 1)()
    z = sagax.jit(lambda: snp.arange(1000.0) * 1)()
    kept, deleted = torch.from_dlpack(y), torch.from_dlpack(z)
    del y
    z.delete()
    gc.collect()
    others = [torch.full((1000,), 7.0) for _ in range(50)], [snp.full(1000, 7.0) for _ in range(50)]
    assert float(x.sum()) == float(kept.sum()) == float(deleted.sum()) == 499500.0
    assert others


def test_donated_arrays_leave_tensors_as_they_are():
    double = sagax.jit(lambda x: x * 2, donate_argnums=0)
    tensor = torch.arange(1024.0)
    assert float(double(snp.from_dlpack(tensor))[3]) == 6
    x = sagax.jit(lambda: snp.arange(1024.0) * 1)()
    exported = torch.from_dlpack(x)
    assert float(double(x)[3]) == 6
    assert float(tensor[3]) == float(exported[3]) == 3


def test_copies_are_independent():
    tensor = torch.arange(1024.0)
    copies = snp.from_dlpack(tensor, copy=True), snp.asarray(tensor), snp.array(tensor)
    tensor.fill_(9)
    assert [float(x[1]) for x in copies] == [1, 1, 1]
    x = sagax.jit(lambda: snp.arange(1024.0) * 1)()
    for copied in (torch.from_dlpack(x, copy=True), torch.tensor(np.asarray(x))):
        copied.fill_(9)
        assert float(x[1]) == 1


def test_other_ways_into_torch():
    x = snp.arange(3.0)
    for take in (torch.as_tensor, torch.asarray, lambda x: torch.tensor(np.asarray(x))):
        assert numbers(take(x)) == [0, 1, 2]
    assert sagax.jit(lambda x: snp.asarray(x) * 2)(np.asarray(torch.ones(2))).tolist() == [2, 2]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_data_loader_with_workers_feeds_a_jitted_step(run_python, tmp_path, method):
    """The workers make tensors; arrays that a data set holds are read there by NumPy."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import warnings
        warnings.simplefilter("ignore")  # of threads in a process that forks
        import numpy as np, torch
        import sagax, sagax.numpy as snp

        class Rows(torch.utils.data.Dataset):
            def __init__(self, rows):
                self.rows = rows

            def __len__(self):
                return len(self.rows)

            def __getitem__(self, i):
                return np.asarray(self.rows)[i], i

        @sagax.jit
        def step(total, rows, labels):
            return total + (rows.sum(1) * labels).sum()

        if __name__ == "__main__":
            total = step(snp.zeros(()), np.ones((4, 3), "float32"), np.zeros(4, "int32"))
            rows = snp.arange(36.0).reshape(12, 3)
            loader = torch.utils.data.DataLoader(
                Rows(rows), batch_size=4, num_workers=2, multiprocessing_context="{method}"
            )
            for batch, labels in loader:
                total = step(total, snp.from_dlpack(batch), snp.from_dlpack(labels))
            print(float(total), float((np.arange(36.0).reshape(12, 3).sum(1) * np.arange(12)).sum()))
        """)
    )
    done = run_python(str(script), timeout=120)
    found, expected = done.stdout.split()
    assert found == expected
