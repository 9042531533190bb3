"""On a GPU: values beside NumPy and the CPU, kernels of libraries, memory, streams, failures."""

from __future__ import annotations

import threading

import ml_dtypes
import numpy as np
import pytest

import laws
import sagax
import sagax.numpy as snp
from sagax import export, lax, nn, random
from sagax._src.core.primitive import Primitive
from sagax.sharding import SingleDeviceSharding

pytestmark = pytest.mark.gpu

ON_CPUS_ONLY = {"hessenberg", "schur"}
# Their signs and phases are the library's choice: `test_factors` multiplies them again.
CHOSEN_BY_THE_LIBRARY = {"eig", "eigh", "svd", "qr", "geqrf", "geqp3", "tridiagonal", "lu"}
# Kernels of cuDNN and approximations of the hardware: few digits.
FEW_DIGITS = {"cudnn_attention": 0.05, "cudnn_attention_grad": 0.1}


def rng():
    return np.random.default_rng(11)


def primitives() -> list[Primitive]:
    unwanted = ON_CPUS_ONLY | CHOSEN_BY_THE_LIBRARY
    return [p for p in laws.all_primitives() if p.samples and p.name not in unwanted]


@pytest.mark.parametrize("primitive", primitives(), ids=repr)
def test_samples_agree_with_numpy(primitive, on_gpu):
    samples = list(primitive.samples)
    operands = [laws.fill(s, f"{primitive.name}-{i}") for i, s in enumerate(samples)]

    def all_samples(operands):  # one module: compiling takes longest
        return [laws.bind(primitive, s)(*xs) for s, xs in zip(samples, operands, strict=True)]

    found = sagax.jit(all_samples)(operands)
    for i, (sample, xs, have) in enumerate(zip(samples, operands, found, strict=True)):
        want = laws.reference(primitive, sample, xs)
        for x, y in zip(have, want, strict=True):
            tolerance = max(8 * laws.tolerance(y.dtype, sample), FEW_DIGITS.get(primitive.name, 0))
            laws.assert_close(x, y, tolerance, f"{primitive.name}-{i}")


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("shape", [(5, 5), (40, 24), (3, 6, 6), (1030, 12)], ids=str)
def test_factors(shape, dtype, on_gpu):
    a = rng().normal(size=shape)
    a = (a + 1j * rng().normal(size=shape)[::-1] if dtype is np.complex64 else a).astype(dtype)
    atol = 3e-5 * np.abs(a).max() * np.sqrt(shape[-2])

    def close(x, y):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=2e-4, atol=atol)

    u, s, vh = snp.linalg.svd(a, full_matrices=False)
    close((u * s[..., None, :]) @ vh, a)
    close(snp.linalg.svd(a, compute_uv=False), np.linalg.svd(a, compute_uv=False))
    q, r = snp.linalg.qr(a)
    close(q @ r, a)
    q, r, order = lax.linalg.qr(a, pivoting=True, full_matrices=False)
    close(q @ r, np.take_along_axis(a, np.asarray(order)[..., None, :], axis=-1))
    gram = np.swapaxes(a, -1, -2).conj() @ a + 5 * np.eye(shape[-1], dtype=dtype)
    w, v = snp.linalg.eigh(gram)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(gram), rtol=2e-3)
    low = snp.linalg.cholesky(gram)
    np.testing.assert_allclose(low @ snp.swapaxes(low, -1, -2).conj(), gram, rtol=2e-3, atol=1e-2)
    np.testing.assert_allclose(gram @ np.asarray(v), np.asarray(v) * np.asarray(w)[..., None, :], rtol=1e-2, atol=np.abs(gram).max() * 1e-4)  # fmt: skip
    x = snp.linalg.solve(gram, gram[..., :1])
    np.testing.assert_allclose(x[..., 0, 0], np.ones(shape[:-2]), rtol=1e-2)


def test_eigenvalues_of_general_matrices(on_gpu):
    a = rng().normal(size=(3, 8, 8)).astype(np.float32)
    w, v = (np.asarray(x) for x in snp.linalg.eig(a))
    np.testing.assert_allclose(a @ v, v * w[:, None, :], atol=1e-3)
    by_host = lax.linalg.eig(a, implementation=lax.linalg.EigImplementation.LAPACK)[0]
    np.testing.assert_allclose(np.sort_complex(by_host[0]), np.sort_complex(w[0]), atol=1e-3)


def test_small_systems(on_gpu):
    for n in (1, 2, 3, 9):
        d = 4 + rng().random(n).astype(np.float32)
        du = rng().random(n).astype(np.float32)
        right = rng().random((n, 2)).astype(np.float32)
        dense = np.diag(d) + np.diag(du[1:], -1) + np.diag(du[:-1], 1)
        x = lax.linalg.tridiagonal_solve(du, d, du, right)
        np.testing.assert_allclose(x, np.linalg.solve(dense, right), rtol=1e-4)


