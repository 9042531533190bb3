# error: none
# expect: StaleValueWarning
# line: 15
# depends: -
# fix: pass_argument
# result: [0.1689, 0.1689]

import jax
import jax.numpy as jnp

CONFIG = {"decay": {"l2": 0.1}, "name": "ridge"}


def penalty(w):
    return CONFIG["decay"]["l2"] * jnp.sum(w**2)


def loss(w, x):
    return jnp.mean((x @ w) ** 2) + penalty(w)


@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)


w, x = jnp.ones(2), jnp.ones((3, 2))
for _ in range(3):
    w = step(w, x)
    CONFIG["decay"]["l2"] *= 2.0
print([round(float(v), 4) for v in w])
