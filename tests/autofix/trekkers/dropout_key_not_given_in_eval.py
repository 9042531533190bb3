# error: TypeError
# line: 12
# depends: key
# fix: any
# result: 6.0

import jax
import jax.numpy as jnp


def dropout(x, rate, key=None):
    keep = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(keep, x / (1.0 - rate), 0.0)


def net(w, x, key=None):
    h = jax.nn.relu(x @ w)
    h = dropout(h, 0.5, key)
    return h.sum()


w = jnp.eye(3)
x = jnp.array([1.0, 2.0, 3.0])
print(float(net(w, x)))
