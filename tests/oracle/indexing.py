"""Records how jax indexes arrays, for tests/numpy/test_indexing.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/indexing.py

It rewrites tests/data/indexing.json: for each expression its dtype, shape, weakness and values, or
the exceptions that it raises (from the class itself up to the first built-in one); for programs
their length.
"""

import builtins
import json
import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data" / "indexing.json"


def array(x: Any, dtype: Any = None) -> Any:
    return jnp.asarray(np.asarray(x, dtype))


NAMES = {
    "A": array,
    "np": np,
    "jit": jax.jit,
    "grad": jax.grad,
    "vmap": jax.vmap,
    "ds": jax.ds,
    "CLIP": jax.lax.GatherScatterMode.CLIP,
    "square": lambda x: x * x,
    "weak": lambda: jax.lax.broadcast_in_dim(1.5, (3,), ()),
    "x": array(np.arange(60).reshape(3, 4, 5), np.float32),
    "v": array(range(5), np.int32),
    "f": array(range(5), np.float32),
    "s": array(3, np.float32),
    "e": array(np.zeros((0, 3)), np.float32),
    "I": array([0, 7, -1, -9], np.int32),
    "m": array([True, False, True]),
    "m5": array([True, False, True, False, True]),
    "take": jnp.take,
    "put": jnp.put,
    "take_along_axis": jnp.take_along_axis,
    "put_along_axis": jnp.put_along_axis,
    "r_": jnp.r_,
    "c_": jnp.c_,
    "mgrid": jnp.mgrid,
    "ogrid": jnp.ogrid,
    "ix_": jnp.ix_,
}

READ = """
x[1]
x[-1, 1:3, ::2]
x[::-2, None, ..., 3]
x[..., None, 1, :]
x[5]
x[-4]
v[np.uint8(200)]
v[np.array(1)]
v[100]
v[2:100]
v[np.int64(1):np.uint8(3)]
v[A(1):3]
v[slice(True, 4)]
v[:2**70]
v[I]
v[A([0, 255, 3], np.uint8)]
v[A(7)]
v[A(-7)]
v[A(-1)]
x[A([0, 1])]
x[:, A([0, 1], np.int8)]
x[A([0, 1]), :, A([[0], [1]])]
x[:, A([0, 1]), A([[0], [1]])]
x[0, :, A([0, 1])]
x[0, None, A([0, 1])]
x[None, 0, A([0, 1])]
x[A([0, 1]), None, 0]
x[:, 0, None, A([1, 2])]
x[A(0), :, A([0, 1])]
x[A(0), :, A(1)]
x[1:3, A([0, 1]), ::2]
x[A([0, 1]), ..., 0]
x[A([0, 1]), 0, ..., 0]
x[A([-1, 0]), ::-1, 3:0:-2]
x[None, A([0, 1]), ..., A([0, 1]), A([1, 2])]
x[None, A([0, 1]), A([0, 1]), A([1, 2])]
x[([0, 1], 1)]
x[[0, 1], (1, 2)]
x[[],]
x[0, []]
x[m]
x[m, 0]
x[m, :, A([0, 1])]
x[0, A(np.eye(4, 5, dtype=bool))]
x[:, A(np.eye(4, 5, dtype=bool))]
x[A(np.eye(3, 4, dtype=bool)), ::2]
x[np.zeros(3, bool)]
x[True]
x[False]
x[0, True]
x[:, True]
x[True, A([0, 1])]
x[A([0, 1]), :, True]
x[A([0]), False]
s[()]
s[...]
s[None]
s[True]
e[A([], np.int32)]
e[:, 1]
A(np.zeros((2, 0, 3)))[A([5]), :, 0]
weak()[1]
weak()[A([1])]
weak()[A(1)]
weak().at[1].get(mode='fill')
f.at[I].get()
f.at[I].get(mode='clip')
f.at[I].get(mode=CLIP)
f.at[I].get(mode='promise_in_bounds')
f.at[I].get(mode='fill')
f.at[I].get(mode='drop')
f.at[I].get(mode='fill', fill_value=-2)
f.at[I].get(fill_value=3.)
v.at[I].get(mode='fill')
v.at[I].get(mode='fill', fill_value=1.7)
v.astype(np.uint8).at[I].get(mode='fill')
v.astype(np.int8).at[I].get(mode='fill')
v.astype(bool).at[I].get(mode='fill')
v.astype(np.complex64).at[I].get(mode='fill')
f.at[5].get(mode='fill')
f.at[-6].get(mode='fill', fill_value=9)
f.at[-1].get(mode='fill')
f.at[A(9)].get(mode='fill')
f.at[I].get(wrap_negative_indices=False)
f.at[I].get(wrap_negative_indices=False, mode='fill')
f.at[-1].get(wrap_negative_indices=False)
f.at[-1].get(wrap_negative_indices=False, mode='fill')
v[ds(1, 2)]
v[ds(4, 2)]
v[ds(3)]
x[ds(1, 1), A([0, 1])]
jit(lambda v, i: v[ds(i, 2)])(v, 2)
jit(lambda v, i: v[ds(i, 2)])(v, 4)
jit(lambda v, i: v[ds(i, 2)])(v, -2)
jit(lambda v, i: v[ds(i, 3, 2)])(v, 1)
jit(lambda v, i: v[i])(v, 9)
jit(lambda v, i: v[i])(v, -9)
jit(lambda v, i: v[i])(v, A(200, np.uint8))
jit(lambda x, i: x[i, ::-2, None])(x, 1)
jit(lambda x, i: x[i, A([0, 1])])(x, 1)
jit(lambda x, i: x[i, 1:3, i])(x, -1)
vmap(lambda i: f[i])(I)
vmap(lambda i: f.at[i].get(mode='fill'))(I)
vmap(lambda r, i: r[i])(x[:, 0], A([1, 2, 7]))
grad(lambda f: f[I].sum())(f)
grad(lambda f: f[7])(f)
grad(lambda f: f.at[I].get(mode='fill', fill_value=0).sum())(f)
grad(lambda f: f.at[I].get(mode='clip').sum())(f)
"""

