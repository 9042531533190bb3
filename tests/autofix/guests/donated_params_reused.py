# error: RuntimeError
# expect: RuntimeError | ValueError
# line: 28
# also-line: 27
# depends: params
# fix: copy_before_donate
# fixed-file: fixed/donated_params_reused.py
# result: 1.441

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def train_step(params, x, y):
    grads = jax.grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)
    return params - 0.1 * grads


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
y = jnp.array([1.0, 2.0, 3.0])
params = jnp.zeros(2)
best = params
for _ in range(5):
    params = train_step(params, x, y)
print(round(float(jnp.linalg.norm(params - best)), 4))
