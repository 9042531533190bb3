# error: none
# expect: ImpureTraceWarning
# jax-differs: jax silently uses one dropout mask for all calls
# line: 19
# depends: -
# fix: jax_random
# fixed-file: fixed/numpy_noise_in_dropout.py
# result: different masks: 5
# family: 2/impure-while-tracing

import jax
import jax.numpy as jnp
import numpy as np

np.random.seed(0)


def dropout(x, rate):
    keep = np.random.rand(*x.shape) > rate
    return jnp.where(keep, x / (1.0 - rate), 0.0)


@jax.jit
def forward(w, x):
    return dropout(jnp.tanh(x @ w), 0.5)


w = jnp.ones((3, 64))
x = jnp.array([0.1, 0.2, 0.3])
masks = {tuple((forward(w, x) > 0).tolist()) for _ in range(5)}
print("different masks:", len(masks))
