# error: AttributeError
# expect: TypeError | ValueError | AttributeError
# line: 14
# also-line: 17, 18
# depends: -
# fix: stack
# result: [3.0, 6.0]

import jax
import jax.numpy as jnp


def spread(row):
    return row.max() - row.min()


rows = [jnp.array([1.0, 4.0, 2.0]), jnp.array([0.0, -1.0, 5.0])]
print(jax.vmap(spread)(rows).tolist())
