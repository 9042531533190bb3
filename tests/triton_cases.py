"""Kernels for Triton, written for either library, with operands and what NumPy gives for them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

f32 = np.float32


class Case(NamedTuple):
    """A function of arrays that calls a kernel, its operands, and the results that are expected."""

    function: Any
    operands: list
    expected: list


def _numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(f32)


def cases(lib: Any, pl: Any, plt: Any) -> dict[str, Case]:
    """Return the cases by name; `plt` is the library's module for Triton."""
    np_, lax, found = lib.numpy, lib.lax, {}

    def call(kernel: Any, outs: Any, **options: Any) -> Any:
        options.setdefault("compiler_params", plt.CompilerParams(num_warps=4, num_stages=2))
        return pl.pallas_call(kernel, outs, **options)

    def shape(*sizes: int, dtype: Any = f32) -> Any:
        return lib.ShapeDtypeStruct(sizes, dtype)

    def add(x_ref: Any, y_ref: Any, o_ref: Any) -> None:
        o_ref[...] = x_ref[...] + y_ref[...]

    line = pl.BlockSpec((64,), lambda i: (i,))
    f = call(add, shape(256), grid=(4,), in_specs=[line, line], out_specs=line, name="add")
    x, y = _numbers(256), _numbers(256, seed=1)
    found["add"] = Case(f, [x, y], [x + y])
    f = call(add, shape(200), grid=(4,), in_specs=[line, line], out_specs=line, name="add_partial")
    found["add_partial"] = Case(f, [x[:200], y[:200]], [(x + y)[:200]])

    def add_masked(x_ref: Any, y_ref: Any, o_ref: Any) -> None:
        at = pl.program_id(0) * 64 + np_.arange(64)
        mask = at < 200
        total = plt.load(x_ref.at[at], mask=mask, other=0.0) + plt.load(y_ref.at[at], mask=mask)
        plt.store(o_ref.at[at], total, mask=mask)

    f = call(add_masked, shape(200), grid=(4,), name="add_masked")
    found["add_masked"] = Case(f, [x[:200], y[:200]], [(x + y)[:200]])

    def matmul(x_ref: Any, y_ref: Any, o_ref: Any) -> None:
        def body(i: Any, total: Any) -> Any:
            at = pl.ds(i * 16, 16)
            return total + plt.dot(x_ref[:, at], y_ref[at, :])

        o_ref[...] = lax.fori_loop(0, 3, body, np_.zeros((32, 16), f32))

    a, b = _numbers(64, 48), _numbers(48, 32, seed=1)
    f = call(
        matmul, shape(64, 32), grid=(2, 2), name="matmul",
        in_specs=[pl.BlockSpec((32, 48), lambda i, j: (i, 0)), pl.BlockSpec((48, 16), lambda i, j: (0, j))],
        out_specs=pl.BlockSpec((32, 16), lambda i, j: (i, j)),
    )  # fmt: skip
    found["matmul"] = Case(f, [a, b], [a @ b])

    def softmax(x_ref: Any, o_ref: Any) -> None:
        v = x_ref[...]
        e = np_.exp(v - v.max(-1, keepdims=True))
        o_ref[...] = e / e.sum(-1, keepdims=True)

    rows = pl.BlockSpec((8, 64), lambda i: (i, 0))
    m = _numbers(32, 64)
    e = np.exp(m - m.max(-1, keepdims=True))
    f = call(softmax, shape(32, 64), grid=(4,), in_specs=[rows], out_specs=rows, name="softmax")
    found["softmax"] = Case(f, [m], [e / e.sum(-1, keepdims=True)])

    def layer_norm(x_ref: Any, w_ref: Any, b_ref: Any, o_ref: Any) -> None:
        v = x_ref[...]
        mean = v.mean(-1, keepdims=True)
        variance = ((v - mean) ** 2).mean(-1, keepdims=True)
        o_ref[...] = (v - mean) * lax.rsqrt(variance + 1e-5) * w_ref[...] + b_ref[...]

    vector = pl.BlockSpec((64,), lambda i: (0,))
    w, c = _numbers(64, seed=2), _numbers(64, seed=3)
    f = call(
        layer_norm,
        shape(32, 64),
        grid=(4,),
        in_specs=[rows, vector, vector],
        out_specs=rows,
        name="layer_norm",
    )
    want = (m - m.mean(-1, keepdims=True)) / np.sqrt(m.var(-1, keepdims=True) + 1e-5) * w + c
    found["layer_norm"] = Case(f, [m, w, c], [want])

    def attention(q_ref: Any, k_ref: Any, v_ref: Any, o_ref: Any) -> None:
        q = q_ref[...] * f32(0.25)
        first = pl.program_id(1) * 16

        def body(j: Any, carry: Any) -> Any:
            total, most, weight = carry
            at = pl.ds(j * 16, 16)
            scores = plt.dot(q, k_ref[at, :].T)
            mine, theirs = first + np_.arange(16), j * 16 + np_.arange(16)
            scores = np_.where(mine[:, None] >= theirs[None], scores, -1e30)
            new = np_.maximum(most, scores.max(-1))
            p, fade = np_.exp(scores - new[:, None]), np_.exp(most - new)
            return total * fade[:, None] + plt.dot(p, v_ref[at, :]), new, weight * fade + p.sum(-1)

        start = np_.zeros((16, 16), f32), np_.full((16,), -1e30, f32), np_.zeros((16,), f32)
        total, _, weight = lax.fori_loop(0, pl.program_id(1) + 1, body, start)
        o_ref[...] = total / weight[:, None]

    q, k, v = (_numbers(2, 32, 16, seed=s) for s in (4, 5, 6))
    part, whole = (
        pl.BlockSpec((None, 16, 16), lambda h, i: (h, i, 0)),
        pl.BlockSpec((None, 32, 16), lambda h, i: (h, 0, 0)),
    )
    f = call(
        attention,
        shape(2, 32, 16),
        grid=(2, 2),
        in_specs=[part, whole, whole],
        out_specs=part,
        name="attention",
    )
    scores = np.where(
        np.tril(np.ones((32, 32), bool)), np.einsum("hqd,hkd->hqk", q, k) / 4, -np.inf
    )
    p = np.exp(scores - scores.max(-1, keepdims=True))
    found["attention"] = Case(
        f, [q, k, v], [np.einsum("hqk,hkd->hqd", p / p.sum(-1, keepdims=True), v)]
    )

    def histogram(i_ref: Any, x_ref: Any, o_in_ref: Any, o_ref: Any) -> None:
        plt.atomic_add(o_ref, (i_ref[...],), x_ref[...], mask=x_ref[...] > 0)

    i = np.random.default_rng(7).integers(0, 16, 256).astype(np.int32)
    f = call(
        histogram, shape(16), grid=(4,), in_specs=[line, line, pl.BlockSpec((16,), lambda i: (0,))],
        out_specs=pl.BlockSpec((16,), lambda i: (0,)), input_output_aliases={2: 0}, name="histogram",
    )  # fmt: skip
    found["histogram"] = Case(
        f, [i, x, np.zeros(16, f32)], [np.bincount(i, np.maximum(x, 0), 16).astype(f32)]
    )

    def control(x_ref: Any, o_ref: Any) -> None:
        v = x_ref[...]
        v = lax.while_loop(lambda s: s.max() < 100, lambda s: s * 2 + 1, v)
        v = lax.cond(pl.program_id(0) > 1, lambda s: s + 1, lambda s: s - 1, v)
        o_ref[...] = lax.switch(pl.program_id(0), [lambda s: s, lambda s: s * 2, lambda s: -s], v)

    f = call(control, shape(256), grid=(4,), in_specs=[line], out_specs=line, name="control")
    want = []
    for n, s in enumerate(np.abs(x).reshape(4, 64)):
        while s.max() < 100:
            s = s * 2 + 1
        s = s + 1 if n > 1 else s - 1
        want.append([s, s * 2, -s][min(n, 2)])
    found["control"] = Case(f, [np.abs(x)], [np.concatenate(want)])

    def reduce(x_ref: Any, o_ref: Any, s_ref: Any) -> None:
        v = x_ref[...]
        o_ref[...] = (
            v.sum(1)
            + v.max(1)
            - v.min(1)
            + np_.argmax(v, 1).astype(f32) * 2
            + np_.argmin(v, 1).astype(f32)
        )
        s_ref[...] = np_.cumsum(v, 1)

    f = call(reduce, (shape(32), shape(32, 64)), name="reduce")
    want = m.sum(1) + m.max(1) - m.min(1) + m.argmax(1) * 2 + m.argmin(1)
    found["reduce"] = Case(f, [m], [want.astype(f32), np.cumsum(m, 1)])

    deep = _numbers(2, 3, 1, 2, 16)
    one = pl.BlockSpec((None, None, None, None, 16), lambda i, j, k, m: (i, j, k, m, 0))
    f = call(lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...] * 2), shape(2, 3, 1, 2, 16), grid=(2, 3, 1, 2),
             in_specs=[one], out_specs=one, name="grid_of_four")  # fmt: skip
    found["grid_of_four"] = Case(f, [deep], [deep * 2])

    f = lib.vmap(
        call(add, shape(256), grid=(4,), in_specs=[line, line], out_specs=line, name="vmapped"),
        (0, None),
    )
    xs = _numbers(3, 256)
    found["vmapped"] = Case(f, [xs, y], [xs + y])

    def booleans(x_ref: Any, o_ref: Any) -> None:
        o_ref[...] = ~x_ref[...]

    f = call(booleans, shape(64, dtype=np.bool_), name="booleans")
    found["booleans"] = Case(f, [x[:64] > 0], [x[:64] <= 0])
    assert math.isfinite(sum(float(np.sum(e)) for c in found.values() for e in c.expected))
    return found
