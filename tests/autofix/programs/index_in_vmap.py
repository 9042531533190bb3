# error: OutOfBoundsIndexWarning
# line: 14
# depends: i
# fix: index_mode
# result: 10.0
# grade: ran
import jax
import jax.numpy as jnp

embedding = jnp.arange(6.0).reshape(3, 2)

@jax.jit
def lookup(ids):
    return jax.vmap(lambda i: embedding[i])(ids).sum()

print(float(lookup(jnp.array([0, 5]))))
