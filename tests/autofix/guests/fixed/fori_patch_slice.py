# One correct fixed version of fori_patch_slice.py
import jax
import jax.numpy as jnp

KERNEL = jnp.array([1.0, 0.0, -1.0])


@jax.jit
def edge_strength(row):
    width = KERNEL.shape[0]
    count = row.shape[0] - width + 1

    def body(i, out):
        patch = jax.lax.dynamic_slice(row, (i,), (width,))
        return out.at[i].set(jnp.abs(patch @ KERNEL))

    return jax.lax.fori_loop(0, count, body, jnp.zeros(count))


row = jnp.array([0.0, 0.0, 1.0, 1.0, 0.5, 0.0])
print(edge_strength(row).tolist())
