# One correct fixed version of dict_read_by_attribute.py
import jax
import jax.numpy as jnp


def forward(params, x):
    return jnp.tanh(x @ params["w"] + params["b"])


params = {"w": jnp.ones((2, 3)), "b": jnp.zeros(3)}
print(round(float(jax.jit(forward)(params, jnp.ones((1, 2))).sum()), 4))
