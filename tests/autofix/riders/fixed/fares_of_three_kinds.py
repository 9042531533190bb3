import jax
import jax.numpy as jnp


def child(distance):
    return 0.0 * distance


def adult(distance):
    return 2.5 + 0.4 * distance


def pensioner(distance):
    return 0.5 * adult(distance)


@jax.jit
def fare(kind, distance):
    return jax.lax.switch(kind, [child, adult, pensioner], distance)


kinds = jnp.array([0, 1, 2, 1])
distances = jnp.array([3.0, 10.0, 8.0, 1.0])
print(jax.vmap(fare)(kinds, distances).round(2).tolist())
