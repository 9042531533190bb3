"""Compiling for GPUs that are only described: needs the CUDA plugin, and no driver."""

from __future__ import annotations

import re

import numpy as np
import pytest

import cuda_cases
import sagax
import sagax.numpy as snp
from sagax import nn
from sagax._src import xla
from sagax._src.runtime import devices
from sagax.experimental import topologies
from sagax.sharding import NamedSharding
from sagax.sharding import PartitionSpec as P

PLUGIN = xla.cuda_wheels.find_plugin()
MISSING = (
    "the CUDA plugin is not installed here: pip install 'sagax[cuda13]' (make gpu does)"
    if PLUGIN is None
    else f"the plugin is of version {PLUGIN.version}, jaxlib of another: install equal ones"
    if PLUGIN.version != xla.engine_version_text
    else ""
)
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)
# One case for each kernel.
KERNELS = {
    "cholesky-s0": "cusolver_potrf_ffi",
    "lu-s1": "cusolver_getrf_ffi",
    "qr-pivots-s0": "cuhybrid_geqp3",
    "eigh-s0": "cusolver_syevd_ffi",
    "eig-MAGMA-11-s0": "cuhybrid_eig_real",
    "eig-CUSOLVER-01-s0": "cusolver_geev_ffi",
    "svd-33x40-01-s0": "cusolver_gesvdj_ffi",
    "svd-3x1025-01-s0": "cusolver_gesvd_ffi",
    "svd-POLAR-c1": "cusolver_gesvdp_ffi",
    "tridiagonal-s0": "cusolver_sytrd_ffi",
    "tridiagonal_solve-s1": "cusparse_gtsv2_ffi",
    "triangular_solve-s0": "__cublas$triangularSolve",
    "attention-causal": "__cudnn$fmhaSoftmax",
    "attention-grad-bias": "__cudnn$fmhaScaleBiasSoftmaxBackward",
    "conv-bf16": "__cudnn$convForward",
}
OTHERS = ("dot-bf16-f32", "dot-mixed-bfloat16", "dot-BF16_BF16_F32_X3", "rfft2")


@pytest.fixture(scope="module")
def h200():
    return devices.described_gpus("h200", {"topology": "1x1x8"})


@pytest.fixture(scope="module")
def cases():
    return {name: rest for name, *rest in cuda_cases.cases(sagax)}


def test_the_plugin_registers_the_recorded_kernels(oracle_data, h200):
    from jaxlib import gpu_linalg, gpu_solver, gpu_sparse

    names = {
        name
        for module in (gpu_linalg, gpu_solver, gpu_sparse)
        for name, *_ in module.registrations()["CUDA"]
    }
    assert names
    assert names <= set(oracle_data("cuda_lowering")["targets"])


def test_nvidias_libraries_are_not_older_than_those_xla_was_built_with(h200):
    versions = xla.cuda.library_versions()
    if not versions:
        pytest.skip("the wheels of NVIDIA's libraries are not installed: sagax[cuda13] brings them")
    assert {"cuDNN", "cuBLAS", "cuSOLVER"} <= set(versions)
    assert all(v.fits for v in versions.values()), versions
    xla.cuda.check_libraries(PLUGIN)


@pytest.mark.parametrize("name", [*KERNELS, *OTHERS])
def test_modules_compile(name, cases, h200):
    function, operands = cases[name]
    lowered = sagax.jit(function).trace(*operands).lower(lowering_platforms=("cuda",))
    compiled = xla.compiler.compile(h200[0].client, lowered._lowered.text, h200[:1])
    targets = set(re.findall(r'custom_call_target="([^"]+)"', compiled.hlo_text()))
    assert KERNELS.get(name, "") in {"", *targets}
    with pytest.raises(ValueError, match="only described"):
        compiled.run([])


