import jax
import jax.numpy as jnp

INF = jnp.inf
roads = jnp.array(
    [[0.0, 4.0, INF, INF], [4.0, 0.0, 1.0, INF], [INF, 1.0, 0.0, INF], [INF, INF, INF, 0.0]]
)


@jax.jit
def all_pairs(distance):
    def through(k, distance):
        return jnp.minimum(distance, distance[:, k, None] + distance[k])

    return jax.lax.fori_loop(0, distance.shape[0], through, distance)


print(all_pairs(roads).tolist()[0])
