# error: NotImplementedError
# line: 26
# also-line: 30
# depends: -
# fix: callback
# result: [7.0, 7.0]

"""A host table that an object holds in a partial, mapped twice."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


def lookup(table, key):
    return np.float32(table[int(key) % len(table)])


class Tables:
    def __init__(self, rows):
        self.rows = rows
        self.call = partial(jax.pure_callback, partial(lookup, rows))

    def read(self, key):
        return self.call(jax.ShapeDtypeStruct((), jnp.float32), key)


def total(tables, keys):
    per_row = jax.vmap(jax.vmap(tables.read))
    return per_row(keys).sum(axis=1)


tables = Tables([1.0, 2.0, 4.0])
print([float(v) for v in jax.jit(partial(total, tables))(jnp.arange(6).reshape(2, 3))])
