# error: ValueError
# line: 18
# depends: weights
# fix: in_axes
# result: [3.0, 8.0]
# grade: ran
import jax
import jax.numpy as jnp


def weigh(x, w):
    return x * w


@jax.jit
def combine(data, weights):
    mapped = jax.vmap(weigh, in_axes=(0, 1))
    return mapped(data, weights)


print(combine(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])).tolist())
