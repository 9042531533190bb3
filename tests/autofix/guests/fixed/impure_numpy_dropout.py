# One correct fixed version of impure_numpy_dropout.py
import jax
import jax.numpy as jnp


@jax.jit
def hidden(weights, x, key):
    h = jax.nn.relu(x @ weights)
    mask = jax.random.bernoulli(key, 0.5, h.shape)
    return jnp.where(mask, 2.0 * h, 0.0)


x = jnp.ones((4, 8))
weights = jnp.ones((8, 32))
outputs = [hidden(weights, x, key) for key in jax.random.split(jax.random.key(0), 3)]
print([bool(jnp.any(out != outputs[0])) for out in outputs[1:]])
