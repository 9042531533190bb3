import jax
import jax.numpy as jnp


def soften(logits, temperature=1.0):
    return jax.nn.softmax(logits / temperature)


logits = jnp.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]])
probs = jax.vmap(lambda row: soften(row, temperature=2.0))(logits)
print(probs.round(3).tolist())
