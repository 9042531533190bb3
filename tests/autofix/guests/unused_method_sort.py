# error: none
# expect: UnusedResultWarning
# jax-differs: jax silently throws the sorted copy away
# line: 16
# depends: -
# fix: assign_result
# fixed-file: fixed/unused_method_sort.py
# result: 0.0 0.5

import jax
import jax.numpy as jnp


@jax.jit
def gini(incomes):
    incomes.sort()
    n = incomes.shape[0]
    rank = jnp.arange(1, n + 1)
    return jnp.sum((2 * rank - n - 1) * incomes) / (n * jnp.sum(incomes))


equal = jnp.full(5, 20.0)
unequal = jnp.array([90.0, 10.0, 40.0, 5.0, 15.0])
print(round(float(gini(equal)), 4), round(float(gini(unequal)), 4))
