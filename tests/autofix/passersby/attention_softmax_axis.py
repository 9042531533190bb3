# error: none
# expect: AxisWarning | ShapeWarning | BroadcastWarning
# jax-differs: jax computes what was asked
# line: 23
# depends: -
# fix: axis
# fixed-file: fixed/attention_softmax_axis.py
# result: [10.0, 10.0, 25.0] ; [1.0, 1.0, 1.0]

"""Scaled dot-product attention as a soft dictionary lookup."""
import jax
import jax.numpy as jnp


def one_hot_keys(n, scale):
    return scale * jnp.eye(n)


def attention(q, k, v, mask=None):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    weights = jax.nn.softmax(scores, axis=0)
    return weights @ v, weights


@jax.jit
def lookup(queries, keys, values):
    out, weights = attention(queries, keys, values)
    return out, weights.sum(axis=-1)


keys = one_hot_keys(4, 8.0)
values = jnp.array([10.0, 20.0, 30.0, 40.0])[:, None]
queries = jnp.array([
    [8.0, 0.0, 0.0, 0.0],
    [8.0, 0.0, 0.0, 0.0],
    [0.0, 4.0, 4.0, 0.0],
])
out, totals = lookup(queries, keys, values)
print([round(float(o), 2) for o in out[:, 0]])
print([round(float(t), 2) for t in totals])
