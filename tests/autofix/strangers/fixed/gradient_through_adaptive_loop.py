# One correct fixed version of gradient_through_adaptive_loop.py
import jax
import jax.numpy as jnp


def decay_time(rate):
    """The time until a quantity has fallen below one half."""

    def unfinished(state):
        return state[1] > 0.5

    def advance(state):
        time, amount = state
        return time + 0.1 * amount, amount * jnp.exp(-0.1 * rate)

    def bounded(state, _):
        return jax.lax.cond(unfinished(state), advance, lambda s: s, state), None

    start = (jnp.zeros(()), jnp.ones(()))
    (time, _), _ = jax.lax.scan(bounded, start, None, length=200)
    return time


def misfit(rate):
    return (decay_time(rate) - 1.0) ** 2


print(round(float(jax.grad(misfit)(0.8)), 3))
