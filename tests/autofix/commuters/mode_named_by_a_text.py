# error: TypeError
# line: 22
# depends: -
# fix: any
# result: [1.5000001192092896, 2.0, 2.3330001831054688] ; [3.000000238418579, 4.0, 4.0]

import jax
import jax.numpy as jnp


@jax.jit
def pool(features, lengths, how):
    inside = jnp.arange(features.shape[1]) < lengths[:, None]
    if how == "mean":
        return jnp.where(inside, features, 0.0).sum(axis=1) / lengths
    return jnp.where(inside, features, -jnp.inf).max(axis=1)


features = jnp.arange(12.0).reshape(3, 4) % 5
lengths = jnp.array([4, 2, 3])
for how in ("mean", "max"):
    print(pool(features, lengths, how).round(3).tolist())
