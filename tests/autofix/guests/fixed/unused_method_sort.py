# One correct fixed version of unused_method_sort.py
import jax
import jax.numpy as jnp


@jax.jit
def gini(incomes):
    incomes = jnp.sort(incomes)
    n = incomes.shape[0]
    rank = jnp.arange(1, n + 1)
    return jnp.sum((2 * rank - n - 1) * incomes) / (n * jnp.sum(incomes))


equal = jnp.full(5, 20.0)
unequal = jnp.array([90.0, 10.0, 40.0, 5.0, 15.0])
print(round(float(gini(equal)), 4), round(float(gini(unequal)), 4))
