import jax
import jax.numpy as jnp


def lift(height, wind):
    gust = wind * jnp.exp(-height / 50.0)
    rise = 2.0 - 0.1 * gust
    return jnp.where(gust > 6.0, height * 0.0, jnp.minimum(height + rise, 120.0))


@jax.jit
def fly(winds):
    def step(height, wind):
        height = lift(height, wind)
        return height, height

    return jax.lax.scan(step, 10.0, winds)[1]


print(fly(jnp.array([1.0, 4.0, 9.0, 2.0, 5.0])).round(3).tolist())
