"""Making arrays, and the expressions of tests/numpy_cases.py against what jax 0.12 gave for them."""

import io
import math
import pickle
import textwrap
import warnings

import ml_dtypes
import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from numpy_cases import CREATION, METHODS
from numpy_rest_cases import refused
from sagax import errors
from sagax._src import config, xla

# --- the recorded expressions ----------------------------------------------------------------------

# jax raises another exception, or none where NumPy does; each with what is raised here
RAISES = {
    "xp.array([xp.ones(2), xp.ones(3)])": ValueError,  # as for other ragged lists
    "xp.zeros(-1)": ValueError,  # as NumPy
    "xp.arange(0, 1, 0)": ValueError,
    "xp.round(True)": TypeError,
    "xp.ravel_multi_index((1.0, 2), (2, 4))": TypeError,
}


def plain(x):
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return [plain(x.real), plain(x.imag)]
    if x.dtype.kind in "fV" and x.dtype != np.float64:
        return [float(str(v)) for v in x.ravel().astype(np.float32)]
    return x.ravel().tolist()


def described(out):
    if isinstance(out, (bool, int, float, str)):
        return out
    arrays = [snp.asarray(leaf) for leaf in sagax.tree.leaves(out)]
    return [[str(a.dtype) + "*" * a.weak_type, list(a.shape), plain(a)] for a in arrays]


def close(found, expected):
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(close(f, e) for f, e in zip(found, expected, strict=True))
        )
    if isinstance(expected, float) and isinstance(found, (int, float)):
        return found == expected or math.isclose(found, expected, rel_tol=2e-6, abs_tol=5e-7) or (
            math.isnan(found) and math.isnan(expected)
        )  # fmt: skip
    return type(found) is type(expected) and found == expected


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("expression", [*CREATION, *METHODS])
def test_as_in_jax(expression, x64, oracle_data):
    expected = oracle_data("numpy_creation")[f"{64 if x64 else 32} {expression}"]
    has_nan = sagax.config.jax_debug_nans and "nan" in str(expected)
    if has_nan or expression in refused(sagax):
        pytest.skip("the expression itself promotes, or gives NaNs")
    error = RAISES.get(expression)
    if error is None and isinstance(expected, str) and expected.startswith("raises "):
        error = getattr(__import__("builtins"), expected.removeprefix("raises "))
    with config.context(x64=x64), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if error is not None:
            with pytest.raises(error):
                eval(expression, {"xp": snp, "np": np})
        else:
            found = described(eval(expression, {"xp": snp, "np": np}))
            assert close(found, expected), f"{found}\n{expected}"


# --- lists ---------------------------------------------------------------------------------------


def test_ragged_lists_name_the_place():
    with pytest.raises(errors.ArgumentValueError) as e:
        snp.array([[[1, 2], [3, 4]], [[5, 6], [7]]])
    assert "shape (2,) at object[1][0], but shape (1,) at object[1][1]" in str(e.value)
    assert "inhomogeneous" in str(e.value) or "differ in shape" in str(e.value)


@pytest.mark.parametrize("wrong", ["text", b"bytes", {"a": 1}, {1, 2}, object(), None])
def test_values_that_are_no_numbers_name_the_place(wrong):
    with pytest.raises(errors.SagaxError, match=r"object\[1\]|valid"):
        snp.array([1, wrong])


def test_lists_of_tracers():
    def f(x, y):
        return snp.array([[x, 1.0], [y, 2]])

    np.testing.assert_array_equal(sagax.jit(f)(3.0, 4.0), [[3, 1], [4, 2]])
    assert sagax.grad(lambda x: snp.array([x, x * x]).sum())(3.0) == 7
    np.testing.assert_array_equal(
        sagax.vmap(lambda r: snp.asarray([r[0], r[1]]))(snp.eye(2)), np.eye(2)
    )
    jaxpr = sagax.make_jaxpr(lambda x: snp.array([x, 2.0, x]))(1.0)
    assert [e.primitive.name for e in jaxpr.jaxpr.eqns][-1] in ("stack", "concatenate")
    assert len(jaxpr.jaxpr.eqns) <= 5  # as many as in jax


