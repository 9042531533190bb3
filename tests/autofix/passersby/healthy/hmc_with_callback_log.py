# error: none
# expect: none
# result: logged 6 ; spread ok True ; acceptance ok True

"""Hamiltonian Monte Carlo with warm-up adaptation and a host-side progress log."""
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

PROGRESS = []


class HMCState(NamedTuple):
    q: jax.Array
    step_size: jax.Array
    accepted: jax.Array


def log_density(q):
    scale = jnp.array([1.0, 2.0, 0.5])
    return -0.5 * jnp.sum((q / scale) ** 2)


def leapfrog(q, p, step_size, n):
    grad = jax.grad(log_density)

    def body(_, qp):
        q, p = qp
        q = q + step_size * p
        p = p + step_size * grad(q)
        return q, p

    p = p + 0.5 * step_size * grad(q)
    q, p = jax.lax.fori_loop(0, n - 1, body, (q, p))
    q = q + step_size * p
    return q, p + 0.5 * step_size * grad(q)


def record(i, step_size):
    PROGRESS.append((int(i), round(float(step_size), 3)))


def transition(state, inputs, n_leap, warmup):
    i, key = inputs
    mom_key, acc_key = jax.random.split(key)
    p = jax.random.normal(mom_key, state.q.shape)
    q_new, p_new = leapfrog(state.q, p, state.step_size, n_leap)
    before = log_density(state.q) - 0.5 * p @ p
    after = log_density(q_new) - 0.5 * p_new @ p_new
    accept = jnp.log(jax.random.uniform(acc_key)) < after - before
    q = jnp.where(accept, q_new, state.q)

    factor = jnp.where(accept, 1.05, 0.9)
    step_size = jax.lax.cond(i < warmup, lambda s: s * factor, lambda s: s, state.step_size)
    jax.lax.cond(i % 250 == 0,
                 lambda: jax.debug.callback(record, i, step_size, ordered=True),
                 lambda: None)
    return HMCState(q, step_size, state.accepted + accept), q


@partial(jax.jit, static_argnames=("n", "n_leap", "warmup"))
def sample(key, q0, n, n_leap=8, warmup=300):
    start = HMCState(q0, jnp.float32(0.1), jnp.int32(0))
    xs = (jnp.arange(n), jax.random.split(key, n))
    step = partial(transition, n_leap=n_leap, warmup=warmup)
    final, draws = jax.lax.scan(step, start, xs)
    return final, draws[warmup:]


def main():
    final, draws = sample(jax.random.key(21), jnp.ones(3), 1500)
    jax.effects_barrier()
    spread = np.asarray(draws).std(axis=0)
    print("logged", len(PROGRESS))
    print("spread ok", bool(np.all(np.abs(spread / np.array([1.0, 2.0, 0.5]) - 1.0) < 0.25)))
    print("acceptance ok", 0.3 < int(final.accepted) / 1500 < 0.99)


if __name__ == "__main__":
    main()
