# error: TracerBoolConversionError
# line: 12
# depends: centre
# fix: static_args
# result: 4.6667 13.6667

import jax
import jax.numpy as jnp


def moments(x, order, centre):
    if centre:
        x = x - x.mean()
    return (x ** order).mean()


fast_moments = jax.jit(moments, static_argnames=("order",))
x = jnp.array([1.0, 2.0, 6.0])
print(round(float(fast_moments(x, order=2, centre=True)), 4), round(float(fast_moments(x, order=2, centre=False)), 4))