def test_numbers_that_do_not_fit():
    for make in (
        lambda: snp.array(2**31),
        lambda: snp.array([0, -(2**31) - 1]),
        lambda: snp.array([[300]], dtype="uint8"),
        lambda: snp.uint8(-1),
        lambda: snp.full(3, 300, dtype="int8"),
        lambda: snp.asarray(1e10, dtype="int32"),
    ):
        with pytest.raises(OverflowError, match="does not fit"):
            make()
    with pytest.raises(ValueError, match="nan"):
        snp.array(float("nan"), dtype=int)
    assert float(snp.array(2**80, dtype=float)) == 2.0**80


def test_explicit_64_bits_warn_with_x64_off():
    for make in (
        lambda: snp.zeros(2, "float64"),
        lambda: snp.arange(3, dtype=snp.int64),
        lambda: snp.array([1.0], dtype=np.float64),
        lambda: snp.ones(2).astype("complex128"),
        lambda: snp.float64(1),
        lambda: snp.full_like(snp.ones(2), 1, dtype="int64"),
    ):
        with pytest.warns(UserWarning, match="truncated to"):
            assert make().dtype.itemsize <= 8
    with config.context(x64=True):
        assert snp.zeros(2, "float64").dtype == "float64"


def test_what_is_made_of_an_array_is_not_changed_by_its_owner():
    owner = np.arange(3.0, dtype="float32")
    copies = [snp.array(owner), snp.asarray(owner), snp.from_dlpack(owner, copy=True)]
    owner[0] = 9
    assert [float(c[0]) for c in copies] == [0, 0, 0]


def test_arrays_of_others():
    class Duck:
        def __array__(self, dtype=None, copy=None):
            return np.arange(2)

    class Jax:
        def __jax_array__(self):
            return snp.arange(2.0)

    assert snp.asarray(Duck()).tolist() == [0, 1]
    assert snp.asarray(Jax()).dtype == "float32"
    assert snp.asarray([Duck(), Duck()]).shape == (2, 2)
    assert snp.asarray([Jax(), Jax()]).shape == (2, 2)
    assert snp.add(Jax(), 1).tolist() == [1, 2]
    x = snp.ones(2)
    assert snp.asarray(x) is x


# --- filled arrays and ranges under transformations --------------------------------------------------


def test_creation_in_traced_programs():
    def text(function):
        body = str(sagax.make_jaxpr(function)()).split(" let", 1)[1].rsplit("in (", 1)[0]
        return [line.strip() for line in body.splitlines() if line.strip()]

    assert text(lambda: snp.zeros((2, 3))) == ["a:f32[2,3] = broadcast_in_dim 0.0:f32[]"]
    assert text(lambda: snp.full(2, 7, "int8")) == ["a:i8[2] = broadcast_in_dim 7:i8[]"]
    assert len(text(lambda: snp.arange(5))) == 1
    assert len(text(lambda: snp.arange(2, 5))) == 2
    assert len(text(lambda: snp.eye(3))) == 4
    assert text(lambda: snp.asarray(2.0)) == []


def test_shapes_with_symbolic_sizes():
    (n,) = sagax._src.core.dims.symbolic_shape("n")
    x = sagax.ShapeDtypeStruct((n, 3), "float32")
    for function, shape in (
        (snp.zeros_like, (n, 3)),
        (lambda x: snp.ones(x.shape[0]), (n,)),
        (lambda x: snp.arange(x.shape[0]), (n,)),
        (lambda x: snp.eye(x.shape[0]), (n, n)),
        (lambda x: snp.tril(x), (n, 3)),
        (lambda x: snp.full((x.shape[0], 2), 1.0), (n, 2)),
        (lambda x: snp.where(x > 0, x, snp.arange(3.0)), (n, 3)),
    ):
        assert sagax.eval_shape(function, x).shape == shape


