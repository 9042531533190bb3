# One correct fixed version of scan_length_is_argument.py
import jax
import jax.numpy as jnp


@jax.jit(static_argnames="steps")
def simulate(x0, steps):
    def body(x, _):
        x = 3.7 * x * (1 - x)
        return x, x

    return jax.lax.scan(body, x0, None, length=steps)[1]


print(round(float(simulate(0.3, 12)[-1]), 4))
