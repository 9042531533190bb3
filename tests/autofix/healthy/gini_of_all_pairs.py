import jax
import jax.numpy as jnp


@jax.jit
def gini(incomes):
    differences = jnp.abs(incomes[:, None] - incomes)
    return jnp.mean(differences) / (2.0 * incomes.mean())


print(round(float(gini(jnp.array([1.0, 1.0, 1.0, 1.0]))), 4))
print(round(float(gini(jnp.array([0.0, 0.0, 0.0, 4.0]))), 4))