def test_bounds_that_are_traced():
    with pytest.raises(errors.ConcretizationTypeError, match="arange"):
        sagax.jit(lambda n: snp.arange(n))(3)
    with pytest.raises(errors.SagaxError, match="zeros"):
        sagax.jit(lambda n: snp.zeros(n))(3)
    with pytest.raises(errors.ConcretizationTypeError, match="num"):
        sagax.jit(lambda n: snp.linspace(0, 1, n))(3)
    assert sagax.jit(lambda a: snp.linspace(a, 1, 3))(0.0).tolist() == [0, 0.5, 1]


def test_ranges_meet_their_ends():
    for stop in (1.0, 0.1, 7.3, -1e6):
        assert float(snp.linspace(0, stop, 7)[-1]) == np.float32(stop)
        assert float(snp.linspace(stop, 0, 7)[0]) == np.float32(stop)
    assert float(snp.geomspace(3, 700, 5)[-1]) == 700
    np.testing.assert_allclose(
        snp.linspace(-3, 9, 101), np.linspace(-3, 9, 101), rtol=1e-5, atol=1e-6
    )


def test_places_and_indices_are_inverse():
    shape = (3, 4, 5)
    places = np.arange(60, dtype="int32")
    for order in ("C", "F"):
        indices = np.unravel_index(places, shape, order=order)
        np.testing.assert_array_equal(
            snp.ravel_multi_index(tuple(map(snp.asarray, indices)), shape, order=order), places
        )
    for found, expected in zip(
        sagax.jit(lambda p: snp.unravel_index(p, shape))(places),
        np.unravel_index(places, shape),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(errors.ConcretizationTypeError, match="clip"):
        sagax.jit(lambda i: snp.ravel_multi_index((i, i), (2, 4)))(1)
    with pytest.raises(errors.ArgumentValueError, match=r"multi_index\[1\]"):
        snp.ravel_multi_index((0, 9), (2, 4))
    with pytest.raises(errors.ArgumentValueError, match="int8"):
        snp.ravel_multi_index((1, 1), (100, 100), dtype="int8")


# --- files, buffers, dlpack, printing ----------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16"])
def test_files(dtype, tmp_path):
    x = snp.array([0, 1, 3], dtype=dtype)
    snp.save(tmp_path / "x.npy", x)
    back = snp.load(tmp_path / "x.npy")
    assert back.dtype == x.dtype
    assert back.tolist() == x.tolist()


def test_files_of_several_arrays_and_unknown_types(tmp_path):
    snp.savez(tmp_path / "x.npz", snp.arange(2), named=snp.ones(1))
    found = snp.load(tmp_path / "x.npz")
    assert sorted(found) == ["arr_0", "named"]
    file = io.BytesIO()
    snp.save(file, snp.ones(2, "float8_e4m3fn"))
    file.seek(0)
    with pytest.raises(errors.DtypeError, match="view"):
        snp.load(file)


def test_dlpack():
    x = np.arange(6, dtype="float32").reshape(2, 3)
    assert snp.from_dlpack(x).tolist() == x.tolist()
    assert snp.from_dlpack(x.T).tolist() == x.T.tolist()
    assert snp.from_dlpack(np.arange(3)).dtype == "int32"
    y = snp.arange(3.0)
    assert snp.from_dlpack(y) is y
    np.testing.assert_array_equal(np.from_dlpack(y), y)
    with pytest.raises(errors.ArgumentError, match="__dlpack__"):
        snp.from_dlpack([1, 2])


def test_dlpack_of_strided_numbers_that_numpy_does_not_know():
    class Strided:
        """Numbers of 16 bits, whose capsule calls them bfloat16, as torch's does."""

        def __dlpack__(self, **_):
            capsule = numbers.view("uint16").__dlpack__()
            xla.dlpack._capsule_tensor(capsule).code = 4
            return capsule

        def __dlpack_device__(self):
            return (1, 0)

    whole = np.arange(24.0).reshape(2, 3, 4).astype(snp.bfloat16)
    for numbers in (whole.transpose(2, 0, 1), whole[:, ::2], whole[::-1, :, 1:3], whole[:, :0:-1]):
        found = snp.from_dlpack(Strided())
        assert (found.dtype, found.tolist()) == (snp.bfloat16, numbers.tolist())
        assert snp.from_dlpack(Strided(), copy=True).tolist() == numbers.tolist()


def test_dlpack_without_a_copy():
    memory = np.zeros(64, "float32")
    start = -memory.ctypes.data % 64 // 4
    aligned = memory[start : start + 32]
    shared = snp.from_dlpack(aligned, copy=False)
    assert np.shares_memory(np.asarray(shared), aligned)
    read_only = aligned.view()
    read_only.flags.writeable = False
    for given in (aligned[1:], aligned[::2], aligned.view("int64"), read_only):
        with pytest.raises(ValueError, match="copy=False forbids"):
            snp.from_dlpack(given, copy=False)
        assert snp.from_dlpack(given).shape == given.shape
    x = snp.arange(3.0)
    copied = snp.from_dlpack(x, copy=True)
    x.delete()
    assert copied.tolist() == [0, 1, 2]


@pytest.mark.parametrize("size", [3, 100_000])
def test_memory_that_others_use_outlives_its_array(run_python, size):
    """The engine ends the process when it frees such memory, so that this one tries it elsewhere."""
    program = f"""
        import gc, warnings
        import numpy as np
        import sagax, sagax.numpy as snp
        warnings.simplefilter("ignore")
        double = sagax.jit(lambda x: x * 2, donate_argnums=0)
        for leave in (lambda x: x.delete(), double, lambda x: None):
            x = sagax.jit(lambda: snp.arange({size}.0) + 1)()
            seen, capsule = np.from_dlpack(x), x.__dlpack__()
            out = leave(x)
            del x
            gc.collect()
            others = [snp.zeros({size}) + i for i in range(20)]
            assert (seen == np.arange({size}) + 1).all()
            assert out is None or (np.asarray(out) == 2 * seen).all()
            del seen, capsule
        print("done")
    """
    assert run_python("-c", textwrap.dedent(program)).stdout == "done\n"


def test_dlpack_refusals():
    x = snp.arange(3.0)
    assert np.from_dlpack(x, device="cpu").tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match=r"not on \(2, 0\)"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(errors.ArgumentError, match="no DLPack form"):
        np.from_dlpack(sagax.random.key(0))


@pytest.mark.parametrize("name", ["fromfile", "fromiter"])
def test_sources_that_change_as_they_are_read(name):
    with pytest.raises(NotImplementedError, match=f"numpy.{name}"):
        getattr(snp, name)([1, 2], int)


def test_printing():
    x = snp.array([1.23456, 2.0])
    assert snp.array_repr(x, precision=2) == "Array([1.23, 2.  ], dtype=float32)"
    assert snp.array_str(x, precision=2) == "[1.23 2.  ]"
    with snp.printoptions(precision=1):
        assert str(x) == "[1.2 2. ]"
        assert snp.get_printoptions()["precision"] == 1
    assert str(x) == "[1.23456 2.     ]"


# --- scalar types --------------------------------------------------------------------------------


def test_scalar_types_equal_no_other_values():
    """NumPy reads None, texts and Python's types as dtypes; a scalar type is none of them, as in jax."""
    assert snp.float64 == np.float64 == snp.float64.dtype
    assert snp.bfloat16 == ml_dtypes.bfloat16
    for other in (None, "float64", "f8", float, np.float32, snp.float32, 1.0, object):
        assert not snp.float64 == other
        assert snp.float64 != other
    assert snp.bool == np.bool_
    assert not any(snp.bool == other for other in (bool, "bool", None))


def test_scalar_types():
    assert snp.float32 == np.float32 == snp.float32.dtype
    assert snp.float32 != snp.float16
    assert hash(snp.float32) == hash(np.float32)  # as in jax
    assert {np.int8: 1}[snp.int8] == 1
    assert np.dtype(snp.bfloat16) == ml_dtypes.bfloat16
    assert isinstance(np.float32(1), snp.float32)
    assert not isinstance(snp.float32(1), snp.float32)
    assert snp.float32(1).dtype == "float32"
    assert not snp.float32(1).weak_type
    assert snp.bool_ is snp.bool
    assert snp.issubdtype(snp.bfloat16, snp.floating)
    assert pickle.loads(pickle.dumps(snp.float32)) is snp.float32
    assert repr(snp.int4) == "<class 'sagax.numpy.int4'>"
    assert snp.zeros(2, snp.int8).dtype == snp.int8
    assert np.zeros(2, snp.int8).dtype == "int8"


@pytest.mark.own_promotion("dtype")
def test_questions_about_types():
    assert snp.finfo(snp.bfloat16).bits == 16
    assert snp.iinfo(snp.uint8).max == 255
    assert snp.result_type(snp.int8, 1.5) == "float32"
    assert snp.promote_types("bfloat16", "float16") == "float32"
    assert snp.can_cast("int8", "int16")
    assert snp.isdtype(snp.int8, "integral")
    assert snp.iscomplexobj([1j])
    assert not snp.iscomplexobj(None)
    assert snp.isscalar("text")


@pytest.mark.parametrize("k", [2**31 - 1, 2**31, 2**40, -(2**31), -(2**31) - 1, -(2**40), 3, -2])
def test_diagonal_far_outside(k):
    """A diagonal outside of the matrix may be as far out as a Python int says."""
    ones = np.ones((2, 3))
    np.testing.assert_array_equal(snp.eye(2, 3, k), np.eye(2, 3, k))
    np.testing.assert_array_equal(snp.tri(2, 3, k), np.tri(2, 3, k))
    np.testing.assert_array_equal(snp.tril(ones, k), np.tril(ones, k))
    np.testing.assert_array_equal(snp.triu(ones, k), np.triu(ones, k))


def test_array_api():
    x = snp.ones(2)
    assert x.__array_namespace__() is snp
    assert x.__array_namespace__(api_version=snp.__array_api_version__) is snp
    with pytest.raises(ValueError, match="2000"):
        x.__array_namespace__(api_version="2000.01")
    info = snp.__array_namespace_info__()
    assert info.default_dtypes()["integral"] == "int32"
    assert "float64" not in info.dtypes()
    assert sorted(info.dtypes(kind=("bool", "real floating"))) == ["bool", "float32"]
    with config.context(x64=True):
        assert "float64" in info.dtypes()
        assert info.default_dtypes()["indexing"] == "int64"
    # The standard wants a list, not any sequence.
    assert info.devices() == [None, *sagax.devices()]
    with pytest.raises(errors.ArgumentError, match="kind"):
        info.dtypes(kind="colour")


def test_devices():
    device = sagax.devices()[0]
    for made in (
        snp.zeros(2, device=device),
        snp.asarray([1], device=device),
        snp.arange(3, device=device),
        snp.full(2, 1.0, device=device),
        snp.linspace(0, 1, 3, device=device),
        snp.ones(2).astype(int, device=device),
        snp.ones(2).to_device(device),
    ):
        assert made.committed
        assert made.devices() == {device}
    with pytest.raises(TypeError, match="out_sharding must be a sharding"):
        snp.zeros(2, out_sharding=object())


def test_arrays_like_a_description_have_its_sharding(eight_devices):
    mesh = sagax.make_mesh((2,), ("x",), axis_types=(sagax.sharding.AxisType.Explicit,))
    functions = [snp.zeros_like, snp.ones_like, snp.empty_like, lambda a, **k: snp.full_like(a, 2, **k)]  # fmt: skip
    for of_mesh in (mesh, mesh.abstract_mesh):
        sharding = sagax.NamedSharding(of_mesh, sagax.P("x"))
        described = sagax.ShapeDtypeStruct((32,), snp.float32, sharding=sharding)
        with sagax.set_mesh(mesh):
            for function in functions:
                assert function(described).sharding.spec == sagax.P("x")
                assert function(described, shape=(32,)).sharding.spec == sagax.P("x")
                assert function(described, shape=(32, 4)).sharding.spec == sagax.P(None, None)
            assert sagax.lax.full_like(described, 2).sharding.spec == sagax.P("x")
