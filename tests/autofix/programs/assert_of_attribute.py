# error: TracerBoolConversionError
# line: 18
# depends: rates
# fix: callback
# result: [[1.0, 1.0], [6.0, 6.0]]
# grade: ran
"""A schedule that checks itself when it is made, inside of a traced function."""
import jax
import jax.numpy as jnp


class Schedule:
    def __init__(self, rates):
        self.rates = rates
        self.check()

    def check(self):
        assert (self.rates > 0).all(), "rates must be positive"

    @property
    def total(self):
        return jnp.cumsum(self.rates)[-1]


def energy(rates, power):
    return Schedule(rates).total ** power


@jax.jit
def slopes(rates):
    return jax.vmap(jax.grad(energy), (None, 0))(rates, jnp.array([1.0, 2.0]))


print(slopes(jnp.array([1.0, 2.0])).tolist())
