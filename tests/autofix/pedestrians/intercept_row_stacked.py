# error: ValueError
# expect: ValueError | TypeError
# line: 13
# depends: -
# fix: call
# result: (3, 3) [0.6000000238418579, 1.5000001192092896, 1.0]

import jax
import jax.numpy as jnp

weights = jnp.array([[0.5, -1.0, 2.0], [1.5, 0.0, -0.5]])
intercept = jnp.array([0.1, 0.2, 0.3])
design = jnp.stack([intercept, weights])
print(design.shape, (design @ jnp.ones(3)).round(3).tolist())
