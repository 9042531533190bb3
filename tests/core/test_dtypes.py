"""Dtypes: promotion, names, canonical forms, limits, conversions. Expectations: tests/oracle/."""

import copy
import enum
import itertools
import json
import math
import pickle
import warnings
from pathlib import Path
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sagax.dtypes as public
from sagax._src import config
from sagax._src.core import dtypes
from sagax._src.diagnostics import errors

JAX = json.loads((Path(__file__).resolve().parents[1] / "data" / "dtypes.json").read_text())
NODES = list(JAX["codes"])[:-1]  # dtype names; with `*`, weak
DECODED = {code: node for node, code in JAX["codes"].items()}
PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}
KEY = dtypes.ExtendedDType("key<fry>", dtypes.prng_key, (2,), np.dtype("uint32"))


def exists(name: str) -> bool:
    """Whether this environment's ml_dtypes has the dtype (1-bit integers came late)."""
    return hasattr(np, name) or hasattr(ml_dtypes, name)


NAMES = [name for name in NODES if "*" not in name and exists(name)]


def pair(node: str, x64: bool = True) -> tuple:
    return dtypes.canonicalize(node.removesuffix("*"), x64), node.endswith("*")


def settings_of(words: str) -> dict:
    mode, bits = words.split()
    return {"x64": bits == "64", "numpy_dtype_promotion": mode}


def promoted(nodes: list[str], x64: bool, mode: str) -> str:
    try:
        dtype, weak = dtypes.promote(tuple(pair(node, x64) for node in nodes), x64, mode)
    except errors.TypePromotionError:
        return "error"
    return dtype.name + "*" * weak


@pytest.fixture(params=["standard 32", "strict 32", "standard 64", "strict 64"])
def setting(request):
    with config.context(**settings_of(request.param)):
        yield request.param


# --- promotion ---------------------------------------------------------------------------------


def test_promotion_of_all_pairs(setting):
    now = config.current()
    nodes = [node for node in NODES if exists(node.removesuffix("*"))]
    for a, row in zip(NODES, JAX["promotion"][setting], strict=True):
        for b, code in zip(NODES, row, strict=True):
            if a in nodes and b in nodes:
                got = promoted([a, b], now.x64, now.numpy_dtype_promotion)
                assert got == DECODED[code], (a, b)


def test_promotion_of_several(setting):
    now = config.current()
    for line in JAX["sets"][setting]:
        nodes, expected = (part.split() for part in line.split("->"))
        assert promoted(nodes, now.x64, now.numpy_dtype_promotion) == expected[0], line
        operands = [
            SimpleNamespace(dtype=dtype, weak_type=weak)
            for dtype, weak in (pair(node, now.x64) for node in nodes)
        ]
        if expected[1] == "error":
            with pytest.raises(errors.TypePromotionError):
                dtypes.result_type(*operands)
        else:
            dtype, weak = dtypes.result_type(*operands, return_weak_type_flag=True)
            assert dtype.name + "*" * weak == expected[1], line


def test_promote_types(setting):
    for a, row in zip(JAX["spelled"], JAX["promote_types"][setting], strict=True):
        for b, code in zip(JAX["spelled"], row, strict=True):
            if {a, b} <= {*NAMES, *PYTHON}:
                x, y = PYTHON.get(a, a), PYTHON.get(b, b)
                if code == JAX["codes"]["error"]:
                    with pytest.raises(errors.TypePromotionError):
                        dtypes.promote_types(x, y)
                else:
                    assert dtypes.promote_types(x, y).name == DECODED[code], (a, b)


nodes_with_widths = st.sampled_from([n for n in NODES if n in NAMES or n[:-1] in NAMES])


@given(st.lists(nodes_with_widths, min_size=1, max_size=5), st.booleans(), st.randoms())
def test_promotion_does_not_depend_on_order_or_repetition(nodes, x64, random):
    repeated = nodes + random.choices(nodes, k=2)
    random.shuffle(repeated)
    assert promoted(nodes, x64, "standard") == promoted(repeated, x64, "standard")
    shuffled = random.sample(nodes, k=len(nodes))
    assert promoted(nodes, x64, "strict") == promoted(shuffled, x64, "strict")


strong_and_python = st.sampled_from([*NAMES, "int64*", "float64*", "complex128*"])


