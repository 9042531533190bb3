# error: none
# expect: ImpureTraceWarning
# jax-differs: jax silently keeps the value of the environment at the first call
# line: 21
# depends: -
# fix: pass_argument
# fixed-file: fixed/environment_switch.py
# result: 0.6 1.5
# family: 2/impure-while-tracing

import os

import jax
import jax.numpy as jnp

os.environ["CLIP_NORM"] = "1.0"


@jax.jit
def clip(gradient):
    limit = float(os.environ["CLIP_NORM"])
    norm = jnp.sqrt(jnp.sum(gradient**2))
    return gradient * jnp.minimum(1.0, limit / norm)


gradient = jnp.array([3.0, 4.0])
first = clip(gradient)
os.environ["CLIP_NORM"] = "2.5"
second = clip(gradient)
print(round(float(first[0]), 4), round(float(second[0]), 4))
