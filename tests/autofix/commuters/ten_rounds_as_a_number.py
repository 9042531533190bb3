# error: ValueError
# expect: ValueError | TypeError
# line: 22
# depends: -
# fix: any
# result: [0.0, 19.029998779296875] (10,)

import jax
import jax.numpy as jnp

ROUNDS = 10
growth = jnp.array([[1.1, -0.4], [0.1, 0.9]])


def season(animals, _):
    animals = jnp.maximum(growth @ animals, 0.0)
    return animals, animals.sum()


@jax.jit
def simulate(animals):
    return jax.lax.scan(season, animals, ROUNDS)


final, totals = simulate(jnp.array([40.0, 9.0]))
print(final.round(2).tolist(), totals.shape)
