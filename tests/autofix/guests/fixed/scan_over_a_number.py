# One correct fixed version of scan_over_a_number.py
import jax
import jax.numpy as jnp


def sir_day(state, _):
    s, i, r = state
    infections = 0.4 * s * i
    recoveries = 0.1 * i
    state = (s - infections, i + infections - recoveries, r + recoveries)
    return state, state[1]


def epidemic(days, seed=0.01):
    start = (1.0 - seed, seed, 0.0)
    return jax.lax.scan(sir_day, start, None, length=days)


(s, i, r), infected = epidemic(60)
print(infected.shape, int(jnp.argmax(infected)), round(float(s + i + r), 4))
