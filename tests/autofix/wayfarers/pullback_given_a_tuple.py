# error: ValueError
# expect: ValueError | TypeError
# line: 17
# depends: -
# fix: unwrap
# result: [0.44, 0.92]

import jax
import jax.numpy as jnp


def polar(v):
    return jnp.stack([jnp.hypot(v[0], v[1]), jnp.arctan2(v[1], v[0])])


out, pullback = jax.vjp(polar, jnp.array([3.0, 4.0]))
(grad,) = pullback((jnp.ones(2),))
print([round(float(g), 3) for g in grad])
