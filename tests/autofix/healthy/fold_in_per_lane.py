import jax
import jax.numpy as jnp


def member(key, lane, x):
    """One key for all lanes, made different by the number of the lane."""
    noise = jax.random.normal(jax.random.fold_in(key, lane), x.shape)
    return x + 0.1 * noise


@jax.jit
def perturb(key, xs):
    lanes = jnp.arange(xs.shape[0])
    return jax.vmap(member, in_axes=(None, 0, 0))(key, lanes, xs)


xs = jnp.zeros((5, 3))
out = perturb(jax.random.key(0), xs)
print(len({tuple(row) for row in out.tolist()}))
again = perturb(jax.random.key(0), xs)
print(bool(jnp.all(out == again)))