@given(strong_and_python, strong_and_python, strong_and_python)
def test_the_standard_order_is_associative(a, b, c):
    left, right = promoted([a, b], True, "standard"), promoted([b, c], True, "standard")
    if "error" not in (left, right):
        whole = promoted([a, b, c], True, "standard")
        assert promoted([left, c], True, "standard") == whole
        assert promoted([a, right], True, "standard") == whole


@given(strong_and_python)
def test_promotion_with_itself_changes_nothing(a):
    assert promoted([a, a], True, "standard") == a
    assert promoted([a], True, "strict") == a


def test_strict_promotion_agrees_with_standard_where_it_allows_one():
    for a, b in itertools.combinations([*NAMES, "int64*", "float64*", "complex128*"], 2):
        strict = promoted([a, b], True, "strict")
        assert strict in ("error", promoted([a, b], True, "standard"))


def test_64_bit_types_survive_without_x64_where_an_operand_has_them():
    # They can be asked for with explicit_x64_dtypes="allow".
    i64, f64 = np.dtype("int64"), np.dtype("float64")
    assert dtypes.promote(((f64, False), (np.dtype("float32"), False)), False) == (f64, False)
    assert dtypes.promote(((i64, False), (np.dtype("int8"), False)), False) == (i64, False)
    assert dtypes.promote(((f64, False), (np.dtype("int32"), True)), False) == (f64, False)


def test_a_promotion_error_names_both_sides_and_a_fix():
    with pytest.raises(errors.TypePromotionError) as error:
        dtypes.promote_types("int4", "int8")
    assert str(error.value).startswith("int4 and int8 have no common dtype")
    assert "x.astype('int8')" in str(error.value)
    with (
        config.context(numpy_dtype_promotion="strict"),
        pytest.raises(errors.TypePromotionError) as error,
    ):
        dtypes.result_type(np.zeros(3, np.int8), np.zeros(3, np.int16), 1.5)
    assert "int8 and int16 and a Python float" in str(error.value)
    assert "'strict'" in str(error.value)
    assert "x.astype('float32')" in str(error.value)
    assert "update('numpy_dtype_promotion', 'standard')" in str(error.value)


def test_strict_promotion_of_what_standard_does_not_promote_either():
    with (
        config.context(numpy_dtype_promotion="strict"),
        pytest.raises(errors.TypePromotionError, match="float8_e5m2 and float16 are not"),
    ):
        dtypes.promote_types("float8_e5m2", "float16")


def test_what_holds_no_numbers_is_not_promoted():
    with pytest.raises(errors.TypePromotionError, match=r"elements of key<fry> are not numbers"):
        dtypes.result_type(SimpleNamespace(dtype=KEY), 1)
    with pytest.raises(errors.TypePromotionError, match="float0 is the dtype of derivatives"):
        dtypes.promote_types(dtypes.float0, dtypes.float0)
    assert dtypes.promote(((KEY, False), (KEY, False)), False) == (KEY, False)


def test_result_type_of_values_and_types():
    result = dtypes.result_type
    assert result(None) == np.float32
    assert result(np.zeros(3)) == np.float32  # x64 is off
    assert result(np.float64(3), return_weak_type_flag=True) == (np.dtype("float32"), False)
    assert result(3, return_weak_type_flag=True) == (np.dtype("int32"), True)
    assert result(int, float, return_weak_type_flag=True) == (np.dtype("float32"), True)
    assert result("int", return_weak_type_flag=True) == (np.dtype("int32"), False)
    assert result(True, return_weak_type_flag=True) == (np.dtype("bool"), False)
    assert result("bfloat16", 1.5) == ml_dtypes.bfloat16
    assert result(np.int8(3), 3) == np.int8
    aval = SimpleNamespace(dtype=np.dtype("int16"), weak_type=True)
    assert result(SimpleNamespace(aval=aval), np.int8(1)) == np.int8
    with pytest.raises(TypeError, match="an array or a number"):
        result([1, 2])
    with pytest.raises(ValueError, match="at least one"):
        result()


# --- what names a dtype ------------------------------------------------------------------------


def test_canonical_dtypes(setting):
    for name, expected in zip(JAX["spelled"], JAX["canonical"][setting], strict=True):
        if name in NAMES or name in PYTHON:
            assert public.canonicalize_dtype(PYTHON.get(name, name)).name == expected


