# error: ConcretizationTypeError
# line: 18
# depends: params, x, y
# fix: return_value
# fixed-file: fixed/conc_item_in_loss.py
# result: 3 4.6667 0.9357

import jax
import jax.numpy as jnp

history = {"mse": [], "penalty": []}


@jax.jit
def loss_fn(params, x, y):
    mse = jnp.mean((x @ params - y) ** 2)
    penalty = 0.01 * jnp.sum(params**2)
    history["mse"].append(mse.item())
    history["penalty"].append(penalty.item())
    return mse + penalty


x = jnp.eye(3)
y = jnp.array([1.0, 2.0, 3.0])
params = jnp.zeros(3)
for _ in range(3):
    params = params - 0.5 * jax.grad(loss_fn)(params, x, y)
print(len(history["mse"]), round(history["mse"][0], 4), round(history["mse"][-1], 4))
