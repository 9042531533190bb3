# error: ValueError
# expect: ValueError | TypeError
# line: 16
# also-line: 17, 18
# depends: -
# fix: register_dataclass
# result: 5.5 1.25 3.0

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.tree_util.register_dataclass, data_fields=["mean", "count"], meta_fields=[])
@dataclass
class Running:
    mean: jax.Array
    var: jax.Array
    count: jax.Array


@jax.jit
def update(stats, batch):
    count = stats.count + 1
    mean = stats.mean + (batch.mean() - stats.mean) / count
    var = stats.var + (batch.var() - stats.var) / count
    return Running(mean, var, count)


stats = Running(jnp.zeros(()), jnp.ones(()), jnp.zeros(()))
for batch in jnp.arange(12.0).reshape(3, 4):
    stats = update(stats, batch)
print(round(float(stats.mean), 4), round(float(stats.var), 4), float(stats.count))