WRITE = """
x.at[1].set(2.)
x.at[1:3, ::2].set(7.)
x.at[::-1, 0].set(np.arange(15.).reshape(3, 5))
x.at[...].set(1.)
x.at[:, None, 0].set(A(np.ones((3, 1, 5)), np.float32))
x.at[0, 0].set(np.arange(5))
v.at[::-1].set(A(range(5), np.int32))
v.at[::2].set(A([7, 8, 9], np.int32))
v.at[3:0:-2].add(A([10, 20], np.int32))
v.at[1:1].set(9)
v.at[I].set(9)
v.at[5].set(9)
v.at[-6].set(9)
v.at[-6].set(9, mode='clip')
v.at[5].set(9, mode='clip')
v.at[5].set(9, mode='drop')
v.at[5].set(9, mode='fill')
v.at[5].set(9, mode='promise_in_bounds')
v.at[A(7)].set(9)
v.at[A(-7)].set(9)
v.at[A(-7)].set(9, mode='clip')
f.at[-1].set(7, wrap_negative_indices=False)
f.at[-2:].set(7, wrap_negative_indices=False)
f.at[I].set(7, wrap_negative_indices=False)
f.at[I].add(1)
f.at[I].add(1, mode='clip')
f.at[A([0, 0, 1])].add(1)
f.at[A([0, 0, 1])].subtract(1)
f.at[A([0, 0, 1])].mul(2)
f.at[A([1, 1, 3])].multiply(3)
f.at[A([0, 3, 1])].min(2)
f.at[A([0, 3, 1])].max(2)
f.at[A([0, 0, 1])].divide(2)
f.at[A([3, 3, 1])].power(2)
f.at[3].divide(2)
v.at[1].divide(2)
v.at[3].power(2)
f.at[A([3, 3, 1])].apply(square)
f.at[3].apply(square)
f.at[I].apply(square, mode='clip')
v.at[m5].set(0)
v.at[m5].set(A([7, 8, 9], np.int32))
v.at[m5].add(1)
x.at[m].multiply(0)
x.at[m, 1, A([0, 4])].set(-1)
x.at[1, ::2, A([0, 1])].set(A(np.ones((2, 2)), np.float32))
x.at[A([5, 0]), 1:3].add(1.)
x.at[A([5, 0]), 1:3].add(1., mode='clip')
v.at[True].set(3)
v.at[False].set(3)
v.at[None].set(4)
v.at[None, 0].set(4)
v.at[()].set(v)
s.at[()].set(1)
s.at[...].add(1)
e.at[A([0])].set(1.)
A(np.zeros((3, 0))).at[0].set(1.)
v.at[1].set(True)
v.at[0:2].set([1, 2])
v.at[0:2].set((7, 8))
v.at[0:2].set([v[4], 2])
v.at[0].set(A(2, np.int8))
v.astype(np.uint8).at[1].set(300)
v.astype(np.uint8).at[1].add(-1)
v.astype(np.float16).at[0].set(A(2, np.int32))
f.at[0].set(A(2, np.float16))
weak().at[1].set(2.0)
weak().at[1].set(A(2, np.float32))
weak().at[1].add(A(1, np.int32))
jit(lambda v, i: v.at[i].set(9))(v, 2)
jit(lambda v, i: v.at[i].set(9))(v, 9)
jit(lambda v, i: v.at[ds(i, 2)].set(9))(v, 2)
jit(lambda v, i: v.at[ds(i, 2)].set(9))(v, 4)
jit(lambda v, i: v.at[ds(i, 3, 2)].set(9))(v, 1)
jit(lambda x, i: x.at[1:3, i].set(0))(x, 1)
jit(lambda x, i: x.at[i, i].add(1))(x, 1)
grad(lambda f: (f.at[I].mul(3.) * f).sum())(f)
grad(lambda f: (f.at[A([0, 0])].mul(2.) * f).sum())(f)
grad(lambda f: (f.at[A([0, 2])].max(1.) * f).sum())(f)
grad(lambda f: (f.at[1:3].set(f[3:]) * f).sum())(f)
"""

