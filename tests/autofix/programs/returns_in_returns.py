# error: TracerBoolConversionError
# line: 17
# depends: y
# fix: cond
# result: 169.5

import jax
import jax.numpy as jnp


class Tax:
    def __init__(self, rates):
        self.rates = rates

    def owed(self, income, married):
        limit = self.rates["limit"]
        if married > 0:
            if income < 2 * limit:
                return 0.1 * income
            bonus = 5.0
        else:
            if income < limit:
                return 0.15 * income
            bonus = 0.0
        over = income - limit
        if over > 100.0:
            over = over * 2
        return over * 0.3 - bonus


@jax.jit
def total(x, y):
    tax = Tax({"limit": 50.0})
    return sum(tax.owed(x[i], y[i]) for i in range(4))


print(round(float(total(jnp.array([40.0, 90.0, 300.0, 30.0]), jnp.array([0, 1, 0, 0]))), 3))
