import jax
import jax.numpy as jnp

values = jnp.array([1.0, 3.0, 2.0])


def utility(theta):
    return jnp.sum(values * jax.nn.softmax(values * theta))


print(round(float(jax.grad(lambda t: utility(t * jnp.array([1.0, 0.9, 1.2])))(1.0)), 3))