ALONG = """
take(x, 1)
take(x, A([0, 99, -1, -99]))
take(x, A([0, 99, -1, -99]), mode='clip')
take(x, A([0, 99, -1, -99]), mode='wrap')
take(x, A([0, 99, -1, -99]), mode='fill')
take(v, I)
take(v, I, fill_value=7)
take(v, I, mode='clip', fill_value=7)
take(v, -7, mode='wrap')
take(v, A(250, np.uint8), mode='wrap')
take(x, I, axis=1)
take(x, A([[0, 1]]), axis=-1)
take(x, A([True, False]))
take(s, 0)
take(A(np.zeros((2, 0, 3))), A([1]), axis=0)
take(A(np.zeros(0)), A([], np.int32))
take(weak(), 0)
x.take(1)
jit(lambda x, i: take(x, i, axis=1))(x, I)
take_along_axis(x, A([[[1]]]), 0)
take_along_axis(x, A([[[0, 9, -1, -9]]]), -1)
take_along_axis(x, A([[[0, 9, -1, -9]]]), -1, mode='clip')
take_along_axis(x, A([[[0, 9, -1, -9]]]), -1, mode='fill', fill_value=-5)
take_along_axis(x, A([[[0, 9, -1, -9]]]), -1, wrap_negative_indices=False)
take_along_axis(x, A(np.arange(30).reshape(3, 2, 5) % 4, np.uint8), 1)
take_along_axis(x[:, :1], A(np.arange(140).reshape(7, 4, 5) % 3, np.int8), 0)
take_along_axis(v, I, None)
take_along_axis(x, I, None)
take_along_axis(A(np.zeros((2, 3))), A(np.zeros((2, 0)), np.int32), 1)
put(v, I, 9, inplace=False)
put(v, I, 9, inplace=False, mode='clip')
put(v, I, 9, inplace=False, mode='wrap')
put(v, A([-1]), 9, inplace=False)
put(v, A([-1]), 9, inplace=False, mode='clip')
put(v, A([0, 1, 2]), A([7, 8], np.int32), inplace=False)
put(v, A([0, 1]), A([7, 8, 9], np.int32), inplace=False)
put(v, A([0, 1]), A([], np.int32), inplace=False)
put(v, A([[0, 1], [2, 3]]), A([[5, 6], [7, 8]], np.int32), inplace=False)
put(x, A([0, 59, 60, -1]), A([7., 8., 9., 10.], np.float32), inplace=False)
put_along_axis(x, A([[[1]]]), 9., 0, inplace=False)
put_along_axis(x, A([[[1, 9]]]), A([8., 9.], np.float32), -1, inplace=False)
put_along_axis(v, I, 1, 0, inplace=False)
put_along_axis(v, A([0, 7, 1]), A([5, 6, 7], np.int32), 0, inplace=False, mode='clip')
put_along_axis(x, A([1, 2]), 9., None, inplace=False)
put_along_axis(x, A(np.arange(30).reshape(3, 2, 5) % 2, np.int32), 7., 1, inplace=False)
"""

