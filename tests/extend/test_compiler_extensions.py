"""Extensions of the compiler: passes on HLO, portable modules, options."""

from __future__ import annotations

import functools

import pytest

import sagax
from sagax.errors import SagaxError
from sagax.extend import backend, lowering, mlir, xla


def test_a_pass_sees_the_modules_that_are_compiled():
    seen = []
    xla.register_hlo_module_transformation(lambda module: seen.append(module), name="look")
    try:
        assert float(sagax.jit(lambda x: x * 3 + 17.25)(2.0)) == 23.25
    finally:
        assert xla.clear_hlo_module_transformation("look")
    assert seen and all(isinstance(module, bytes) for module in seen)
    count = len(seen)
    sagax.jit(lambda x: x * 5 + 19.5)(2.0)
    assert len(seen) == count
    with pytest.raises(SagaxError, match="PipelineStage"):
        xla.clear_hlo_module_transformation("look", 0)
    with pytest.raises(NotImplementedError, match="tpu"):
        xla.register_hlo_module_transformation(lambda m: None, name="x", platforms="tpu")


def test_modules_are_portable():
    lowered = sagax.jit(lambda x: x + 1).lower(1.0)
    artifact = mlir.serialize_portable_artifact(lowered.compiler_ir(), "1.9.0")
    context = lowering.JaxIrContext()
    context.append_dialect_registry(lowering.upstream_dialects)
    with context:
        text = str(mlir.deserialize_portable_artifact(artifact, context))
    assert "stablehlo.add" in text
    hlo = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()
    assert isinstance(mlir.hlo_to_stablehlo(hlo), bytes)
    assert mlir.ir.Module and mlir.passmanager.PassManager and mlir.dialects
    assert isinstance(lowering.JaxIrContext(), mlir.ir.Context)


def test_options_and_caches_of_backends():
    options = backend.get_compile_options(
        1, 1, env_options_overrides={"xla_cpu_enable_fast_math": True}
    )
    assert (options.num_replicas, options.num_partitions) == (1, 1)
    cached = functools.lru_cache(lambda x: x)
    backend.register_backend_cache(cached, "a test")
    cached(1)
    sagax.clear_caches()
    assert cached.cache_info().currsize == 0
    assert backend.backend_xla_version("cpu") is None
    assert hasattr(backend.ifrt_proxy, "get_client")
