# error: ConcretizationTypeError
# line: 21
# also-line: 29
# depends: -
# fix: drop_conversion
# result: 2.5

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class Interval:
    low: jax.Array
    high: jax.Array

    def __post_init__(self):
        self.low = float(self.low)


@jax.jit
def width(interval):
    return interval.high - interval.low


print(float(width(Interval(1.0, 3.5))))
