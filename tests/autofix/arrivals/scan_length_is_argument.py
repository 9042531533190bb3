# error: ConcretizationTypeError
# expect: ConcretizationTypeError | TracerIntegerConversionError | TypeError
# line: 19
# also-line: 13
# depends: steps
# fix: static
# result: 0.7745

import jax
import jax.numpy as jnp


@jax.jit
def simulate(x0, steps):
    def body(x, _):
        x = 3.7 * x * (1 - x)
        return x, x

    return jax.lax.scan(body, x0, None, length=steps)[1]


print(round(float(simulate(0.3, 12)[-1]), 4))