GRIDS = """
c_[A([0, 1, 2]), A([3, 4, 5])]
c_[1:4, A([0, 1, 2])]
c_[[1, 2]]
c_[1, 2]
c_[x, x]
r_[1:4]
r_[1:4, 0, 7]
r_[-1:1:5j, [0] * 3, 5, 6]
r_['0,2', [1, 2, 3], [4, 5, 6]]
r_['0,2,0', [1, 2, 3], [4, 5, 6]]
r_['1,2,0', [1, 2, 3], [4, 5, 6]]
r_['r', [1, 2, 3], [4, 5, 6]]
r_['c', [1, 2, 3], [4, 5, 6]]
r_[A([0, 1]), 0, 1.5]
r_[1:4:0.5]
r_[:3]
r_[3:]
r_[x, x]
mgrid[0:3]
mgrid[0:3, 0:2]
mgrid[0:1:3j, 0:2]
mgrid[0:3:0.5]
mgrid[:3]
mgrid[0:5:2, 1.:3]
ogrid[0:3]
ogrid[0:3, 0:2][0]
ogrid[0:1:3j, 0:2][1]
ix_(A([0, 1]), A([0, 1, 2]))[0]
ix_(A([0, 1]), A([0, 1, 2]))[1]
ix_(A([]))[0]
x[ix_(A([0, 2]), A([1]), A([3, 4]))]
"""

ERRORS = """
v[1.0]
v[np.float32(1)]
v[A(1.)]
v[A([1.])]
v[1j]
v[np.array([])]
v[np.array('a')]
v[np.array([None])]
v[[0, 1]]
v[[]]
v[range(3)]
v['a']
v[None, 'a']
v[{}]
v[:, {1}]
x[0, [1.5]]
x[0, 0, 0, 0]
x[..., ...]
x[0, 0, 0, 0, ...]
s[0]
v[m]
x[:, m]
x[np.ones((3, 5), bool)]
x[np.ones((3, 4, 5, 1), bool)]
v[2**40]
v[1.0:3]
v['a':3]
v[::0]
v[np.array([1]):3]
x[A([0, 1]), A([0, 1, 2])]
x[A([0]), A([], np.int32), A([1, 2])]
e[0]
e[A(0)]
jit(lambda v, i: v[:i])(v, 3)
jit(lambda v, i: v[i:i + 2])(v, 3)
jit(lambda v, i: v[::i])(v, 3)
jit(lambda v, i: v.at[i:].set(1))(v, 3)
jit(lambda v, i: v[ds(0, i)])(v, 3)
jit(lambda v, i: v[ds(i, 9)])(v, 3)
jit(lambda v, m: v[m])(v, m5)
jit(lambda v, m: v[m[0]])(v, m5)
jit(lambda v, m: v.at[m].set(0))(v, m5)
jit(lambda v, m: v.at[m].get())(v, m5)
f.at[I].get(mode='wrap')
f.at[I].get(mode='nope')
f.at[I].get(mode=0)
v.at[5].set(9, mode='wrap')
v.at[0:2].set(A([1, 2, 3], np.int32))
v.at[0:2].set(A([[1, 2]], np.int32))
v.at[0:2].set([[1, 2]])
v.at[0:2].set('a')
v.at[0:2].set(None)
v.at[[0, 1]].set(3)
v.at[1.].set(3)
v.at[0, 0].set(3)
v.at[0].set(2**40)
v.at[0].set(1, 2)
v.at[0].foo
v.astype(bool).at[1].add(True)
e.at[0].set(1.)
take(x, A([0]), mode='raise')
take(x, A([0]), mode='drop')
take(x, I, axis=3)
take(x, [0, 1])
take([1, 2], 0)
take(x, 0.5)
take(x, 1, out=x)
take(s, 0, axis=0)
take(A(np.zeros(0)), 0)
take(e, A([0]), axis=0)
take(x, 2**40)
take_along_axis(x, A([[[0, 1]]]), 0)
take_along_axis(x, A([[0]]), None)
take_along_axis(x, I, 0)
take_along_axis(x, A(np.zeros((3, 4, 5))), 0)
take_along_axis(x, m, 0)
take_along_axis(x, A([[[0]]]), 5)
take_along_axis(x, A([[[0]]]), 0, mode='wrap')
put(v, I, 9)
put(v, I, 9, inplace=False, mode='fill')
put(v, I, 9, inplace=False, mode='raise')
put(v, [0, 1], 9, inplace=False)
put(x, 1.5, 7, inplace=False)
put_along_axis(x, A([[[1]]]), 9., 0)
put_along_axis(x, A([1, 2]), 9., 0, inplace=False)
put_along_axis(x, A([[[1]]]), A(np.ones((2, 3)), np.float32), 0, inplace=False)
r_['q', [1, 2, 3]]
mgrid[3]
ix_(A(1))
ix_([0, 1])
jit(lambda i: r_[0:i])(3)
jit(lambda i: mgrid[0:i])(3)
"""

