# error: none
# expect: StaleValueWarning
# jax-differs: jax keeps the value the global had when it compiled
# line: 20
# depends: -
# fix: pass_argument
# fixed-file: fixed/gamma_global_stale.py
# result: [2.9013, 2.1222, 0.375]

"""Discounted returns for several discount factors."""
import jax
import jax.numpy as jnp

GAMMA = 0.99


@jax.jit
def discounted(rewards):
    def back(acc, r):
        acc = r + GAMMA * acc
        return acc, acc

    _, out = jax.lax.scan(back, jnp.float32(0.0), rewards, reverse=True)
    return out


def compare(rewards, gammas):
    global GAMMA
    rows = []
    for g in gammas:
        GAMMA = g
        rows.append(discounted(rewards)[0])
    return jnp.stack(rows)


rewards = jnp.array([0.0, 0.0, 1.0, 0.0, 2.0])
rows = compare(rewards, [0.99, 0.9, 0.5])
print([round(float(r), 4) for r in rows])
