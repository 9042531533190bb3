# error: none
# expect: KeyReuseError
# jax-differs: jax silently draws the move and its acceptance from one key
# line: 19
# depends: -
# fix: split_key
# fixed-file: fixed/accept_with_proposal_key.py
# result: True True
# family: silent/key-reuse-two-purposes

import jax
import jax.numpy as jnp


@jax.jit
def metropolis(x, key):
    move = jax.random.uniform(key, minval=-2.0, maxval=2.0)
    log_ratio = 0.5 * x**2 - 0.5 * (x + move) ** 2
    accept = jnp.log(jax.random.uniform(key)) < log_ratio
    return jnp.where(accept, x + move, x)


def chain(x, key):
    def step(x, key):
        x = metropolis(x, key)
        return x, x

    return jax.lax.scan(step, x, jax.random.split(key, 20000))[1]


draws = chain(0.0, jax.random.key(2))
print(bool(abs(draws.mean()) < 0.1), bool(abs(draws.var() - 1.0) < 0.1))
