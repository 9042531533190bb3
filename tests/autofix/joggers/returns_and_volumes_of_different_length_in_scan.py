# error: ValueError
# line: 24
# depends: -
# fix: any
# result: [0.009999999776482582, -0.006199999712407589, 0.004699999932199717, 0.006599999964237213, -0.006199999712407589]

import jax
import jax.numpy as jnp

prices = jnp.array([100.0, 101.0, 99.5, 102.0, 103.5, 101.0])
volumes = jnp.array([10.0, 12.0, 20.0, 15.0, 9.0, 30.0])
returns = jnp.log(prices[1:] / prices[:-1])


def average(carry, day):
    value, weight = carry
    r, volume = day
    weight = 0.9 * weight + volume
    value = value + volume / weight * (r - value)
    return (value, weight), value


start = (0.0, 0.0)
_, smooth = jax.lax.scan(average, start, (returns, volumes))
print(smooth.round(4).tolist())
