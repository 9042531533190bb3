# error: TypeError
# line: 31
# also-line: 34
# depends: -
# fix: match_dtype
# result: [0.125, 0.125] 1.75

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class Walker:
    where: jax.Array
    energy: jax.Array

    def kick(self, scale):
        return replace(self, where=self.where * scale, energy=self.energy + self.where.sum() * scale)


class Engine:
    def __init__(self, scale, rounds):
        self.scale, self.rounds = scale, rounds
        self.first = Walker(jnp.ones(2), jnp.array([0]).sum())

    def turn(self, scale, i, walker):
        return walker.kick(scale)

    def run(self):
        return jax.lax.fori_loop(0, self.rounds, partial(self.turn, self.scale), self.first)


walker = jax.jit(Engine(0.5, 3).run)()
print(walker.where.tolist(), float(walker.energy))
