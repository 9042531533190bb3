# error: TypeError
# line: 24
# also-line: 26
# depends: -
# fix: return_pair
# fixed-file: fixed/euler_without_output.py
# result: [0.905, 4.782]
# family: carry/no-pair

import jax
import jax.numpy as jnp


def predator_prey(populations):
    hare, lynx = populations
    return jnp.array([1.1 * hare - 0.4 * hare * lynx, 0.1 * hare * lynx - 0.4 * lynx])


@jax.jit
def simulate(populations, times):
    dt = times[1] - times[0]

    def euler(populations, t):
        return populations + dt * predator_prey(populations)

    last, path = jax.lax.scan(euler, populations, times)
    return last


last = simulate(jnp.array([10.0, 5.0]), jnp.linspace(0.0, 2.0, 101))
print([round(float(v), 3) for v in last])
