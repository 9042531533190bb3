from typing import NamedTuple

import jax
import jax.numpy as jnp


class Belief(NamedTuple):
    mean: jax.Array
    var: jax.Array


def kalman_filter(observations, q=0.01, r=0.25):
    def update(belief, y):
        prior = belief.var + q
        gain = prior / (prior + r)
        mean = belief.mean + gain * (y - belief.mean)
        belief = Belief(mean, (1 - gain) * prior)
        return belief, belief

    start = Belief(jnp.array(0.0), jnp.array(1.0))
    final, history = jax.lax.scan(update, start, observations)
    return final, history


final, history = kalman_filter(jnp.array([0.9, 1.1, 1.0, 1.3, 0.8]))
print(round(float(final.mean), 4), history.var.shape)
