# error: TracerBoolConversionError
# line: 15
# depends: i
# fix: any
# result: 0 9.0 ; 10 0.10376295447349548 ; 2.97

import jax
import jax.numpy as jnp


@jax.jit
def fit(w):
    def step(i, w):
        loss = (w - 3.0) ** 2
        if i % 10 == 0:
            jax.debug.print("{} {}", i, loss)
        return w - 0.1 * 2 * (w - 3.0)

    return jax.lax.fori_loop(0, 20, step, w)


print(round(float(fit(jnp.array(0.0))), 2))