def test_fourier_transforms(on_gpu):
    x = rng().normal(size=(4, 30, 16)).astype(np.float32)
    for have, want in (
        (snp.fft.fft(x), np.fft.fft(x)),
        (snp.fft.rfft2(x), np.fft.rfft2(x)),
        (snp.fft.irfft(snp.fft.rfft(x), 16), x),
        (snp.fft.fftn(x), np.fft.fftn(x)),
    ):
        np.testing.assert_allclose(have, want, rtol=1e-3, atol=1e-3 * np.abs(want).max())


def test_convolutions_and_their_gradients_agree_with_the_cpu(on_gpu):
    x = rng().normal(size=(2, 3, 12, 12)).astype(np.float32)
    k = rng().normal(size=(4, 3, 3, 3)).astype(np.float32)

    def loss(x, k):
        return (lax.conv(x, k, (2, 1), "SAME") ** 2).sum()

    have = sagax.grad(loss, (0, 1))(x, k)
    with sagax.default_device(sagax.devices("cpu")[0]):
        want = sagax.grad(loss, (0, 1))(x, k)
    for a, b in zip(have, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3 * float(abs(b).max()))


def test_random_bits_are_those_of_the_cpu(gpu):
    def draw():
        key = random.fold_in(random.key(7), 3)
        return [
            random.bits(key, (1000,)),
            random.randint(key, (99,), 0, 1000),
            random.permutation(key, 50),
            random.key_data(random.split(key, 5)),
            random.uniform(key, (100,)),
        ]

    with sagax.default_device(gpu):
        have = [np.asarray(x) for x in sagax.jit(draw)()]
    with sagax.default_device(sagax.devices("cpu")[0]):
        want = [np.asarray(x) for x in sagax.jit(draw)()]
    for a, b in zip(have, want, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "way", [{}, {"is_causal": True}, {"bias": True}, {"lengths": True}], ids=str
)
def test_attention_of_cudnn(way, on_gpu):
    bf16 = ml_dtypes.bfloat16
    q, k, v = rng().normal(size=(3, 2, 64, 4, 64)).astype(bf16)  # different ones: weights are small
    options = dict(way)
    if options.pop("bias", False):
        options["bias"] = rng().normal(size=(1, 4, 64, 64)).astype(bf16)
    if options.pop("lengths", False):
        options["key_value_seq_lengths"] = np.array([40, 64], np.int32)
        options["query_seq_lengths"] = np.array([32, 64], np.int32)

    def gradients(implementation):
        def loss(q, k, v):
            out = nn.dot_product_attention(q, k, v, implementation=implementation, **options)
            return (out.astype(np.float32) ** 2).mean(), out

        return sagax.jit(sagax.grad(loss, (0, 1, 2), has_aux=True))(q, k, v)

    (have, out), (want, expected) = gradients("cudnn"), gradients("xla")
    for a, b in zip((out, *have), (expected, *want), strict=True):
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        assert np.linalg.norm(a - b) < 0.02 * np.linalg.norm(b)  # bfloat16 has 8 bits
        np.testing.assert_allclose(a, b, rtol=0, atol=0.2 * np.abs(b).max())


@pytest.mark.parametrize(
    "dtype", [ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e4m3fn], ids=str
)
def test_products_of_few_bits(dtype, on_gpu):
    x = rng().normal(size=(32, 64)).astype(dtype)
    y = rng().normal(size=(64, 16)).astype(dtype)
    have = lax.dot_general(x, y, (((1,), (0,)), ((), ())), preferred_element_type=np.float32)
    want = x.astype(np.float32) @ y.astype(np.float32)
    assert have.dtype == np.float32
    np.testing.assert_allclose(have, want, rtol=1e-2, atol=1e-2)


def test_callbacks(on_gpu):
    seen = []

    def f(x):
        sagax.debug.callback(lambda v: seen.append(float(v)), x.sum())
        return sagax.pure_callback(lambda v: np.asarray(v) * 2, x, x) + 1

    np.testing.assert_array_equal(sagax.jit(f)(snp.arange(4.0)), [1, 3, 5, 7])
    sagax.effects_barrier()
    assert seen == [6.0]


def test_donation_frees_the_argument(on_gpu):
    x = sagax.device_put(np.ones((1 << 18,), np.float32), on_gpu)
    step = sagax.jit(lambda x: x + 1, donate_argnums=0)
    y = step(x)
    assert x.is_deleted()
    assert float(y[0]) == 2


