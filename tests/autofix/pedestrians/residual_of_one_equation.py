# error: TypeError
# expect: TypeError
# line: 18
# also-line: 23
# depends: -
# fix: reduce_test
# result: [2.094599962234497]

import jax
import jax.numpy as jnp


def newton(guess):
    def residual(x):
        return x**3 - 2.0 * x - 5.0

    def unfinished(x):
        return jnp.abs(residual(x)) > 1e-4

    def improve(x):
        return x - residual(x) / (3.0 * x**2 - 2.0)

    return jax.lax.while_loop(unfinished, improve, guess)


print(newton(jnp.array([2.0])).round(4).tolist())
