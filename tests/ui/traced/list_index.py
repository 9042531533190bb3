"""A list with a traced index, in a batch."""
import sagax
import sagax.numpy as jnp

table = [0.5, 1.5, 2.5]


def lookup(row):
    return table[row["kind"]]  #~ SX0103 The __index__() method was called on


sagax.vmap(lookup)({"kind": jnp.arange(3)})
