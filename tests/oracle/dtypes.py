"""Records what jax does with dtypes, for tests/core/test_dtypes.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/dtypes.py

It rewrites tests/data/dtypes.json.
"""

import json
import string
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.dtypes import (
    lattice_result_type,
    to_complex_dtype,
    to_inexact_dtype,
    to_numeric_dtype,
)

DATA = Path(__file__).resolve().parents[1] / "data" / "dtypes.json"

NAMES = (
    "bool uint1 uint2 uint4 uint8 uint16 uint32 uint64 int1 int2 int4 int8 int16 int32 int64"
    " float4_e2m1fn float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz"
    " float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
    " bfloat16 float16 float32 float64 complex64 complex128"
).split()
NODES = [*NAMES, *(f"{name}*" for name in NAMES)]  # with `*`: weak
CODES = dict(zip([*NODES, "error"], string.ascii_letters + string.digits + "+-!", strict=True))
PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}

SETS = """
    bool int32* int8
    int8 uint8 float32*
    uint8 int8 uint16
    int32* float32* complex64*
    int32* float32* bfloat16
    bool bool* int32*
    bfloat16 float16 int32*
    uint64 int8 float16
    int8* int16* uint8*
    int8* int16* uint8
    float32* float8_e5m2 int32*
    int4 int32* bool
    int4 int32* float32*
    float64 complex64 float32
    uint32 int8 uint8
    float32 float32 float32*
    complex64* float16 int32
    int32 bool bool
    int16*
    bfloat16
    int64
"""

ABSTRACT = (
    "generic number integer signedinteger unsignedinteger inexact floating complexfloating void"
).split()
KINDS = (
    "bool,signed integer,unsigned integer,integral,real floating,complex floating,numeric"
).split(",")

# Values at which conversions differ: signs, halves, limits of the types, and beyond them.
FLOATS = [
    float(x)
    for x in (
        "0 -0.0 0.5 1.5 2.5 -1.5 7 8 -9 127.6 200 -129 255.9 300 -300 65504 70000 2147483647"
        " 2147483648 3e9 -3e9 1e20 -1e20 inf -inf nan"
    ).split()
]
INTS = [0, 1, -1, 2, 7, 8, -9, 127, 128, 255, 256, 70000, 2**31 - 1, -(2**31)]
CONVERTED = (  # those whose conversion XLA and the rule in words agree on
    "bool uint2 uint4 uint8 uint16 uint32 uint64 int2 int4 int8 int16 int32 int64"
    " bfloat16 float16 float32 float64"
).split()


class Typed:
    """Something with an aval, which is all that promotion looks at."""

    shape = ()

    def __init__(self, node: str) -> None:
        self.dtype = jax.dtypes.canonicalize_dtype(node.removesuffix("*"))
        self.weak_type = node.endswith("*")
        self.aval = jax.core.ShapedArray((), self.dtype, weak_type=self.weak_type)


def promotion(*nodes: str) -> str:
    """What operations convert such operands to."""
    try:
        dtype, weak = lattice_result_type(*map(Typed, nodes))
    except jax.dtypes.TypePromotionError:
        return "error"
    return jax.dtypes.canonicalize_dtype(dtype).name + "*" * weak


def result_type(*nodes: str) -> str:
    """What jax.dtypes.result_type says of them, which differs if all are weak."""
    try:
        dtype, weak = jax.dtypes.result_type(*map(Typed, nodes), return_weak_type_flag=True)
    except jax.dtypes.TypePromotionError:
        return "error"
    return dtype.name + "*" * weak


def promote_types(a: str, b: str) -> str:
    try:
        return jnp.promote_types(PYTHON.get(a, a), PYTHON.get(b, b)).name
    except jax.dtypes.TypePromotionError:
        return "error"


def settings() -> Iterator[str]:
    for bits in (32, 64):
        for mode in ("standard", "strict"):
            with jax.enable_x64(bits == 64), jax.numpy_dtype_promotion(mode):
                yield f"{mode} {bits}"


