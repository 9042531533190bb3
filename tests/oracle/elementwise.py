"""Records what jax does with elementwise operations, for tests/test_elementwise_*.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/elementwise.py

It rewrites tests/data/elementwise.json. Numbers are stored as Python prints them: those of narrower
types exactly, -0.0, NaN and Infinity by name, complex ones as pairs.
"""

import itertools
import json
import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

DATA = Path(__file__).resolve().parents[1] / "data" / "elementwise.json"
INF, NAN = float("inf"), float("nan")

# Where operations differ: zeros with signs, halves, ties, limits, infinities, NaN
EDGES: dict[str, list] = {
    "float32": [
        -INF,
        -8388609.0,
        -2.5,
        -1.5,
        -1.0,
        -0.5,
        -0.4,
        -0.0,
        0.0,
        0.49999997,
        0.5,
        1.0,
        1.5,
        2.5,
        3.0,
        INF,
        NAN,
    ],
    "float16": [-INF, -65504.0, -2.5, -1.0, -0.0, 0.0, 0.333251953125, 0.5, 1.5, 2.5, INF, NAN],
    "bfloat16": [-INF, -2.5, -1.0, -0.0, 0.0, 0.333984375, 0.5, 1.5, 2.5, INF, NAN],
    "int32": [-(2**31), -(2**31) + 1, -7, -1, 0, 1, 2, 7, 31, 32, 2**31 - 1],
    "int8": [-128, -127, -7, -1, 0, 1, 2, 7, 8, 127],
    "uint8": [0, 1, 2, 3, 7, 8, 200, 255],
    "uint32": [0, 1, 5, 31, 32, 2**31, 2**32 - 1],
    "bool": [False, True],
    "complex64": [0j, 1 + 2j, 1 - 2j, -3 + 0.5j, 4j, 2 + 0j, complex(-0.0, -0.0)],
}
ORDERED_COMPLEX = [
    0j,
    1 + 2j,
    1 + 3j,
    2 - 1j,
    complex(NAN, 0),
    complex(1, NAN),
    complex(NAN, 1),
    complex(0, INF),
]
REAL = ["float32", "float16", "bfloat16", "int32", "int8", "uint8", "uint32"]
FLOATS = REAL[:3]
INTEGERS = REAL[3:]
UNARY = {
    "neg": REAL,
    "abs": ["float32", "float16", "bfloat16", "int32", "int8"],
    "sign": REAL,
    "square": REAL,
    "sqrt": FLOATS,
    "rsqrt": FLOATS,
    "cbrt": FLOATS,
    "floor": FLOATS,
    "ceil": FLOATS,
    "round": FLOATS,
    "is_finite": FLOATS,
    "reciprocal": FLOATS,
    "bitwise_not": [*INTEGERS, "bool"],
    "population_count": INTEGERS,
    "clz": INTEGERS,
}
UNARY_COMPLEX = "neg abs sign square sqrt real imag conj reciprocal".split()
BINARY = {
    **dict.fromkeys("add sub mul div rem".split(), REAL),
    **{name: [*REAL, "bool"] for name in "max min eq ne lt le gt ge".split()},
    **{name: [*INTEGERS, "bool"] for name in "bitwise_and bitwise_or bitwise_xor".split()},
    **dict.fromkeys(
        "shift_left shift_right_logical shift_right_arithmetic mulhi".split(), INTEGERS
    ),
    "pow": FLOATS,
    "nextafter": FLOATS,
}
BINARY_COMPLEX = "add sub mul eq ne".split()
DTYPES = (
    "bool int4 int8 int32 uint4 uint8 uint32 float8_e4m3fn float16 bfloat16 float32 complex64"
).split()
SMOOTH_EDGES = [-INF, -2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, INF, NAN]


