"""Functions of sagax as functions of TensorFlow: `make test-tf` runs all of it, others what needs no TensorFlow."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import export
from sagax._src import xla
from sagax.experimental import jax2tf

needs_tensorflow = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed"
)


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is not None, reason="TensorFlow is installed"
)
def test_without_tensorflow():
    f = jax2tf.convert(snp.sin)
    with pytest.raises(ImportError, match="jax2tf needs TensorFlow") as caught:
        f(1.0)
    assert "pip install tensorflow" in str(caught.value)


def test_arguments():
    with pytest.raises(TypeError, match="a function"):
        jax2tf.convert(3)
    with pytest.raises(ValueError, match="enable_xla"):
        jax2tf.convert(snp.sin, enable_xla=False)


@pytest.mark.parametrize("size", ["b", "2*b + 1", "3*b"])
def test_modules_find_their_sizes(size):
    """What is handed over takes only the arrays, and runs as it is once their shapes are static."""
    shape = export.symbolic_shape(f"{size}, 2")
    exported = export.export(sagax.jit(lambda x: snp.tanh(x).sum(1)))(
        sagax.ShapeDtypeStruct(shape, "float32")
    )
    text = xla.mlir.format_module(jax2tf._module(exported))
    main = next(line for line in text.splitlines() if "@main(" in line)
    assert main.count("%arg") == 1
    assert "get_dimension_size" in text


@pytest.mark.own_promotion("dtype")
def test_sizes_that_no_argument_tells():
    b, c = export.symbolic_shape("b, c")
    exported = export.export(sagax.jit(lambda x, y: x.sum() + y.sum() + snp.arange(b).sum()))(
        sagax.ShapeDtypeStruct((b * c,), "float32"), sagax.ShapeDtypeStruct((b + c,), "float32")
    )
    with pytest.raises(ValueError, match="from which 'b' follows alone"):
        jax2tf._module(exported)


@needs_tensorflow
def test_values_and_gradients():
    import tensorflow as tf

    def f(p, x):
        return {"y": snp.tanh(x @ p["w"]).sum(axis=1)}

    w = np.arange(6, dtype=np.float32).reshape(3, 2) / 6
    x = np.ones((4, 3), np.float32)
    for shapes in (None, (None, "b, _")):
        f_tf = jax2tf.convert(f, polymorphic_shapes=shapes)
        weights = tf.Variable(w)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(f_tf({"w": weights}, x)["y"])
        np.testing.assert_allclose(
            f_tf({"w": w}, x)["y"], np.asarray(f({"w": w}, x)["y"]), rtol=1e-5
        )
        want = sagax.grad(lambda w: f({"w": w}, x)["y"].sum())(w)
        np.testing.assert_allclose(tape.gradient(loss, weights), np.asarray(want), rtol=1e-5)


@needs_tensorflow
def test_unknown_sizes_in_a_tf_function():
    import tensorflow as tf

    f_tf = tf.function(
        jax2tf.convert(lambda x: x / x.shape[0], polymorphic_shapes="b, _"),
        input_signature=[tf.TensorSpec([None, 2], tf.float32)],
        autograph=False,
    )
    for n in (1, 5):
        x = np.ones((n, 2), np.float32)
        np.testing.assert_allclose(f_tf(x), x / n, rtol=1e-6)


@needs_tensorflow
def test_unknown_sizes_need_names():
    import tensorflow as tf

    f_tf = tf.function(
        jax2tf.convert(snp.sin),
        input_signature=[tf.TensorSpec([None], tf.float32)],
        autograph=False,
    )
    with pytest.raises(ValueError, match="polymorphic_shapes"):
        f_tf(np.ones(3, np.float32))
