# One correct fixed version of euler_without_output.py
import jax
import jax.numpy as jnp


def predator_prey(populations):
    hare, lynx = populations
    return jnp.array([1.1 * hare - 0.4 * hare * lynx, 0.1 * hare * lynx - 0.4 * lynx])


@jax.jit
def simulate(populations, times):
    dt = times[1] - times[0]

    def euler(populations, t):
        following = populations + dt * predator_prey(populations)
        return following, following

    last, path = jax.lax.scan(euler, populations, times)
    return last


last = simulate(jnp.array([10.0, 5.0]), jnp.linspace(0.0, 2.0, 101))
print([round(float(v), 3) for v in last])
