import jax
import jax.numpy as jnp


def total_loss(w, batches):
    return jnp.mean(jnp.array([jnp.sum((x * w) ** 2) for x in batches]))


batches = [jnp.array([1.0, 2.0]), jnp.array([0.5])]
print(float(jax.grad(total_loss)(1.0, batches)))