def plain(x: Any) -> Any:
    """An array as nested lists of numbers that JSON has."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return [plain(x.real), plain(x.imag)]
    if x.dtype.kind == "V" or x.dtype.name == "bfloat16":
        x = x.astype(np.float64)
    return x.tolist()


def array(values: list, dtype: str) -> Any:
    return np.asarray(values).astype(jnp.dtype(dtype))


def columns(axes: list[list]) -> list[list]:
    """The operands of an operation on every combination of the values of its axes."""
    return [list(column) for column in zip(*itertools.product(*axes), strict=True)]


def case(op: str, dtypes: list, axes: list, params: dict | None = None) -> dict:
    """What `op` gives for every combination of the values that `axes` holds for its operands."""
    params = params or {}
    arrays = [array(v, d) for v, d in zip(columns(axes), dtypes, strict=True)]
    out = getattr(lax, op)(*arrays, **params)
    named = [plain(array(v, d)) for v, d in zip(axes, dtypes, strict=True)]
    return {
        "op": op,
        "dtypes": dtypes,
        "axes": named,
        "params": params,
        "dtype": out.dtype.name,
        "result": plain(out),
    }


def values() -> list[dict]:
    found = []
    for op, dtypes in UNARY.items():
        found += [case(op, [d], [EDGES[d]]) for d in dtypes]
    found += [case(op, ["complex64"], [EDGES["complex64"]]) for op in UNARY_COMPLEX]
    found.append(case("conj", ["float32"], [EDGES["float32"]]))
    for op, dtypes in BINARY.items():
        found += [case(op, [d, d], [EDGES[d]] * 2) for d in dtypes]
    found += [case(op, ["complex64"] * 2, [EDGES["complex64"]] * 2) for op in BINARY_COMPLEX]
    found += [case(op, ["complex64"] * 2, [ORDERED_COMPLEX] * 2) for op in ("max", "min")]
    found.append(case("complex", ["float32"] * 2, [EDGES["float32"]] * 2))
    for d in FLOATS:
        found.append(case("round", [d], [EDGES[d]], {"rounding_method": 1}))
        for y in (-3, -1, 0, 1, 2, 5):
            found.append(case("integer_pow", [d], [EDGES[d]], {"y": y}))
        found.append(case("pow", [d, "int32"], [EDGES[d], [-2, -1, 0, 1, 2, 3]]))
    for d in INTEGERS:
        for y in (0, 1, 2, 5, 33):
            found.append(case("integer_pow", [d], [EDGES[d]], {"y": y}))
    found.append(case("clamp", ["float32"] * 3, [[-1.0, -0.0, 0.0, 2.0, NAN]] * 3))
    found.append(case("clamp", ["int32"] * 3, [[-1, 0, 5]] * 3))
    found.append(case("clamp", ["bool"] * 3, [[False, True]] * 3))
    floats = [[1.0], [2.0], [3.0]]
    for which, dtype in [([-5, 0, 1, 2, 99], "int32"), ([0, 1, 2, 255], "uint8")]:
        found.append(case("select_n", [dtype, *["float32"] * 3], [which, *floats]))
    found.append(case("select_n", ["bool", *["float32"] * 2], [[False, True], *floats[:2]]))
    found.append(case("select_n", ["bool", "float32"], [[False, True], floats[0]]))
    found.append(case("select", ["bool", *["float32"] * 2], [[False, True], *floats[:2]]))
    rounded = [*EDGES["float32"], 1.23456, 65519.0, 65520.0, 6.0e-5, 6.2e-5, 3.4e38, -3.4e38, 1e-30]
    for bits in ((5, 10), (8, 7), (4, 3), (5, 2), (2, 0), (1, 1), (8, 23), (11, 52)):
        params = {"exponent_bits": bits[0], "mantissa_bits": bits[1]}
        found.append(case("reduce_precision", ["float32"], [rounded], params))
        found.append(case("reduce_precision", ["float16"], [EDGES["float16"]], params))
    return found


def bitcasts() -> list[dict]:
    found = []
    for source, shape, target in [
        ("float32", (3,), "int32"),
        ("float32", (3,), "uint8"),
        ("float32", (3,), "bfloat16"),
        ("float32", (), "int16"),
        ("int16", (3, 2), "int32"),
        ("uint8", (2, 4), "float32"),
        ("int8", (3,), "int4"),
        ("int4", (3, 2), "int8"),
        ("int4", (8,), "float32"),
        ("float16", (2,), "uint4"),
        ("bfloat16", (4,), "uint16"),
        ("bool", (2,), "bool"),
        ("complex64", (2,), "complex64"),
    ]:
        numbers = np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape)
        x = jnp.asarray(numbers if source != "complex64" else numbers * 1j).astype(source)
        out = lax.bitcast_convert_type(x, target)
        found.append(
            {
                "source": source,
                "x": plain(x),
                "target": target,
                "result": plain(out),
                "shape": out.shape,
            }
        )
    return found


def tangent_case(op: str, axes: list, params: dict | None = None) -> dict:
    """The derivative with respect to each operand at points where it is a matter of convention."""
    arrays = [array(v, "float32") for v in columns(axes)]
    zeros = [np.zeros_like(a) for a in arrays]
    found = []
    for i, a in enumerate(arrays):
        tangents = [*zeros[:i], np.ones_like(a), *zeros[i + 1 :]]
        # one operand at a time: 0 * inf from the others is not part of the question
        fun = lambda x, i=i: getattr(lax, op)(*arrays[:i], x, *arrays[i + 1 :], **(params or {}))  # noqa: E731
        found.append(plain(jax.jvp(fun, (a,), (tangents[i],))[1]))
    return {"op": op, "axes": axes, "params": params or {}, "tangents": found}


def derivatives() -> list[dict]:
    found = []
    for op in "neg abs sign square sqrt rsqrt cbrt floor ceil round reciprocal".split():
        found.append(tangent_case(op, [SMOOTH_EDGES]))
    for op in "add sub mul div rem pow max min".split():
        found.append(tangent_case(op, [SMOOTH_EDGES] * 2))
    for y in (-2, -1, 0, 1, 2, 3):
        found.append(tangent_case("integer_pow", [SMOOTH_EDGES], {"y": y}))
        found.append(tangent_case("pow", [SMOOTH_EDGES], {"y": y}))
    found.append(tangent_case("clamp", [[-1.0, 0.0, 0.5, 1.0, NAN]] * 3))
    found.append(tangent_case("nextafter", [SMOOTH_EDGES] * 2))
    return found


def complex_cotangents() -> list[dict]:
    """Pulled back cotangents of functions of and to complex numbers."""
    z = np.array([0j, 3 + 4j, -1j, 1 + 0j, -2 + 0.5j], np.complex64)
    w = np.array([1 + 1j, 2 - 1j, 0.5j, -3 + 0j, 1 - 2j], np.complex64)
    x, y = z.real + np.float32(1), w.imag
    complex_ct = np.array([1 + 2j, -1j, 2 + 0j, 1 - 1j, 0.5 + 0.25j], np.complex64)
    real_ct = complex_ct.real
    found = []
    for op, operands, ct in [
        ("abs", [z], real_ct),
        ("sign", [z], complex_ct),
        ("square", [z], complex_ct),
        ("neg", [z], complex_ct),
        ("real", [z], real_ct),
        ("imag", [z], real_ct),
        ("conj", [z], complex_ct),
        ("conj", [x], complex_ct),
        ("complex", [x, y], complex_ct),
        ("mul", [z, w], complex_ct),
        ("div", [z, w], complex_ct),
        ("sub", [z, w], complex_ct),
        ("sqrt", [w], complex_ct),
        ("pow", [w, w], complex_ct),
        ("reciprocal", [w], complex_ct),
    ]:
        out, pull = jax.vjp(getattr(lax, op), *operands)
        found.append(
            {
                "op": op,
                "dtypes": [o.dtype.name for o in operands],
                "operands": [plain(o) for o in operands],
                "ct": plain(ct),
                "out": plain(out),
                "cts": [plain(c) for c in pull(ct)],
            }
        )
    return found


def accepted() -> dict:
    """The dtype of the result, or "-" for an error, by operation and dtype of the operands."""

    def result(fun: Any, *dtypes: str) -> str:
        try:
            return jax.eval_shape(fun, *[jax.ShapeDtypeStruct((2,), d) for d in dtypes]).dtype.name
        except (TypeError, ValueError):
            return "-"

    table = {}
    for op in [*UNARY, "real", "imag", "conj"]:
        table[op] = [result(getattr(lax, op), d) for d in DTYPES]
    for op in [*BINARY, "complex"]:
        table[op] = [result(getattr(lax, op), d, d) for d in DTYPES]
    table["integer_pow"] = [result(lambda x: lax.integer_pow(x, 3), d) for d in DTYPES]
    table["integer_pow -1"] = [result(lambda x: lax.integer_pow(x, -1), d) for d in DTYPES]
    table["pow int32"] = [result(lax.pow, d, "int32") for d in DTYPES]
    table["clamp"] = [result(lax.clamp, d, d, d) for d in DTYPES]
    table["select_n"] = [result(lax.select_n, "bool", d, d) for d in DTYPES]
    table["select_n which"] = [result(lax.select_n, d, *["float32"] * 3) for d in DTYPES]
    table["reduce_precision"] = [result(lambda x: lax.reduce_precision(x, 5, 2), d) for d in DTYPES]
    return {"dtypes": DTYPES, "table": table}


# Expressions of x (float32[3]), i (int32[3]), b (bool[3]), z (complex64[3]), s (a weak scalar)
JAXPRS = """
    lax.add(x, x)
    lax.add(x, 1.0)
    lax.sub(1.0, x)
    lax.mul(x, 2.0)
    lax.div(x, x)
    lax.rem(i, i)
    lax.neg(x)
    lax.max(x, 0.0)
    lax.min(x, x)
    lax.abs(z)
    lax.sign(x)
    lax.square(x)
    lax.integer_pow(x, 3)
    lax.reciprocal(x)
    lax.pow(x, x)
    lax.pow(x, 3)
    lax.sqrt(x)
    lax.sqrt(x, accuracy=lax.AccuracyMode.HIGHEST)
    lax.rsqrt(x)
    lax.cbrt(x)
    lax.floor(x)
    lax.ceil(x)
    lax.round(x)
    lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    lax.nextafter(x, x)
    lax.is_finite(x)
    lax.eq(x, 0.0)
    lax.ne(i, i)
    lax.lt(x, x)
    lax.le(x, x)
    lax.gt(x, x)
    lax.ge(x, x)
    lax.bitwise_and(i, i)
    lax.bitwise_or(b, b)
    lax.bitwise_xor(i, i)
    lax.bitwise_not(i)
    lax.shift_left(i, 2)
    lax.shift_right_logical(i, i)
    lax.shift_right_arithmetic(i, i)
    lax.population_count(i)
    lax.clz(i)
    lax.mulhi(i, i)
    lax.complex(x, x)
    lax.real(z)
    lax.imag(z)
    lax.conj(z)
    lax.conj(x)
    lax.select_n(b, x, x)
    lax.select_n(i, x, x, x)
    lax.select(b, x, x)
    lax.clamp(0.0, x, 1.0)
    lax.bitcast_convert_type(x, 'int32')
    lax.bitcast_convert_type(x, 'int8')
    lax.reduce_precision(x, 5, 10)
