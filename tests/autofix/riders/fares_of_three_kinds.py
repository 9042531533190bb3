# error: TypeError
# line: 25
# depends: -
# fix: any
# result: [0.0, 6.5, 2.8499999046325684, 2.8999998569488525]

import jax
import jax.numpy as jnp


def child(distance):
    return 0


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
