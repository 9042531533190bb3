import jax
import jax.numpy as jnp


def correlation(rows, kept):
    x, y = rows[:, 0], rows[:, 1]
    dx = jnp.where(kept, x - x.mean(where=kept), 0.0)
    dy = jnp.where(kept, y - y.mean(where=kept), 0.0)
    return jnp.sum(dx * dy) / jnp.sqrt(jnp.sum(dx**2) * jnp.sum(dy**2))


@jax.jit
def jackknife(rows):
    n = rows.shape[0]
    index = jnp.arange(n)
    leave_one_out = jax.vmap(lambda i: correlation(rows, index != i))
    estimates = leave_one_out(index)
    spread = jnp.sum((estimates - estimates.mean()) ** 2)
    return estimates, jnp.sqrt((n - 1) / n * spread)


rows = jnp.array([[1.0, 2.0], [2.0, 3.5], [3.0, 3.0], [4.0, 6.0], [5.0, 5.5]])
estimates, error = jackknife(rows)
print(estimates.round(3).tolist(), round(float(error), 3))