@pytest.mark.parametrize("name", NAMES)
def test_one_dtype_has_many_names(name):
    scalar = getattr(ml_dtypes, name, None) or getattr(np, name)
    dtype = np.dtype(scalar)
    array = np.zeros(2, dtype)
    for spelled in (scalar, dtype, name, array, array[0], SimpleNamespace(dtype=dtype)):
        assert dtypes.as_dtype(spelled) is dtypes.as_dtype(name)
    assert dtypes.as_dtype(name) == dtype


def test_other_spellings():
    assert dtypes.as_dtype("f4") == np.float32
    assert dtypes.as_dtype("d") == np.float64
    assert dtypes.as_dtype("int") == np.int64
    assert dtypes.as_dtype(np.longlong) is np.dtype("int64")
    assert dtypes.as_dtype(">f4") is np.dtype("float32")
    assert dtypes.as_dtype(np.zeros(3, ">i2")) is np.dtype("int16")
    assert dtypes.as_dtype(KEY) is KEY
    assert dtypes.as_dtype(SimpleNamespace(dtype=KEY)) is KEY
    assert dtypes.as_dtype(np.dtype([("float0", "V")])) is dtypes.float0

    class float32:  # like the scalar types of sagax.numpy
        dtype = np.dtype("float32")

    assert dtypes.as_dtype(float32) is np.dtype("float32")


@pytest.mark.parametrize(
    "wrong",
    [None, 3, 1.5, [1, 2], object(), "float33", np.floating, np.generic, dtypes.extended],
    ids=lambda x: repr(x).split(" at ")[0],
)
def test_what_is_no_dtype(wrong):
    with pytest.raises(errors.DtypeError, match="does not name a dtype") as error:
        dtypes.as_dtype(wrong)
    assert repr(wrong) in str(error.value)
    assert isinstance(error.value, TypeError)


@pytest.mark.parametrize("wrong", ["S3", "U2", "O", "M8[s]", "m8[s]", "V4", str, object, "g", "G"])
def test_dtypes_that_hold_no_numbers_arrays_can_hold(wrong):
    with pytest.raises(errors.DtypeError, match="not numbers of a kind"):
        dtypes.as_dtype(wrong)


def test_canonicalize_dtype_and_extended_dtypes():
    assert public.canonicalize_dtype(None) == np.float32
    assert public.canonicalize_dtype(KEY, allow_extended_dtype=True) is KEY
    assert public.canonicalize_dtype(public.float0) == public.float0
    for dtype in (KEY, public.prng_key):
        with pytest.raises(ValueError, match="allow_extended_dtype=True"):
            public.canonicalize_dtype(dtype)


def test_defaults():
    for x64, bits in ((False, 32), (True, 64)):
        assert dtypes.default_int(x64).name == f"int{bits}"
        assert dtypes.default_float(x64).name == f"float{bits}"
        assert dtypes.default_complex(x64).name == f"complex{2 * bits}"
        for python, kind in ((int, "int"), (float, "float"), (complex, "complex")):
            default = getattr(dtypes, f"default_{kind}")(x64)
            assert dtypes.canonicalize(python, x64) == default


def test_a_64_bit_type_asked_for_by_name_gives_a_warning_at_the_users_line():
    with pytest.warns(public.DtypeTruncationWarning) as caught:
        dtype = dtypes.requested_dtype("float64", "zeros")
    assert dtype == np.float32
    assert caught[0].filename == __file__
    words = str(caught[0].message)
    assert words.startswith("Explicitly requested dtype float64")
    assert "zeros" in words and "float32" in words and "update('x64', True)" in words
    assert issubclass(public.DtypeTruncationWarning, UserWarning)


def test_64_bit_types_that_are_available_or_not_asked_for():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dtypes.requested_dtype(float, "zeros") == np.float32
        assert dtypes.requested_dtype("float32", "zeros") == np.float32
        assert dtypes.requested_dtype(KEY, "zeros") is KEY
        with config.context(x64=True):
            assert dtypes.requested_dtype(np.float64, "zeros") == np.float64
            assert dtypes.requested_dtype(float, "zeros") == np.float64
        with config.context(explicit_x64_dtypes="allow"):
            assert dtypes.requested_dtype(np.float64, "zeros") == np.float64
            assert dtypes.requested_dtype(float, "zeros") == np.float32
    with (
        config.context(explicit_x64_dtypes="error"),
        pytest.raises(ValueError, match="int64 in arange is not available"),
    ):
        dtypes.requested_dtype("int64", "arange")
    with pytest.raises(errors.DtypeError, match="^zeros: 'float33'"):
        dtypes.requested_dtype("float33", "zeros")


