# error: none
# expect: KeyReuseError
# jax-differs: jax adds the same noise at every scan step
# line: 21
# depends: -
# fix: split_key
# fixed-file: fixed/langevin_closed_key.py
# result: still moving: True ; variance near one: True

"""Unadjusted Langevin sampling from a standard normal."""
import jax
import jax.numpy as jnp


def score(x):
    return -x


def langevin(key, x0, eps, n_steps):
    def step(x, _):
        noise = jax.random.normal(key, x.shape)
        x = x + 0.5 * eps * score(x) + jnp.sqrt(eps) * noise
        return x, x

    _, chain = jax.lax.scan(step, x0, None, length=n_steps)
    return chain


def autocorrelation(chain, lag):
    a = chain[:-lag] - chain.mean(axis=0)
    b = chain[lag:] - chain.mean(axis=0)
    return (a * b).mean() / chain.var()


run = jax.jit(langevin, static_argnums=(3,))
chain = run(jax.random.key(9), jnp.zeros(4), 0.5, 2000)[500:]
moves = jnp.abs(jnp.diff(chain, axis=0)).mean()
print("still moving:", bool(moves > 0.1))
print("variance near one:", bool(jnp.abs(chain.var() - 1.0) < 0.35))
