# error: none
# expect: KeyReuseError
# line: 32
# depends: -
# fix: any
# result: (50, 300, 2) True ; 1

import jax
import jax.numpy as jnp

SAMPLES = 300


def log_density(x):
    return -0.5 * jnp.sum((x - 1.0) ** 2)


def run_chain(key, start):
    def step(x, key):
        k1, k2 = jax.random.split(key)
        proposal = x + 0.8 * jax.random.normal(k1, x.shape)
        log_ratio = log_density(proposal) - log_density(x)
        accept = jnp.log(jax.random.uniform(k2)) < log_ratio
        x = jnp.where(accept, proposal, x)
        return x, x

    _, xs = jax.lax.scan(step, start, jax.random.split(key, SAMPLES))
    return xs


starts = jnp.zeros((50, 2))
chains = jax.vmap(run_chain, in_axes=(None, 0))(jax.random.key(0), starts)
between = chains[:, 100:].mean(axis=1).std(axis=0)
print(chains.shape, bool(between.min() > 0.01))
print(round(float(chains[:, -1].std())))
