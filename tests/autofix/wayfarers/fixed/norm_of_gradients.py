# One correct fixed version of norm_of_gradients.py
import jax
import jax.numpy as jnp


def loss(params, x):
    return jnp.sum(jnp.tanh(x @ params["w"] + params["b"]))


params = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
grads = jax.grad(loss)(params, jnp.eye(3))
size = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
print(round(float(size), 4))