def test_a_training_step_compiles_for_eight_gpus():
    topology = topologies.get_topology_desc("H200", "cuda", topology="1x1x8")
    assert len(topology.devices) == 8
    mesh = topologies.make_mesh(topology, (4, 2), ("data", "model"))
    weights = {
        "in": sagax.ShapeDtypeStruct((64, 128), np.float32),
        "out": sagax.ShapeDtypeStruct((128, 64), np.float32),
    }
    x = sagax.ShapeDtypeStruct((32, 64), np.float32)

    def step(weights, x):
        def loss(weights):
            hidden = nn.gelu(x @ weights["in"])
            return ((hidden @ weights["out"] - x) ** 2).mean()

        grads = sagax.grad(loss)(weights)
        return sagax.tree.map(lambda w, g: w - 0.1 * g, weights, grads)

    how = {
        "in": NamedSharding(mesh, P(None, "model")),
        "out": NamedSharding(mesh, P("model", None)),
    }
    jitted = sagax.jit(step, in_shardings=(how, NamedSharding(mesh, P("data"))), out_shardings=how)
    compiled = jitted.lower(weights, x).compile()
    text = compiled.as_text()
    assert "num_partitions=8" in text
    assert "all-reduce" in text
    # each device has its part of the weights: 64 x 64 of each
    assert "f32[64,64]" in text.partition("\n")[0]
    needs = compiled.memory_analysis()
    assert needs.argument_size_in_bytes == 4 * (64 * 64 * 2 + 8 * 64)
    with pytest.raises(ValueError, match="only described"):
        compiled._compiled.run([])


def test_a_value_goes_to_host_memory(h200):
    def f(x):
        return sagax.device_put(snp.sin(x), sagax.memory.Space.Host)

    x = np.zeros((512, 512), np.float32)
    lowered = sagax.jit(f).trace(x).lower(lowering_platforms=("cuda",))
    compiled = xla.compiler.compile(h200[0].client, lowered._lowered.text, h200[:1])
    text = compiled.hlo_text()
    assert re.search(
        r"f32\[512,512\]\{1,0:S\(5\)\} copy-done", text
    )  # 5: pinned memory of the host


@pytest.mark.parametrize(
    ("function", "target"),
    [
        (snp.linalg.cholesky, "cusolver_potrf_ffi"),
        (lambda x: snp.linalg.svd(x)[1], "cusolver_gesvdj_ffi"),
        (lambda x: snp.linalg.solve(x, x), "cu_lu_pivots_to_permutation"),
    ],
    ids=["cholesky", "svd", "solve"],
)
def test_each_gpu_factors_its_own_matrices(function, target, h200):
    mesh = topologies.make_mesh(topologies.TopologyDescription(h200), (8,), ("x",))
    jitted = sagax.jit(function, in_shardings=NamedSharding(mesh, P("x")))
    compiled = jitted.lower(sagax.ShapeDtypeStruct((16, 4, 4), np.float32)).compile()
    text = compiled.as_text()
    assert re.search(rf"\[2[,\]].*custom-call.*{target}", text)
    assert "all-gather" not in text


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("xla_gpu_enable_latency_hiding_scheduler", True),
        ("xla_gpu_enable_command_buffer", "FUSION,CUBLAS"),
        ("xla_gpu_graph_min_graph_size", 2),
    ],
)
def test_options_of_xla_for_gpus_are_taken(option, value):
    (gpu,) = topologies.get_topology_desc("h100", "cuda").devices
    mesh = topologies.make_mesh(topologies.TopologyDescription([gpu]), (1,), ("x",))
    f = sagax.jit(
        lambda x: snp.sin(x) + 1,
        in_shardings=NamedSharding(mesh, P()),
        compiler_options={option: value},  # fmt: skip
    )
    compiled = f.lower(sagax.ShapeDtypeStruct((8,), np.float32)).compile()
    assert "sine" in compiled.as_text()


def test_a_topology_that_is_none_is_refused():
    with pytest.raises(sagax.errors.BackendError, match="a100, h100, h200"):
        topologies.get_topology_desc("h900", "cuda", topology="1x1x2")