# --- facts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*NAMES, "float0"])
def test_short_names(name):
    dtype = dtypes.float0 if name == "float0" else dtypes.as_dtype(name)
    assert dtypes.short_name(dtype) == JAX["short"][name]
    assert dtypes.name(dtype) == name


@pytest.mark.parametrize("name", NAMES)
def test_kinds_and_sizes(name):
    dtype = dtypes.as_dtype(name)
    assert public.itemsize_bits(name) == JAX["bits"][name]
    assert dtypes.itemsize(dtype) == np.zeros(1, dtype).nbytes
    assert [kind for kind in dtypes._ISDTYPE if dtypes.isdtype(name, kind)] == JAX["kinds"][name]
    abstract = [
        "generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating",
        "complexfloating", "void",
    ]  # fmt: skip
    above = [a for a in abstract if public.issubdtype(name, getattr(np, a))]
    assert above == JAX["subtype"][name]
    assert public.scalar_type_of(name).__name__ == JAX["scalar"][name]
    assert public.scalar_type_of(np.zeros(2, dtype)).__name__ == JAX["scalar"][name]
    assert dtypes.is_inexact(dtype) == ("inexact" in above)
    assert dtypes.is_complex(dtype) == ("complexfloating" in above)
    assert dtypes.tangent_dtype(dtype) == (dtype if "inexact" in above else dtypes.float0)


@pytest.mark.parametrize("name", NAMES)
def test_related_dtypes(name):
    dtype = dtypes.as_dtype(name)
    inexact = dtypes.to_inexact(dtype).name
    if name in ("int1", "int2", "uint1", "uint2"):  # jax gives back the integer type
        assert inexact == "float32"
    else:
        assert inexact == JAX["inexact"][name]
    assert dtypes.to_complex(dtype).name == JAX["complex"][name]
    assert dtypes.to_numeric(dtype).name == JAX["numeric"][name]


def test_real_parts():
    names = {"complex64": "float32", "complex128": "float64", "bfloat16": "bfloat16"}
    for name, real in names.items():
        assert dtypes.real_part_dtype(dtypes.as_dtype(name)).name == real


@pytest.mark.parametrize("name", NAMES)
def test_limits(name):
    expected = dict(JAX["limits"][name])
    if "nmant" in expected:
        info = public.finfo(name)
        assert info.dtype.name == expected.pop("dtype")
        for field, value in expected.items():
            assert float(getattr(info, field)) == value
        other, right = public.iinfo, "iinfo"
    elif expected:
        info = public.iinfo(name)
        for field, value in expected.items():
            assert int(getattr(info, field)) == value
        other, right = public.finfo, "finfo"
    else:
        with pytest.raises(ValueError, match="iinfo: argument dtype must be an integer dtype"):
            public.iinfo(name)
        other, right = public.finfo, "finfo"
    with pytest.raises(ValueError, match=f"{right}: argument dtype must be") as error:
        other(name)
    assert name in str(error.value) or name.startswith("complex")


def test_limits_of_values_and_python_types():
    assert public.finfo(float).bits == 64
    assert public.iinfo(int).max == 2**63 - 1
    assert public.finfo(np.zeros(2, np.float32)).bits == 32
    with pytest.raises(TypeError, match="does not name a dtype"):
        public.finfo(None)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("float32", float, False),
        ("float64", float, True),
        (int, np.integer, True),
        ("float32", "float32", True),
        ("float32", np.float64, False),
        ("bfloat16", ml_dtypes.bfloat16, True),
        (np.floating, np.inexact, True),
        (np.floating, np.floating, True),
        (np.integer, int, False),
        (KEY, dtypes.prng_key, True),
        (KEY, dtypes.extended, True),
        (KEY, np.generic, True),
        (KEY, np.floating, False),
        (KEY, KEY, True),
        (KEY, "float32", False),
        ("float32", KEY, False),
        ("float32", dtypes.extended, False),
        (dtypes.prng_key, dtypes.extended, True),
        (dtypes.extended, np.generic, True),
        (dtypes.float0, np.void, True),
        (dtypes.float0, np.number, False),
        (np.float32(3), np.floating, True),
        (np.zeros(3, np.int8), np.integer, True),
        ("S3", np.floating, False),
        ("M8[s]", np.generic, True),
        (str, np.character, True),
    ],
    ids=repr,
)
def test_issubdtype(a, b, expected):
    assert public.issubdtype(a, b) is expected


