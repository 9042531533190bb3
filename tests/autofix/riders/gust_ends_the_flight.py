# error: TracerBoolConversionError
# line: 13
# depends: height, wind
# fix: any
# result: [11.918000221252441, 13.60300064086914, 0.0, 1.8000000715255737, 3.318000078201294]

import jax
import jax.numpy as jnp


def lift(height, wind):
    gust = wind * jnp.exp(-height / 50.0)
    if gust > 6.0:
        return height * 0.0
    rise = 2.0 - 0.1 * gust
    return jnp.minimum(height + rise, 120.0)


@jax.jit
def fly(winds):
    def step(height, wind):
        height = lift(height, wind)
        return height, height

    return jax.lax.scan(step, 10.0, winds)[1]


print(fly(jnp.array([1.0, 4.0, 9.0, 2.0, 5.0])).round(3).tolist())
