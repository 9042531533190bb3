# One correct fixed version of cond_tuple_or_value.py
import jax
import jax.numpy as jnp


def exercise(option):
    return jnp.maximum(option["strike"] - option["spot"], 0.0), True


def hold(option):
    return option["continuation"], False


@jax.jit
def value(option):
    intrinsic = option["strike"] - option["spot"]
    payoff, exercised = jax.lax.cond(
        intrinsic > option["continuation"], exercise, hold, option
    )
    return payoff, exercised


for spot in (80.0, 99.0):
    payoff, exercised = value({"strike": 100.0, "spot": spot, "continuation": 6.0})
    print(float(payoff), bool(exercised))
