# One correct fixed version of x64_switched_in_main.py
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
FACTORS = 1.0 / jnp.cumprod(jnp.arange(1, 16, dtype=float))


@jax.jit
def series(x):
    powers = x ** jnp.arange(1, 16)
    return 1.0 + jnp.sum(powers * FACTORS)


def main():
    error = abs(float(series(1.0)) - 2.718281828459045)
    print(FACTORS.dtype, error < 1e-12)


main()
