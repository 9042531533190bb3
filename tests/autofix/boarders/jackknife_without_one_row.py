# error: NonConcreteBooleanIndexError
# line: 21
# depends: i
# fix: any
# result: [0.7890000343322754, 0.8970000147819519, 0.9380000233650208, 0.9280000329017639, 0.8720000386238098] 0.106

import jax
import jax.numpy as jnp


def correlation(rows):
    x, y = rows[:, 0], rows[:, 1]
    dx, dy = x - x.mean(), y - y.mean()
    return jnp.sum(dx * dy) / jnp.sqrt(jnp.sum(dx**2) * jnp.sum(dy**2))


@jax.jit
def jackknife(rows):
    n = rows.shape[0]
    index = jnp.arange(n)
    leave_one_out = jax.vmap(lambda i: correlation(rows[index != i]))
    estimates = leave_one_out(index)
    spread = jnp.sum((estimates - estimates.mean()) ** 2)
    return estimates, jnp.sqrt((n - 1) / n * spread)


rows = jnp.array([[1.0, 2.0], [2.0, 3.5], [3.0, 3.0], [4.0, 6.0], [5.0, 5.5]])
estimates, error = jackknife(rows)
print(estimates.round(3).tolist(), round(float(error), 3))
