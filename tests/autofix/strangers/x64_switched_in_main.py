# error: none
# expect: DtypeTruncationWarning
# jax-differs: jax silently keeps the table of the module in float32
# line: 25
# also-line: 15
# depends: -
# fix: enable_x64
# fixed-file: fixed/x64_switched_in_main.py
# result: float64 True
# family: 2/x64-too-late

import jax
import jax.numpy as jnp

FACTORS = 1.0 / jnp.cumprod(jnp.arange(1, 16, dtype=float))


@jax.jit
def series(x):
    powers = x ** jnp.arange(1, 16)
    return 1.0 + jnp.sum(powers * FACTORS)


def main():
    jax.config.update("jax_enable_x64", True)
    error = abs(float(series(1.0)) - 2.718281828459045)
    print(FACTORS.dtype, error < 1e-12)


main()
