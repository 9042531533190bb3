# error: none
# expect: BroadcastWarning
# line: 23
# depends: -
# fix: any
# result: [0.25699999928474426, 0.24800001084804535, 0.3570000231266022, 0.13900001347064972] ; 1.0 1.0

import jax
import jax.numpy as jnp

links = jnp.array(
    [
        [0.0, 1.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [1.0, 1.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 0.0],
    ]
)


@jax.jit
def stationary(links):
    transition = links / links.sum(axis=1)

    def hop(rank, _):
        rank = 0.15 / 4 + 0.85 * rank @ transition
        return rank, jnp.sum(rank)

    return jax.lax.scan(hop, jnp.full(4, 0.25), None, length=40)


rank, mass = stationary(links)
print(rank.round(3).tolist())
print(round(float(mass[0]), 2), round(float(mass[-1]), 2))
