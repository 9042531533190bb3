import jax
import jax.numpy as jnp


def loss(params):
    return jnp.sum(params["w"] ** 3) + 10.0 * params["b"] ** 2


@jax.jit
def step(params):
    grads = jax.grad(loss)(params)
    grads = jax.tree.map(lambda g: jnp.clip(g, -1.0, 1.0), grads)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


params = step({"w": jnp.array([0.1, -0.5, 2.0]), "b": jnp.array(0.5)})
print(params["w"].round(4).tolist(), round(float(params["b"]), 4))
