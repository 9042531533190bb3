import jax
import jax.numpy as jnp


def cube_root(target):
    def far(state):
        guess, previous = state
        return jnp.abs(guess - previous) > 1e-6

    def newton(state):
        guess, _ = state
        return (2.0 * guess + target / guess**2) / 3.0, guess

    return jax.lax.while_loop(far, newton, (target, 0.0))[0]


print(round(float(cube_root(8.0)), 4), round(float(jax.jacfwd(cube_root)(8.0)), 4))
