"""Functions of the library have the stages of jitted functions."""

from __future__ import annotations

import functools

import numpy as np

import sagax
import sagax.numpy as snp
from sagax import export, nn, scipy


def test_functions_of_arrays_are_lowered_and_run():
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    assert float(snp.cos.lower(1.0).compile()(0.0)) == 1.0
    np.testing.assert_array_equal(snp.sort.lower(-x, axis=1).compile()(-x), np.sort(-x, axis=1))
    np.testing.assert_array_equal(snp.cumsum.lower(x, 0).compile()(x), np.cumsum(x, 0))
    assert snp.linalg.svd.trace(x, full_matrices=False).out_info[0].shape == (2, 2)
    assert nn.softmax.eval_shape(x).shape == (2, 3)
    assert scipy.special.gammasgn.trace(x).out_info.shape == (2, 3)


def test_other_parameters_than_arrays_are_static():
    x = sagax.ShapeDtypeStruct((4,), "float32")
    assert snp.resize.eval_shape(x, (2, 3)).shape == (2, 3)
    assert snp.clip.eval_shape(x, 0, 1).shape == (4,)
    assert snp.cumsum.eval_shape(x, dtype="int32").dtype == np.int32
    assert snp.convolve.eval_shape(x, x, mode="same").shape == (4,)


def test_they_are_exported():
    x = sagax.ShapeDtypeStruct(export.symbolic_shape("n"), "float32")
    exported = export.export(snp.cumprod)(x)
    np.testing.assert_array_equal(exported.call(np.float32([2, 3, 4])), [2, 6, 24])


def test_wrappers_have_stages_of_their_own():
    @functools.wraps(snp.sin)
    def twice(x):
        return 2 * snp.sin(x)

    jitted = sagax.jit(twice)
    assert float(jitted.lower(0.0).compile()(np.pi / 2)) == 2.0
    assert "lower" not in vars(sagax.vmap(snp.sin))
