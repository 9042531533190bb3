# One correct fixed version of environment_switch.py
import os

import jax
import jax.numpy as jnp

os.environ["CLIP_NORM"] = "1.0"


@jax.jit
def clip(gradient, limit):
    norm = jnp.sqrt(jnp.sum(gradient**2))
    return gradient * jnp.minimum(1.0, limit / norm)


gradient = jnp.array([3.0, 4.0])
first = clip(gradient, float(os.environ["CLIP_NORM"]))
os.environ["CLIP_NORM"] = "2.5"
second = clip(gradient, float(os.environ["CLIP_NORM"]))
print(round(float(first[0]), 4), round(float(second[0]), 4))
