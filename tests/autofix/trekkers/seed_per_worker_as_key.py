# error: TypeError
# line: 12
# depends: seed
# fix: any
# result: [[1.6200000047683716, 2.0299999713897705], [-0.14999999105930328, 0.07999999821186066], [0.35999998450279236, 1.2799999713897705]]

import jax
import jax.numpy as jnp


def sample(seed, n):
    return jax.random.normal(seed, (n,))


draws = [sample(s, 2) for s in range(3)]
print([d.round(2).tolist() for d in draws])