"""
WEAK = """
    lax.add(s, 1.0)
    lax.add(s, s)
    lax.mul(2.0, s)
    lax.eq(s, 1.0)
    lax.select(True, s, s)
    lax.clamp(0.0, s, 1.0)
    lax.clamp(np.float32(0), s, 1.0)
    lax.abs(s)
    lax.integer_pow(s, 2)
    lax.pow(s, 2)
    lax.pow(s, 2.0)
    lax.pow(s, np.int32(2))
    lax.bitcast_convert_type(s, 'int32')
    lax.bitcast_convert_type(s, 'float32')
    lax.complex(s, s)
    lax.conj(s)
    lax.imag(lax.complex(s, s))
    lax.round(s)
    lax.reduce_precision(s, 5, 2)
    lax.is_finite(s)
    lax.nextafter(s, s)
    lax.add(s, np.float32(2))
    lax.max(1, 2)
"""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def expression(text: str) -> Any:
    return eval(f"lambda x, i, b, z, s: {text}", {"lax": lax, "np": np})


def typed() -> dict:
    args = (
        jnp.ones(3),
        jnp.ones(3, jnp.int32),
        jnp.ones(3, bool),
        jnp.ones(3, jnp.complex64),
        jnp.asarray(1.0),
    )
    weak = {}
    for text in lines(WEAK):
        out = jax.eval_shape(expression(text), *args)
        weak[text] = [out.dtype.name, out.weak_type]
    return {
        "jaxprs": {text: str(jax.make_jaxpr(expression(text))(*args)) for text in lines(JAXPRS)},
        "weak": weak,
    }


def main() -> None:
    warnings.simplefilter("ignore")
    data = {
        "values": values(),
        "bitcasts": bitcasts(),
        "derivatives": derivatives(),
        "complex": complex_cotangents(),
        "accepted": accepted(),
        **typed(),
    }
    parts = []
    for key, part in data.items():
        if isinstance(part, list):
            body = ",\n".join(json.dumps(c, separators=(",", ":")) for c in part)
            parts.append(f"{json.dumps(key)}: [\n{body}\n]")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(part, indent=1)}")
    DATA.write_text("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    main()
