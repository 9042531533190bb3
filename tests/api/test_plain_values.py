"""Values that no transformation traces stay what they are, as on jax."""

from __future__ import annotations

import collections.abc

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax


def test_unmapped_numbers_stay_numbers_under_vmap():
    kinds = []

    def f(x, h):
        kinds.append(type(h))
        return x * 2 if np.all(h > 0) else x

    for value in (0.5, 0, True, np.ones(2), np.float32(2)):
        mapped = sagax.vmap(f, in_axes=(0, None))
        assert sagax.jit(lambda x: mapped(x, value))(snp.ones(2)).shape == (2,)  # noqa: B023
        assert mapped(snp.ones(2), value).shape == (2,)
    assert kinds[::2] == kinds[1::2] == [float, int, bool, np.ndarray, np.float32]


def test_results_that_are_not_traced_stay_as_they_are():
    given = np.ones(2)

    def f(x):
        return x * 2, 2.0, given, True

    for _ in range(4):  # later calls are compiled
        out, _ = sagax.vjp(f, 1.5)
        assert type(out[1]) is float and type(out[3]) is bool and out[2] is given
        primal, tangent = sagax.jvp(lambda x: (x * 2, 2.0), (1.5,), (1.0,))
        assert type(primal[1]) is float and float(tangent[1]) == 0.0
        (_, aux), _ = sagax.value_and_grad(lambda x: (x * 2, {"n": 3}), has_aux=True)(1.5)
        assert type(aux["n"]) is int
    assert sagax.vjp(lambda x: (x, 3), 1.5, has_aux=True)[2] == 3


def test_numbers_returned_by_a_compiled_gradient_stay_numbers():
    slope = sagax.value_and_grad(lambda x: (snp.sin(x).sum(), {"n": 3, "s": 0.5}), has_aux=True)
    for _ in range(30):
        (value, aux), _ = slope(snp.ones(3))
    assert aux == {"n": 3, "s": 0.5} and type(aux["n"]) is int and type(aux["s"]) is float
    assert isinstance(value, sagax.Array)


def test_arrays_keys_and_tracers_are_no_hashables():
    found = [isinstance(snp.ones(2), collections.abc.Hashable)]
    found.append(isinstance(sagax.random.key(0), collections.abc.Hashable))
    sagax.jit(lambda x: found.append(isinstance(x, collections.abc.Hashable)) or x)(1.0)
    assert found == [False, False, False]
    with pytest.raises(TypeError, match="unhashable type"):
        hash(snp.ones(2))


def test_device_get_leaves_keys_as_they_are():
    key = sagax.random.key(0)
    found = sagax.device_get({"key": key, "x": snp.ones(2)})
    assert found["key"] is key and type(found["x"]) is np.ndarray


def test_scalar_types_hash_as_the_classes_of_numpy():
    assert np.int32 in {snp.int32} and np.dtype("int32") not in {snp.int32}
    assert snp.int32 == np.dtype("int32") and np.dtype("int32") == snp.int32


def test_axes_may_be_any_sequence():
    x = snp.ones((2, 3, 4))
    assert snp.expand_dims(x, range(2)).shape == (1, 1, 2, 3, 4)
    assert snp.squeeze(snp.ones((1, 2)), range(1)).shape == (2,)
    assert snp.sum(x, axis=range(2)).shape == snp.max(x, axis=range(2)).shape == (4,)
    assert snp.roll(x, 1, range(2)).shape == x.shape
    with pytest.raises(NameError, match="unbound axis name"):  # a text names an axis of vmap
        snp.sum(x, axis="ab")


def test_initial_values_of_windows_convert_to_the_dtype_of_the_operand():
    found = lax.reduce_window(snp.arange(4), -np.inf, lax.max, (2,), (1,), "VALID")
    np.testing.assert_array_equal(found, [1, 2, 3])


def test_narrow_integers_wrap():
    np.testing.assert_array_equal(snp.array([[1, 2], [3, 4]], dtype=snp.int2), [[1, -2], [-1, 0]])
    np.testing.assert_array_equal(snp.array([9, 17], dtype=snp.int4), [-7, 1])
    with pytest.raises(OverflowError):
        snp.array([300], dtype=snp.int8)


def test_compiled_pmap_with_a_part_that_is_none():
    given = {"a": snp.array([3]), "b": None}
    assert sagax.pmap(lambda d: d["a"]).lower(given).compile()(given).tolist() == [3]


def test_none_names_the_default_dtype_and_a_scalar():
    assert snp.issubdtype(None, snp.floating)
    assert snp.promote_types(snp.float32, None) == np.float64
    assert snp.shape(None) == ()


def test_forward_mode_of_a_reverse_rule_is_a_type_error():
    @sagax.custom_vjp
    def f(x):
        return x

    f.defvjp(lambda x: (x, None), lambda _, ct: (ct,))
    with pytest.raises(
        TypeError, match=r"can't apply forward-mode autodiff \(jvp\) to a custom_vjp"
    ):
        sagax.jvp(f, (1.0,), (1.0,))


def test_custom_rules_resolve_the_defaults_of_jitted_functions():
    f = sagax.custom_jvp(sagax.jit(lambda x, p=2, q=1: x**p), nondiff_argnums=(1, 2))
    f.defjvp(lambda p, q, primals, tangents: (primals[0] ** p, 5 * tangents[0]))
    assert float(sagax.grad(f)(3.0)) == 5.0


def test_shapes_are_arguments_of_jitted_functions_within_eval_shape():
    x = sagax.ShapeDtypeStruct((3,), "float32")
    add = sagax.jit(lambda a, b: a + b)
    assert sagax.eval_shape(lambda: add(x, x)).shape == (3,)
    assert sagax.eval_shape(lambda a: add(a, {"b": x}["b"]), x).dtype == np.float32
    with pytest.raises(TypeError, match="ShapeDtypeStruct"):
        add(x, x)


def test_scalars_narrow_where_64_bits_are_allowed():
    same = sagax.jit(lambda x: x)
    with sagax.config.context(explicit_x64_dtypes="allow"):
        assert same(np.float64(1.0)).dtype == np.float32
        assert same(np.int64(1)).dtype == np.int32
        assert sagax.jit(lambda d: d["a"])({"a": np.float64(2)}).dtype == np.float32
    with sagax.enable_x64():
        assert same(np.float64(1.0)).dtype == np.float64
