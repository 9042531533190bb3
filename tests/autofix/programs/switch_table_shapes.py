# error: TypeError
# line: 15
# also-line: 19
# depends: -
# fix: match_shape
# result: [[2.0, 3.5], [0.0, 0.0], [3.0, 5.0]]
# grade: ran
import jax
import jax.numpy as jnp


class Pool:
    def __init__(self, kinds):
        self.table = {"mean": lambda x: x.mean(axis=0), "max": lambda x: x.max(axis=0),
                      "none": lambda x: jnp.zeros(())}
        self.kinds = [self.table[k] for k in kinds]

    def __call__(self, kind, x):
        return jax.lax.switch(kind, self.kinds, x)


@jax.jit
def pooled(kinds, x):
    pool = Pool(["mean", "none", "max"])
    return jax.vmap(pool, in_axes=(0, None))(kinds, x)


print(pooled(jnp.array([0, 1, 2]), jnp.array([[1.0, 2.0], [3.0, 5.0]])).tolist())
