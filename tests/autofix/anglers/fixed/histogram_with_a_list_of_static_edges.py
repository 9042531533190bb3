from functools import partial

import jax
import jax.numpy as jnp

ages = jnp.array([3.0, 17.5, 18.0, 22.0, 41.0, 64.0, 65.0, 80.0, 34.0])
incomes = jnp.array([0.0, 1.0, 14.0, 25.0, 52.0, 48.0, 20.0, 17.0, 39.0])


@partial(jax.jit, static_argnames="edges")
def income_by_age(ages, incomes, edges):
    means = []
    for low, high in zip(edges[:-1], edges[1:]):
        member = (ages >= low) & (ages < high)
        count = jnp.maximum(member.sum(), 1)
        means.append(jnp.where(member, incomes, 0.0).sum() / count)
    return jnp.stack(means)


brackets = (0, 18, 40, 65, 100)
table = income_by_age(ages, incomes, edges=brackets)
print(table.round(2).tolist())
print(round(float(table.max() - table.min()), 2))
