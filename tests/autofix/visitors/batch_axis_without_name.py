# error: NameError
# expect: NameError | ValueError
# line: 17
# also-line: 28
# depends: -
# fix: axis_name
# fixed-file: fixed/batch_axis_without_name.py
# result: [1.809, 1.685]
# family: in_axes/unbound-axis-name

import jax
import jax.numpy as jnp


def normalize(x):
    """Batch normalization, written for one example."""
    mean = jax.lax.pmean(x, "batch")
    variance = jax.lax.pmean((x - mean) ** 2, "batch")
    return (x - mean) / jnp.sqrt(variance + 1e-5)


def forward(w, x):
    return jax.nn.relu(normalize(w @ x))


w = jnp.array([[1.0, -1.0], [0.5, 2.0]])
batch = jnp.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [-1.0, -1.0]])
out = jax.vmap(forward, in_axes=(None, 0))(w, batch)
print([round(float(v), 3) for v in out.sum(axis=0)])
