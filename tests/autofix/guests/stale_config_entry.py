# error: none
# expect: StaleValueWarning
# jax-differs: jax silently uses the learning rate that the dict held at first
# line: 20
# also-line: 28, 29
# depends: -
# fix: pass_argument
# fixed-file: fixed/stale_config_entry.py
# result: 1.7633

import jax
import jax.numpy as jnp

CONFIG = {"learning_rate": 0.4, "weight_decay": 0.0}


@jax.jit
def update(w, x, y):
    grad = jax.grad(lambda w: jnp.mean((x * w - y) ** 2))(w)
    return w - CONFIG["learning_rate"] * (grad + CONFIG["weight_decay"] * w)


x = jnp.array([1.0, 2.0, 0.5])
y = jnp.array([2.0, 4.0, 1.0])
w = jnp.array(0.0)
for epoch in range(4):
    if epoch == 2:
        CONFIG["learning_rate"] = 0.04
    w = update(w, x, y)
print(round(float(w), 4))