# Programs of (x, i, I), with `i` an integer and `I` an array of two; recorded is their length.
PROGRAMS = """
x[1]
x[-1, 1:3, ::2]
x[::-2, None, ..., 3]
x[...]
x[i]
x[:, i]
x[i, i]
x[i, 2]
x[i, None, ::-1]
x[I]
x[:, I]
x[I, :, I]
x[1, :, I]
x[1:3, I]
x[1:3, I, ::2]
x[np.array([0, -1])]
x[np.array([0, 1]), 2]
x[np.array([True, False, True])]
x.at[1].set(2.)
x.at[1:3].set(2.)
x.at[1:3].add(2.)
x.at[i].set(2.)
x.at[i].add(2.)
x.at[I].set(2.)
x.at[I].add(2.)
x.at[::2].set(2.)
x.at[::-2, I].mul(2.)
x.at[...].set(2.)
x.at[None, ..., 2].max(3.)
x.at[1:3, i].set(0.)
x.at[I].get(mode='fill')
x.at[i].get(mode='clip')
take(x, I, axis=1)
take_along_axis(x, I[None, :, None], 1)
put_along_axis(x, I[None, :, None], 1., 1, inplace=False)
"""

# Each gives a warning of the class FutureWarning, and the value.
WARNS = """
v.at[1].set(2.7)
v.at[1].add(2.7)
v.at[1].set(A(2.7, np.float32))
v.astype(bool).at[1].set(3)
v.astype(np.float16).at[1].set(A(2.7, np.float32))
v.astype(np.int8).at[0].set(A(2, np.int32))
put(v, 2, 7.7, inplace=False)
"""


def outcome(expression: str) -> dict[str, Any]:
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = eval(expression, NAMES)
    except Exception as error:
        names = []
        for cls in type(error).__mro__:
            names.append(cls.__name__)
            if hasattr(builtins, cls.__name__):
                break
        return {"error": names}
    values = np.asarray(found)
    flat = values.ravel()
    if values.dtype.kind == "c":
        flat = np.stack([flat.real, flat.imag])
    record = {
        "dtype": str(values.dtype),
        "shape": values.shape,
        "weak": bool(found.weak_type),
        "values": flat.astype(float).tolist(),
    }
    if caught:
        record["warning"] = caught[0].category.__name__
    return record


def length(jaxpr: Any) -> int:
    """How many equations, counting those of inner programs in place of the call."""
    total = 0
    for eqn in jaxpr.eqns:
        inner = eqn.params.get("jaxpr") if eqn.primitive.name == "jit" else None
        total += length(inner.jaxpr) if inner is not None else 1
    return total


def program_length(expression: str) -> int:
    fun = eval(f"lambda x, i, I: {expression}", NAMES)
    return length(jax.make_jaxpr(fun)(NAMES["x"], 1, array([0, 1])).jaxpr)


def main() -> None:
    groups = {
        "read": READ,
        "write": WRITE,
        "along": ALONG,
        "grids": GRIDS,
        "errors": ERRORS,
        "warns": WARNS,
    }
    data = {}
    for group, text in groups.items():
        records = {line: outcome(line) for line in text.strip().splitlines()}
        for line, record in records.items():
            if ("error" in record) != (group == "errors") or (
                ("warning" in record) != (group == "warns")
            ):
                raise SystemExit(f"unexpected outcome in {group}: {line} -> {record}")
        data[group] = records
    data["programs"] = {line: program_length(line) for line in PROGRAMS.strip().splitlines()}
    lines = [
        f"{json.dumps(group)}: {{\n"
        + ",\n".join(f" {json.dumps(k)}: {json.dumps(r)}" for k, r in records.items())
        + "\n}"
        for group, records in data.items()
    ]
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(DATA, sum(map(len, data.values())), "expressions")


if __name__ == "__main__":
    main()
