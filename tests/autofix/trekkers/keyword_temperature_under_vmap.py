# error: ValueError
# line: 16
# depends: temperature
# fix: any
# result: [[0.1860000044107437, 0.3070000112056732, 0.5060000419616699], [0.27400001883506775, 0.27400001883506775, 0.4520000219345093]]

import jax
import jax.numpy as jnp


def soften(logits, temperature=1.0):
    return jax.nn.softmax(logits / temperature)


logits = jnp.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]])
probs = jax.vmap(soften)(logits, temperature=2.0)
print(probs.round(3).tolist())
