# error: TypeError
# expect: ConcretizationTypeError | TracerIntegerConversionError | TypeError
# line: 15
# also-line: 13
# depends: count
# fix: static
# result: [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]

import jax
import jax.numpy as jnp


@jax.jit
def repeat_prompt(embedding, count):
    rows = jnp.tile(embedding, (count, 1))
    return rows + jnp.arange(rows.shape[0])[:, None]


print(repeat_prompt(jnp.array([1.0, 2.0]), 3).tolist())