def test_issubdtype_of_what_is_no_dtype():
    for wrong in (3, "float33", [1]):
        with pytest.raises(TypeError, match="does not name a dtype"):
            public.issubdtype(wrong, np.floating)


def test_isdtype():
    assert dtypes.isdtype("float32", ("bool", "float32"))
    assert dtypes.isdtype(np.zeros(3, np.float32), np.float32)
    assert dtypes.isdtype(int, "integral")
    assert not dtypes.isdtype("float32", "float64")
    assert dtypes.isdtype(KEY, KEY)
    assert not dtypes.isdtype(KEY, "numeric")
    with pytest.raises(ValueError, match=r"isdtype: argument kind must be .*'real floating'"):
        dtypes.isdtype("float32", ("float32", "floating"))
    for wrong in (np.floating, 3, ("bool", ("numeric",))):
        with pytest.raises(TypeError, match="isdtype: argument kind must be"):
            dtypes.isdtype("float32", wrong)


@pytest.mark.parametrize(
    ("a", "b", "castings"),
    [
        ("int8", "int8", "no equiv safe same_kind unsafe"),
        ("int32", "float32", "same_kind unsafe"),
        ("int8", "int32", "safe same_kind unsafe"),
        ("bfloat16", "float32", "safe same_kind unsafe"),
        ("float32", "bfloat16", "same_kind unsafe"),
        ("int4", "float32", "safe same_kind unsafe"),
        ("uint4", "int8", "safe same_kind unsafe"),
        ("int8", "int4", "same_kind unsafe"),
        ("float8_e4m3fn", "bfloat16", "same_kind unsafe"),
        ("float32", "int8", "unsafe"),
        (np.float32(3), "int8", "unsafe"),
        (KEY, KEY, "no equiv safe same_kind unsafe"),
        (KEY, "uint32", ""),
    ],
    ids=repr,
)
def test_can_cast(a, b, castings):
    allowed = [c for c in dtypes._CASTINGS if dtypes.can_cast(a, b, c)]
    assert allowed == castings.split()


def test_can_cast_refuses_python_numbers_and_unknown_castings():
    with pytest.raises(TypeError, match="up to its value"):
        dtypes.can_cast(3, "int8")
    with pytest.raises(ValueError, match="'same_kind'"):
        dtypes.can_cast("int8", "int8", "sometimes")


# --- extended dtypes ---------------------------------------------------------------------------


def test_extended_dtypes_behave_as_in_jax():
    name, short, size = JAX["key"]
    assert KEY.name == str(KEY) == repr(KEY) == name
    assert dtypes.short_name(KEY) == short
    assert KEY.itemsize == size
    assert KEY.type is public.prng_key
    assert dtypes.kind(KEY) == "x"
    assert dtypes.is_extended(KEY) and not dtypes.is_extended(np.dtype("int8"))


def test_extended_dtypes_are_equal_by_value():
    same = dtypes.ExtendedDType("key<fry>", dtypes.prng_key, (2,), np.dtype("uint32"))
    other = dtypes.ExtendedDType("key<rbg>", dtypes.prng_key, (4,), np.dtype("uint32"))
    assert same == KEY and hash(same) == hash(KEY) and other != KEY
    assert KEY != np.dtype("uint32") and np.dtype("uint32") != KEY
    assert KEY != "key<fry>"
    assert pickle.loads(pickle.dumps(KEY)) == copy.deepcopy(KEY) == KEY


def test_scalar_types_of_extended_dtypes_make_no_values():
    with pytest.raises(TypeError):
        public.prng_key()
    with pytest.raises(errors.DtypeError, match="not numbers"):
        public.itemsize_bits(KEY)
    with pytest.raises(errors.DtypeError, match="not numbers"):
        public.scalar_type_of(SimpleNamespace(dtype=KEY))


# --- values ------------------------------------------------------------------------------------


class Grade(enum.IntEnum):
    GOOD = 1


