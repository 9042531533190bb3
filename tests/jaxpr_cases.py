"""Programs whose jaxprs are compared, text for text, with those of jax; written for either library."""

from __future__ import annotations

from typing import Any


def cases(lib: Any) -> dict[str, tuple]:
    """name -> (function, arguments); `lib` is the module jax or sagax."""
    np, lax = lib.numpy, lib.lax
    x = np.arange(3.0)
    m = np.ones((2, 3))
    i = np.arange(3)
    return {
        "chain": (lambda x: np.sin(x) * 2 + 1, [x]),
        "slice": (lambda x: x[1:], [x]),
        "traced index": (lambda x, k: x[k], [x, 0]),
        "transpose": (lambda m: m.T, [m]),
        "concatenate and reshape": (lambda x: np.concatenate([x, x]).reshape(2, 3), [x]),
        "ranks": (lambda x, m: x + m, [x, m]),
        "reductions": (lambda m: (m.sum(), m.max(1), m.min(), m.prod(0)), [m]),
        "mean": (lambda m: m.mean(), [m]),
        "booleans": (lambda m: ((m > 0).any(), (m > 0).all(0)), [m]),
        "positions": (lambda m: np.argmax(m, 1), [m]),
        "promotion": (lambda a, b: a + b, [1, 2.0]),
        "integers with floats": (lambda i, x: i * x, [i, x]),
        "casts": (lambda x: (x.astype("int32"), x.astype("bfloat16")), [x]),
        "creation": (lambda: (np.arange(3), np.zeros((2, 2)), np.full((2,), 7)), []),
        "comparison": (lambda x: (x == 1) & (x < 2), [x]),
        "powers": (lambda x: x**2 + x**-1, [x]),
        "batched product": (lib.vmap(lambda a, b: np.dot(a, b)), [m, m]),
        "mapped": (lib.vmap(lambda r: np.sin(r).sum() * 3), [m]),
        "jvp": (lambda x: lib.jvp(np.tanh, (x,), (x,)), [x]),
        "lax": (lambda x: lax.add(lax.mul(x, x), lax.neg(x)), [x]),
        "dynamic slices": (lambda x: lax.dynamic_slice(x, (1,), (2,)), [x]),
        "pad": (lambda x: lax.pad(x, 0.0, [(1, 2, 0)]), [x]),
        "sort": (lambda m: lax.sort((m, m), num_keys=2), [m]),
        "cumulative": (lambda m: lax.cummax(m, 1), [m]),
        "top_k": (lambda m: lax.top_k(m, 2), [m]),
        "set": (lambda x: x.at[0].set(1.0), [x]),
        "clamp": (lambda x: lax.clamp(0.0, x, 1.0), [x]),
    }
