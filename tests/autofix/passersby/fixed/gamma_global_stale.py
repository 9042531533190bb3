# One correct fixed version of gamma_global_stale.py
"""Discounted returns for several discount factors."""
import jax
import jax.numpy as jnp

GAMMA = 0.99


@jax.jit
def discounted(rewards, gamma):
    def back(acc, r):
        acc = r + gamma * acc
        return acc, acc

    _, out = jax.lax.scan(back, jnp.float32(0.0), rewards, reverse=True)
    return out


def compare(rewards, gammas):
    rows = []
    for g in gammas:
        rows.append(discounted(rewards, g)[0])
    return jnp.stack(rows)


rewards = jnp.array([0.0, 0.0, 1.0, 0.0, 2.0])
rows = compare(rewards, [0.99, 0.9, 0.5])
print([round(float(r), 4) for r in rows])
