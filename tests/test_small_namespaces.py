"""flatten_util, profiler, stages, typing, and the report on the environment."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import profiler, stages
from sagax.flatten_util import ravel_pytree


def test_a_pytree_as_a_vector_and_back():
    tree = {"a": snp.arange(4.0).reshape(2, 2), "b": 3, "c": snp.ones(2, snp.bfloat16)}
    flat, unravel = ravel_pytree(tree)
    assert flat.dtype == np.float32
    np.testing.assert_array_equal(flat, [0, 1, 2, 3, 3, 1, 1])
    back = unravel(flat)
    assert sagax.tree.map(lambda x: str(x.dtype), back) == {
        "a": "float32",
        "b": "int32",
        "c": "bfloat16",
    }
    np.testing.assert_array_equal(back["a"], tree["a"])
    with pytest.raises(TypeError, match="expected dtype float32"):
        unravel(flat.astype(int))
    with pytest.raises(TypeError, match="7 elements"):
        unravel(flat[:3])
    with pytest.raises(TypeError, match=r"pytree\['x'\]"):
        ravel_pytree({"x": "text"})


def test_python_numbers_in_a_vector_count_as_arrays():
    flat, unravel = ravel_pytree({"a": snp.ones(2, snp.bfloat16), "b": 0.1})
    assert flat.dtype == np.float32 and unravel(flat)["b"] == np.float32(0.1)


def test_vectors_under_transformations():
    params = {"w": snp.ones((3, 2)), "b": snp.zeros(2)}
    flat, unravel = ravel_pytree(params)

    def loss(v):
        p = unravel(v)
        return ((snp.ones(3) @ p["w"] + p["b"]) ** 2).sum()

    g = sagax.jit(sagax.grad(loss))(flat)
    np.testing.assert_allclose(g, [6.0] * 8)
    assert unravel == ravel_pytree({"w": 2 * params["w"], "b": params["b"]})[1]
    flat, unravel = ravel_pytree(())
    assert flat.shape == (0,) and unravel(flat) == ()


def test_profile(tmp_path):
    with profiler.trace(tmp_path):
        with pytest.raises(RuntimeError, match="already been started"):
            profiler.start_trace(tmp_path)
        with profiler.StepTraceAnnotation("step", step_num=1), profiler.TraceAnnotation("part"):
            sagax.jit(lambda x: x + 1)(1.0).block_until_ready()
    written = list(tmp_path.rglob("*.xplane.pb"))
    assert len(written) == 1 and written[0].stat().st_size > 0
    assert b"part" in written[0].read_bytes()
    with pytest.raises(RuntimeError, match="No profile started"):
        profiler.stop_trace()


def test_annotated_functions_are_the_functions():
    @profiler.annotate_function(name="load")
    def load(x, *, y):
        """Loads."""
        return x + y

    assert load(1, y=2) == 3 and load.__doc__ == "Loads." and load.__name__ == "load"


def test_stages_are_recognised():
    f = sagax.jit(snp.sin)
    traced = f.trace(1.0)
    lowered = traced.lower()
    assert isinstance(f, stages.Wrapped) and isinstance(traced, stages.Traced)
    assert isinstance(lowered, stages.Lowered)
    assert isinstance(lowered.compile(), stages.Compiled)


def test_environment(capsys):
    sagax.print_environment_info()
    text = capsys.readouterr().out
    assert "jaxlib:" in text and "numpy:" in text and np.__version__ in text
