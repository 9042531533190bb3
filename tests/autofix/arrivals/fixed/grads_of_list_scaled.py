# One correct fixed version of grads_of_list_scaled.py
import jax
import jax.numpy as jnp


def loss(weights, x):
    for w in weights:
        x = jnp.tanh(w @ x)
    return jnp.sum(x)


weights = [jnp.eye(3) * s for s in (0.5, 1.5)]
rate = 0.1
for _ in range(3):
    grads = jax.grad(loss)(weights, jnp.arange(3.0))
    weights = [w - g for w, g in zip(weights, [rate * g for g in grads])]
print(round(float(sum(w.sum() for w in weights)), 4))
