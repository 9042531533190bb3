# One correct fixed version of species_numbered_from_one.py
import jax
import jax.numpy as jnp

# as the files have it: 1 is setosa, 2 versicolor, 3 virginica
species = jnp.array([1, 3, 2, 3, 1])
logits = jnp.array(
    [[2.0, 0.1, 0.0], [0.0, 0.2, 3.0], [0.1, 1.5, 0.3], [0.2, 0.1, 1.0], [1.0, 0.0, 0.0]]
)


@jax.jit
def cross_entropy(logits, labels):
    one_hot = jax.nn.one_hot(labels - 1, 3)
    return -jnp.mean(jnp.sum(one_hot * jax.nn.log_softmax(logits), axis=1))


print(round(float(cross_entropy(logits, species)), 4))
