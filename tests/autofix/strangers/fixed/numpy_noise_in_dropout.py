# One correct fixed version of numpy_noise_in_dropout.py
import jax
import jax.numpy as jnp


def dropout(key, x, rate):
    keep = jax.random.uniform(key, x.shape) > rate
    return jnp.where(keep, x / (1.0 - rate), 0.0)


@jax.jit
def forward(key, w, x):
    return dropout(key, jnp.tanh(x @ w), 0.5)


w = jnp.ones((3, 64))
x = jnp.array([0.1, 0.2, 0.3])
keys = jax.random.split(jax.random.key(0), 5)
masks = {tuple((forward(key, w, x) > 0).tolist()) for key in keys}
print("different masks:", len(masks))
