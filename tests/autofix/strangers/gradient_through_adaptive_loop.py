# error: ValueError
# line: 24
# also-line: 32
# depends: rate
# fix: bounded_loop
# fixed-file: fixed/gradient_through_adaptive_loop.py
# result: 0.154
# family: 3/reverse-of-while

import jax
import jax.numpy as jnp


def decay_time(rate):
    """The time until a quantity has fallen below one half."""

    def unfinished(state):
        return state[1] > 0.5

    def advance(state):
        time, amount = state
        return time + 0.1 * amount, amount * jnp.exp(-0.1 * rate)

    time, _ = jax.lax.while_loop(unfinished, advance, (0.0, 1.0))
    return time


def misfit(rate):
    return (decay_time(rate) - 1.0) ** 2


print(round(float(jax.grad(misfit)(0.8)), 3))
