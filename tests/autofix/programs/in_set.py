# error: TypeError
# line: 14
# depends: token
# fix: where
# result: [0.0, 4.0, 6.0, 0.0]

import jax
import jax.numpy as jnp

STOP = {0, 3}


def keep(token, scale):
    return scale if token not in STOP else 0.0


class Encoder:
    def __init__(self, table):
        self.table = table

    def __call__(self, token):
        return self.table[token] * keep(token, 2.0)


@jax.jit
def encode(table, tokens):
    return jax.lax.map(Encoder(table), tokens)


print(encode(jnp.array([1.0, 2.0, 3.0, 4.0]), jnp.array([0, 1, 2, 3])).tolist())
