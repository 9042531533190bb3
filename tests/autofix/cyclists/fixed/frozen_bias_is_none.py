import jax
import jax.numpy as jnp


def loss(weight):
    return jnp.sum((weight - 2.0) ** 2)


params = {"weight": jnp.array([1.0, 3.0]), "bias": jnp.array(0.5)}
grads = {"weight": jax.grad(loss)(params["weight"]), "bias": jnp.zeros(())}
params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
print(params["weight"].round(3).tolist(), float(params["bias"]))
