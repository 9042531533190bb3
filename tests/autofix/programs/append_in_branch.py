# error: TracerBoolConversionError
# line: 14
# depends: x
# fix: where
# result: [[2.0, 3.0], [-2.0, -3.0]]

import jax
import jax.numpy as jnp


def select(x, ys):
    kept = []
    for y in ys:
        if x > 0:
            kept.append(y)
        else:
            kept.append(-y)
    return jnp.stack(kept)


@jax.jit
def f(xs, ys):
    return jax.vmap(select, in_axes=(0, None))(xs, ys)


print(f(jnp.array([1.0, -1.0]), jnp.array([2.0, 3.0])).tolist())
