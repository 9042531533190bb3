# error: TypeError
# line: 26
# also-line: 47
# depends: -
# fix: argument_order
# fixed-file: fixed/soft_threshold_nondiff.py
# result: (6,) True

"""Iterative soft thresholding with a hand-written derivative."""
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def shrink(x, lam):
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - lam, 0.0)


def shrink_fwd(x, lam):
    out = shrink(x, lam)
    return out, out != 0.0


def shrink_bwd(active, g):
    return (jnp.where(active, g, 0.0),)


shrink.defvjp(shrink_fwd, shrink_bwd)


def ista(A, b, steps=60, lam=0.05):
    eta = 1.0 / jnp.linalg.norm(A, ord=2) ** 2
    x = jnp.zeros(A.shape[1])
    for _ in range(steps):
        x = shrink(x - eta * A.T @ (A @ x - b), 0.02)
    return x


def recovery(A, b, truth):
    return jnp.sum((ista(A, b) - truth) ** 2)


A = jnp.cos(jnp.outer(jnp.arange(1.0, 7.0), jnp.arange(1.0, 9.0)))
truth = jnp.zeros(8).at[jnp.array([1, 5])].set(jnp.array([1.0, -0.7]))
g = jax.grad(recovery, argnums=1)(A, A @ truth, truth)
print(g.shape, bool(jnp.isfinite(g).all()))
