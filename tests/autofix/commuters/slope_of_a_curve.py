# error: TypeError
# line: 18
# depends: -
# fix: any
# result: [1.0, 0.7550000548362732, 0.4000000059604645, 0.04500000178813934, -0.22800001502037048] [-0.30000001192092896, -0.6390000581741333, -0.7430000305175781, -0.6500000357627869, -0.4310000240802765]

import jax
import jax.numpy as jnp


def curve(x, rate):
    return jnp.exp(-rate * x) * jnp.cos(x)


slope = jax.jit(jax.grad(curve))
times = jnp.linspace(0.0, 2.0, 5)
values = curve(times, 0.3)
slopes = slope(times, 0.3)
print(values.round(3).tolist(), slopes.round(3).tolist())
