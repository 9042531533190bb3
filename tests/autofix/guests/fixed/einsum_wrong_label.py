# One correct fixed version of einsum_wrong_label.py
import jax
import jax.numpy as jnp


@jax.jit
def bilinear_scores(users, relation, items):
    return jnp.einsum("ud,de,ie->ui", users, relation, items)


def recommend(users, relation, items):
    return jnp.argmax(bilinear_scores(users, relation, items), axis=1)


users = jnp.array([[1.0, 0.0], [0.0, 1.0]])
relation = jnp.array([[1.0, 0.0, 0.5], [0.0, 2.0, 0.0]])
items = jnp.array([[0.1, 0.0, 1.0], [1.0, 1.0, 0.0], [0.9, 0.1, 0.1], [0.0, 0.0, 0.3]])
print(recommend(users, relation, items).tolist())