@pytest.mark.parametrize(
    ("value", "name", "weak", "python"),
    [
        (True, "bool", False, bool),
        (1, "int32", True, int),
        (1.5, "float32", True, float),
        (1j, "complex64", True, complex),
        (Grade.GOOD, "int32", True, int),
        (np.True_, "bool", False, bool),
        (np.float64(1), "float32", False, float),
        (np.int8(1), "int8", False, int),
        (np.zeros(2, "float16"), "float16", False, float),
    ],
    ids=repr,
)
def test_the_dtype_of_values(value, name, weak, python):
    assert dtypes.dtype_and_weak(value, x64=False) == (np.dtype(name), weak)
    wide = {"int32": "int64", "float32": "float64", "complex64": "complex128"}.get(name, name)
    assert dtypes.dtype_and_weak(value, x64=True) == (np.dtype(wide), weak)
    assert public.scalar_type_of(value) is python
    assert dtypes.is_python_scalar(value) == (type(value) in (bool, int, float, complex))


def test_the_dtype_of_traced_values_is_that_of_their_aval():
    aval = SimpleNamespace(dtype=np.dtype("float64"), weak_type=True)
    assert dtypes.dtype_and_weak(SimpleNamespace(aval=aval), False) == (aval.dtype, True)
    assert dtypes.dtype_and_weak(SimpleNamespace(dtype=KEY), False) == (KEY, False)


@pytest.mark.parametrize(
    "wrong",
    [None, "text", [1], object(), np.zeros(2, "S3")],
    ids=lambda x: repr(x).split(" at ")[0],
)
def test_values_without_a_dtype(wrong):
    with pytest.raises(TypeError):
        dtypes.dtype_and_weak(wrong, x64=False)


@pytest.mark.parametrize("name", [name for name in NAMES if "int" in name])
def test_python_ints_that_fit_and_do_not(name):
    dtype = dtypes.as_dtype(name)
    low, high = JAX["limits"][name]["min"], JAX["limits"][name]["max"]
    dtypes.check_python_int(low, dtype)
    dtypes.check_python_int(high, dtype)
    if dtypes.itemsize_bits(dtype) < 8:  # they wrap around
        dtypes.check_python_int(high + 1, dtype)
        return
    for value in (low - 1, high + 1):
        with pytest.raises(OverflowError) as error:
            dtypes.check_python_int(value, dtype)
        assert isinstance(error.value, public.IntegerOverflow)
        for part in (value, name, low, high):
            assert str(part) in str(error.value)


def test_overflow_names_a_dtype_that_is_wide_enough():
    for value, name, fix in (
        (300, "int8", "use dtype int16"),
        (-1, "uint8", "use dtype int8"),
        (300, "uint8", "use dtype uint16"),
        (2**31, "int32", "use dtype int64 (64-bit types need"),
        (2**64, "int64", "use a float"),
        (10**5000, "int64", "use a float"),
    ):
        with pytest.raises(OverflowError) as error:
            dtypes.check_python_int(value, np.dtype(name))
        assert f"fix: {fix}" in str(error.value)
        assert len(str(error.value)) < 250


def test_ints_for_other_dtypes_are_not_checked():
    for name in ("bool", "float32", "complex64", "bfloat16"):
        dtypes.check_python_int(10**6, dtypes.as_dtype(name))


@pytest.mark.parametrize("source", JAX["conversion"])
def test_conversions_are_those_of_xla(source):
    expected = dict(JAX["conversion"][source])
    values = np.array([float(v) for v in expected.pop("values")]).astype(source)
    for target, results in expected.items():
        dtype = dtypes.as_dtype(target)
        converted = dtypes.convert_numpy(values, dtype)
        assert converted.dtype == dtype
        python = int if "int" in target else float
        got = [str(python(v)) for v in converted]
        assert got == results, target


def test_conversions_of_complex_numbers():
    x = np.array([1.7 + 3j, complex(math.nan, 1), 1j, 0], np.complex64)
    convert = dtypes.convert_numpy
    assert convert(x, np.dtype("int32")).tolist() == [1, 0, 0, 0]
    assert convert(x, np.dtype("bool")).tolist() == [True, True, True, False]
    assert convert(x[2:], dtypes.bfloat16).tolist() == [0, 0]
    assert convert(np.float32(2.5), np.dtype("int8")).shape == ()


# --- the public namespace ----------------------------------------------------------------------


def test_public_names():
    for name in (
        "TypePromotionError bfloat16 canonicalize_dtype extended finfo float0 iinfo issubdtype"
        " itemsize_bits prng_key result_type scalar_type_of"
    ).split():
        assert name in public.__all__
        assert hasattr(public, name)
    assert public.bfloat16 is ml_dtypes.bfloat16
    assert np.zeros(3, public.float0).nbytes == 0
    assert issubclass(public.TypePromotionError, ValueError)
