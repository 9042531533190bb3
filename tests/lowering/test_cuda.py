"""What is lowered for CUDA: kernels as XLA's plugin expects them, recorded from jax; no GPU is needed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cuda_cases
import laws
import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src.core.primitive import Primitive
from sagax._src.primitives.linalg import eigen, triangular
from sagax._src.primitives.unsupported import UnsupportedError

CASES = {name: rest for name, *rest in cuda_cases.cases(sagax)}
# Targets that XLA for GPUs knows itself.
BUILT_IN = {"LayoutConstraint", "Sharding", "annotate_device_placement"}
# Factorizations that no library has on GPUs; jax has no rule for them either.
ON_CPUS_ONLY = {"hessenberg", "schur"}


def lowered(function, *operands):
    return sagax.jit(function).trace(*operands).lower(lowering_platforms=("cuda",))


def facts(stage):
    return cuda_cases.operations(stage.compiler_ir("stablehlo"))  # it parses, and so verifies


def in_order(operations):
    return sorted(json.dumps(op, sort_keys=True) for op in operations)


@pytest.mark.parametrize("name", list(CASES))
def test_the_module_has_the_operations_of_jax(name, oracle_data):
    function, operands = CASES[name]
    have = facts(lowered(function, *operands))
    want = oracle_data("cuda_lowering")["cases"][name]
    assert in_order(have) == in_order(want)


def test_every_recorded_case_is_compared(oracle_data):
    assert set(oracle_data("cuda_lowering")["cases"]) == set(CASES)


@pytest.mark.parametrize("primitive", [p for p in laws.all_primitives() if p.samples], ids=repr)
def test_every_row_of_the_operation_table_lowers(primitive, oracle_data):
    known = {*oracle_data("cuda_lowering")["targets"], *BUILT_IN}
    for sample in primitive.samples:
        operands = laws.fill(sample, primitive.name)

        def function(*xs, sample=sample):
            return primitive.bind(*xs, **sample.params)

        if primitive.name in ON_CPUS_ONLY:
            with pytest.raises(UnsupportedError, match="does not exist on this platform"):
                lowered(function, *operands)
            continue
        for op in facts(lowered(function, *operands)):
            assert op["name"] != "custom_call" or op["target"] in known, op


def test_empty_matrices_need_no_kernel():
    for function, shape in (
        (lax.linalg.cholesky, (0, 0)),
        (lax.linalg.lu, (0, 2)),
        (lax.linalg.eigh, (2, 0, 0)),
        (lax.linalg.svd, (0, 3)),
        (lax.linalg.qr, (3, 0)),
    ):
        assert "custom_call" not in lowered(function, np.zeros(shape, np.float32)).as_text()


def test_what_a_gpu_does_not_have_is_refused_by_name():
    x = np.eye(4, dtype=np.float32)
    for function, words in (
        (lambda x: lax.linalg.svd(x, algorithm=lax.linalg.SvdAlgorithm.DIVIDE_AND_CONQUER), "DIVIDE_AND_CONQUER"),
        (lambda x: lax.linalg.eigh(x, implementation=lax.linalg.EighImplementation.QDWH), "QDWH"),
        (lambda x: lax.linalg.eig(x, implementation=lax.linalg.EigImplementation.CUSOLVER), "left eigenvectors"),
        (lax.linalg.schur, "does not exist on this platform"),
    ):  # fmt: skip
        with pytest.raises((UnsupportedError, ValueError), match=words):
            lowered(function, x)


# What is not a kernel's is tried on the CPU: a primitive lowers to it there.


def on_this_machine(rule, out_of):
    probe = Primitive("probe")
    probe.abstract_rule = out_of
    probe.lower_rule = rule
    return sagax.jit(probe.bind)


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("stack", [(), (3,)])
def test_tiny_tridiagonal_systems_are_solved_without_a_kernel(size, stack):
    rng = np.random.default_rng(size)
    dl, d, du = rng.normal(size=(3, *stack, size)).astype(np.float32)
    right = rng.normal(size=(*stack, size, 2)).astype(np.float32)
    assert "custom_call" not in lowered(lax.linalg.tridiagonal_solve, dl, d, du, right).as_text()
    solve = on_this_machine(triangular._solve_tiny, lambda dl, d, du, right: right)
    dense = np.zeros((*stack, size, size))
    for i in range(size):
        dense[..., i, i] = d[..., i]
    if size == 2:
        dense[..., 0, 1], dense[..., 1, 0] = du[..., 0], dl[..., 1]
    np.testing.assert_allclose(solve(dl, d, du, right), np.linalg.solve(dense, right), rtol=2e-3)


def test_packed_eigenvectors_are_unpacked():
    import scipy.linalg.lapack

    rng = np.random.default_rng(7)
    matrices = rng.normal(size=(5, 6, 6)).astype(np.float32)
    matrices[0] = np.diag(np.arange(6))  # no complex eigenvalue
    packed = [scipy.linalg.lapack.sgeev(a, compute_vl=0) for a in matrices]
    w = np.stack([re + 1j * im for re, im, *_ in packed]).astype(np.complex64)
    assert (w.imag != 0).sum() > 8
    vectors = np.stack([p[3] for p in packed])
    unpack = on_this_machine(
        lambda b, w, v: eigen._unpacked(b, w, v, b.out),
        lambda w, v: v.with_dtype(np.dtype(np.complex64)),
    )
    v = np.asarray(unpack(w, vectors))
    np.testing.assert_allclose(matrices @ v, v * w[:, None, :], atol=2e-5)
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, rtol=1e-5)


def test_a_function_is_exported_for_both_platforms():
    from sagax import export

    def solve(a, b):
        return snp.linalg.solve(a @ a.T + snp.eye(4), b), snp.linalg.svd(a, compute_uv=False)

    a, b = np.eye(4, dtype=np.float32) * 2, np.ones(4, np.float32)
    exported = export.export(sagax.jit(solve), platforms=["cpu", "cuda"])(a, b)
    again = export.deserialize(exported.serialize())
    assert again.platforms == ("cpu", "cuda")
    for have, want in zip(again.call(a, b), solve(a, b)):
        np.testing.assert_allclose(have, want, rtol=1e-6)
    assert "lapack_sgesdd_ffi" in again.mlir_module()  # that of the first platform
    only = export.export(sagax.jit(solve), platforms=["cuda"])(a, b)
    assert "cusolver_gesvdj_ffi" in only.mlir_module()
    assert "lapack" not in only.mlir_module()
    with pytest.raises(ValueError, match="cuda"):
        only.call(a, b)


def test_values_move_to_host_memory_and_back():
    def f(x):
        kept = sagax.device_put(snp.sin(x), sagax.memory.Space.Host)
        return sagax.device_put(kept, sagax.memory.Space.Device) * x

    x = np.arange(4, dtype=np.float32)
    calls = [op for op in facts(lowered(f, x)) if op.get("target") == "annotate_device_placement"]
    kinds = [op["attributes"]["mhlo.frontend_attributes"] for op in calls]
    assert kinds == [f'{{_xla_buffer_placement = "{k}"}}' for k in ("pinned_host", "device")]
    assert all(op["attributes"]["has_side_effect"] == "true" for op in calls)
    grad = sagax.jit(lambda x: sagax.grad(lambda x: f(x).sum())(x))
    np.testing.assert_allclose(grad(x), np.cos(x) * x + np.sin(x), rtol=1e-5)
    np.testing.assert_allclose(sagax.vmap(f)(x), np.sin(x) * x, rtol=1e-5)
