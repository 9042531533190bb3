# error: RuntimeError
# expect: RuntimeError | ValueError | DonationWarning
# line: 33
# also-line: 32
# depends: -
# fix: read_before_donation
# trap: a copy of all parameters at each step costs what donation saves
# fixed-file: fixed/donated_then_logged.py
# result: 1.4557
# family: 1/donation-pleased-by-copies

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def train_step(params, x, y):
    def loss(p):
        return jnp.mean((x @ p["w"] + p["b"] - y) ** 2)

    grads = jax.grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
y = jnp.array([1.0, 2.0, 3.0])
params = {"w": jnp.zeros(2), "b": jnp.zeros(())}
moved = 0.0
for _ in range(5):
    new = train_step(params, x, y)
    moved += float(jnp.abs(new["w"] - params["w"]).sum())
    params = new
print(round(moved, 4))
