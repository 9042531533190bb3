# error: TypeError
# line: 28
# also-line: 27
# depends: -
# fix: any
# result: [0.009999999776482582, 0.25999999046325684, 0.08449999988079071, 0.19999998807907104, -0.09999999403953552]

import jax
import jax.numpy as jnp

PERIOD = 0.6


def stance(t):
    return 0.1 * t


def swing(t):
    return 0.4 - 0.2 * t


def landing(t):
    return 0.05 * t ** 2


def foot_height(t):
    phase = jnp.floor(t / PERIOD) % 3
    return jax.lax.switch(phase, [stance, swing, landing], t)


times = jnp.array([0.1, 0.7, 1.3, 2.0, 2.5])
print(jax.vmap(foot_height)(times).round(4).tolist())