def test_copies_to_the_host_and_back(on_gpu):
    values = rng().normal(size=(1 << 16,)).astype(np.float32)
    x = sagax.device_put(values, on_gpu)
    x.copy_to_host_async()
    np.testing.assert_array_equal(np.asarray(x), values)
    y = sagax.device_put(x, sagax.devices("cpu")[0])
    assert y.devices() == {sagax.devices("cpu")[0]}
    np.testing.assert_array_equal(np.asarray(sagax.device_put(y, on_gpu)), values)


def test_pinned_host_memory(on_gpu):
    values = np.arange(1024, dtype=np.float32)
    there = SingleDeviceSharding(on_gpu, memory_kind="pinned_host")
    x = sagax.device_put(sagax.device_put(values, on_gpu), there)
    assert x.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(np.asarray(x), values)
    back = sagax.device_put(x, SingleDeviceSharding(on_gpu, memory_kind="device"))
    assert back.sharding.memory_kind == "device"
    np.testing.assert_array_equal(back + 1, values + 1)


def test_an_exported_function_runs(on_gpu):
    def f(x):
        return snp.linalg.cholesky(x @ x.T + snp.eye(4)).sum() + snp.sin(x).sum()

    x = rng().normal(size=(4, 4)).astype(np.float32)
    exported = export.export(sagax.jit(f), platforms=["cpu", "cuda"])(x)
    again = export.deserialize(exported.serialize())
    np.testing.assert_allclose(again.call(x), f(x), rtol=1e-4)


def test_several_threads_compute_at_the_same_time(on_gpu):
    found: dict[int, float] = {}
    step = sagax.jit(lambda x, n: (x @ x.T * n).sum())

    def work(n):
        with sagax.default_device(on_gpu):
            x = snp.full((64, 64), 1.0)
            found[n] = sum(float(step(x, n)) for _ in range(20))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: 20.0 * n * 64**3 for n in range(1, 5)}


def test_full_memory_raises_and_leaves_the_process_alive(on_gpu):
    x = snp.ones(1 << 20) + 0
    with pytest.raises(sagax.errors.OutOfMemoryError, match="requested: 4.0 TiB"):
        sagax.jit(lambda x: x[:, None] * x)(x).block_until_ready()
    assert float(x.sum()) == 1 << 20


def test_statistics_of_memory(on_gpu, only_on_gpu):
    before = on_gpu.memory_stats()["bytes_in_use"]
    x = sagax.device_put(np.ones(1 << 22, np.float32), on_gpu).block_until_ready()
    assert on_gpu.memory_stats()["bytes_in_use"] >= before + x.nbytes


def test_no_fences_are_in_modules_for_gpus(on_gpu, only_on_gpu):
    def long(x):
        for _ in range(60):
            x = snp.sin(x) * x + snp.exp(-x)
        return x

    text = sagax.jit(long).lower(snp.ones((64, 64))).as_text()
    assert "optimization_barrier" not in text


@pytest.mark.parametrize(
    "option",
    [
        "xla_gpu_enable_latency_hiding_scheduler",
        "xla_gpu_enable_command_buffer",
        "xla_gpu_autotune_level",
    ],
)
def test_options_of_xla_for_gpus(option, on_gpu, only_on_gpu):
    value = {"xla_gpu_enable_command_buffer": "FUSION", "xla_gpu_autotune_level": 0}.get(
        option, True
    )
    f = sagax.jit(lambda x: snp.sin(x) @ x, compiler_options={option: value})
    x = rng().normal(size=(64, 64)).astype(np.float32)
    np.testing.assert_allclose(f(x), np.sin(x) @ x, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "settings",
    [
        {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
        {"XLA_CLIENT_MEM_FRACTION": "0.2"},
        {"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"},
        {"SAGAX_CUDA_VISIBLE_DEVICES": "0"},
    ],
    ids=lambda s: next(iter(s)),
)
def test_settings_of_memory(settings, run_python, only_on_gpu):
    program = (
        "import sagax, sagax.numpy as snp\n"
        "x = snp.ones((256, 256)) @ snp.ones((256, 256))\n"
        "d = sagax.devices()[0]\n"
        "print(d.platform, float(x[0, 0]), (d.memory_stats() or {}).get('bytes_limit', 0))\n"
    )
    done = run_python("-c", program, env={"SAGAX_PLATFORMS": "cuda,cpu", **settings})
    platform, value, limit = done.stdout.split()
    assert (platform, float(value)) == ("gpu", 256)
    if "XLA_CLIENT_MEM_FRACTION" in settings:
        assert 0 < int(limit) < 60 << 30
