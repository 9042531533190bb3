import jax
import jax.numpy as jnp

scale = jnp.array([1.0, 30.0])


def energy(point):
    return 0.5 * jnp.sum(scale * point**2)


@jax.jit
def descend(point):
    slope = jax.grad(energy)(point)
    rate = jax.lax.while_loop(
        lambda rate: energy(point - rate * slope) > energy(point), lambda rate: rate * 0.5, 1.0
    )
    return point - rate * slope, rate


point = jnp.array([2.0, -1.0])
for _ in range(3):
    point, rate = descend(point)
print(point.round(3).tolist(), float(rate))
