# One correct fixed version of activation_name_mapped.py
import jax
import jax.numpy as jnp


def neuron(x, kind):
    if kind == "relu":
        return jnp.maximum(x, 0).sum()
    return jnp.tanh(x).sum()


x = jnp.arange(6.0).reshape(3, 2) - 2
print(jax.vmap(lambda row: neuron(row, "relu"))(x).tolist())
