# error: NotImplementedError
# line: 22
# depends: -
# fix: any
# result: [0.0, 3.0, 1.0, 8.0, 11.0] B

import jax
import jax.numpy as jnp

ROADS = {"AB": 4.0, "AC": 1.0, "CB": 2.0, "BD": 5.0, "CD": 8.0, "DE": 3.0}


def distance_table(roads):
    towns = sorted({t for pair in roads for t in pair})
    index = {t: i for i, t in enumerate(towns)}
    src = jnp.array([index[a] for a, _ in roads])
    dst = jnp.array([index[b] for _, b in roads])
    length = jnp.array(list(roads.values()))
    n = len(towns)
    dist = jnp.full((n, n), jnp.inf)
    dist = dist.at[src, dst].set(length).at[dst, src].set(length)
    jnp.fill_diagonal(dist, 0.0)
    return towns, dist


@jax.jit
def floyd_warshall(dist):
    def relax(k, d):
        return jnp.minimum(d, d[:, k, None] + d[None, k, :])

    return jax.lax.fori_loop(0, dist.shape[0], relax, dist)


towns, dist = distance_table(ROADS)
shortest = floyd_warshall(dist)
center = towns[int(jnp.argmin(shortest.max(axis=1)))]
print(shortest[0].tolist(), center)
