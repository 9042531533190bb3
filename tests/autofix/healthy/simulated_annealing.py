import jax
import jax.numpy as jnp

DISTANCES = jnp.array(
    [[0.0, 2.0, 9.0, 10.0], [2.0, 0.0, 6.0, 4.0], [9.0, 6.0, 0.0, 3.0], [10.0, 4.0, 3.0, 0.0]]
)


def length(tour):
    return DISTANCES[tour, jnp.roll(tour, -1)].sum()


@jax.jit
def anneal(key, tour):
    def step(carry, inputs):
        tour, best = carry
        key, temperature = inputs
        pick, accept = jax.random.split(key)
        i, j = jax.random.choice(pick, tour.shape[0], (2,), replace=False)
        new = tour.at[i].set(tour[j]).at[j].set(tour[i])
        change = length(new) - length(tour)
        better = jax.random.uniform(accept) < jnp.exp(-change / temperature)
        tour = jnp.where(better, new, tour)
        return (tour, jnp.minimum(best, length(tour))), None

    temperatures = jnp.geomspace(10.0, 0.1, 200)
    keys = jax.random.split(key, 200)
    (tour, best), _ = jax.lax.scan(step, (tour, length(tour)), (keys, temperatures))
    return tour, best


tour, best = anneal(jax.random.key(0), jnp.arange(4))
print(sorted(tour.tolist()), float(best))
