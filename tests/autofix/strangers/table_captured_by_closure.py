# error: UserWarning
# expect: UserWarning | CapturedConstantWarning
# line: 22
# also-line: 18, 28
# depends: -
# fix: pass_argument
# fixed-file: fixed/table_captured_by_closure.py
# result: [2.1718, 7.8208, 4.4829]
# family: 3/captured-constant

import jax
import jax.numpy as jnp

jax.config.update("jax_captured_constants_warn_bytes", 100_000)


def make_lookup(size):
    table = jnp.sin(jnp.arange(size * 8) * 0.01).reshape(size, 8)

    @jax.jit
    def lookup(tokens):
        return table[tokens].sum(axis=1)

    return lookup


lookup = make_lookup(20_000)
print([round(float(v), 4) for v in lookup(jnp.array([3, 14159, 7]))])