def short(dtype: Any) -> str:
    """The name of the dtype in printed jaxprs."""
    return jax.core.ShapedArray((), dtype).str_short(short_dtypes=True).removesuffix("[]")


def limits(name: str) -> dict[str, Any]:
    dtype = jnp.dtype(name)
    if jnp.issubdtype(dtype, jnp.integer):
        info = jnp.iinfo(dtype)
        return {"bits": info.bits, "min": int(info.min), "max": int(info.max)}
    if jnp.issubdtype(dtype, jnp.inexact):
        info = jnp.finfo(dtype)
        fields = ("eps", "min", "max", "tiny", "smallest_subnormal")
        numbers = {field: float(getattr(info, field)) for field in fields}
        return {"dtype": info.dtype.name, "bits": info.bits, "nmant": info.nmant, **numbers}
    return {}


def conversion(values: list[float], source: str, target: str) -> list[str]:
    """A compiled conversion, its results as text (exact: as float64 or int)."""
    x = np.array(values, source)
    y = np.asarray(jax.jit(lambda x: jax.lax.convert_element_type(x, target))(x))
    python = int if jnp.issubdtype(y.dtype, jnp.integer) else float
    return [str(python(v)) for v in y]


def main() -> None:
    warnings.simplefilter("ignore")  # float64 narrowed to float32 is what is being recorded
    key = jax.random.key(0)
    record: dict[str, Any] = {
        "jax": jax.__version__,
        "codes": CODES,
        "promotion": {
            setting: ["".join(CODES[promotion(a, b)] for b in NODES) for a in NODES]
            for setting in settings()
        },
        "sets": {
            setting: [
                " ".join([*nodes, "->", promotion(*nodes), result_type(*nodes)])
                for nodes in map(str.split, SETS.strip().splitlines())
            ]
            for setting in settings()
        },
        "spelled": [*NAMES, *PYTHON],
        "promote_types": {
            setting: [
                "".join(CODES[promote_types(a, b)] for b in [*NAMES, *PYTHON])
                for a in [*NAMES, *PYTHON]
            ]
            for setting in settings()
        },
        "canonical": {
            setting: [
                jax.dtypes.canonicalize_dtype(PYTHON.get(a, a)).name for a in [*NAMES, *PYTHON]
            ]
            for setting in settings()
        },
        "short": {name: short(jnp.dtype(name)) for name in NAMES}
        | {"float0": short(jax.dtypes.float0)},
        "key": [key.dtype.name, short(key.dtype), key.dtype.itemsize],
        "bits": {name: jax.dtypes.itemsize_bits(name) for name in NAMES},
        "limits": {name: limits(name) for name in NAMES},
        "inexact": {name: to_inexact_dtype(jnp.dtype(name)).name for name in NAMES},
        "complex": {name: to_complex_dtype(jnp.dtype(name)).name for name in NAMES},
        "numeric": {name: to_numeric_dtype(jnp.dtype(name)).name for name in NAMES},
        "scalar": {
            name: jax.dtypes.scalar_type_of(jax.ShapeDtypeStruct((), name)).__name__
            for name in NAMES
        },
        "subtype": {
            name: [a for a in ABSTRACT if jnp.issubdtype(name, getattr(np, a))] for name in NAMES
        },
        "kinds": {name: [kind for kind in KINDS if jnp.isdtype(name, kind)] for name in NAMES},
    }
    with jax.enable_x64(True):
        record["conversion"] = {
            source: {
                "values": list(map(str, values)),
                **{target: conversion(values, source, target) for target in CONVERTED},
            }
            for source, values in (("float32", FLOATS), ("float64", FLOATS), ("int32", INTS))
        }
    DATA.write_text(json.dumps(record, indent=0) + "\n")


if __name__ == "__main__":
    main()
