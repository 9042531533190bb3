# One correct fixed version of dense_weights_transposed.py
import jax
import jax.numpy as jnp


def init(key, sizes):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        params.append((jax.random.normal(sub, (n_in, n_out)) * 0.1, jnp.ones(n_out)))
    return params


@jax.jit
def forward(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


params = init(jax.random.key(1), [4, 8, 2])
print(forward(params, jnp.zeros((5, 4))).shape)
