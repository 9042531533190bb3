# error: TracerBoolConversionError
# line: 19
# depends: xs
# fix: where
# result: 3.0 2

import jax
import jax.numpy as jnp


class Budget:
    def __init__(self, total):
        self.total = total

    def spend(self, xs):
        left = self.total
        taken = 0
        for cost in xs:
            if cost > left:
                break
            left = left - cost
            taken = taken + 1
        return left, taken


@jax.jit
def plan(xs):
    return Budget(10.0).spend(xs)


left, taken = plan(jnp.array([4.0, 3.0, 5.0, 1.0]))
print(float(left), int(taken))
