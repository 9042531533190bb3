import sagax
import sagax.numpy as jnp


def penalty(weights):
    norm = jnp.sqrt(jnp.sum(weights["bias"] ** 2))  #~ SX0405 the gradient is nan
    return norm + jnp.sum(weights["kernel"] ** 2)


weights = {"bias": jnp.zeros(2), "kernel": jnp.ones(2)}
print(sagax.grad(penalty)(weights))
