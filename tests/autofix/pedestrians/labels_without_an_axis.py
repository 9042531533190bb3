# error: ValueError
# expect: ValueError | TypeError
# line: 14
# depends: -
# fix: axis
# result: 0.2657 [[0.12200000882148743, -0.16700001060962677, 0.04500000178813934], [0.02200000174343586, 0.036000002175569534, -0.058000002056360245]]

import jax
import jax.numpy as jnp


def cross_entropy(logits, labels):
    log_probabilities = jax.nn.log_softmax(logits)
    picked = jnp.take_along_axis(log_probabilities, labels, axis=-1)
    return -picked.mean()


logits = jnp.array([[1.0, 2.0, 0.0], [0.0, 0.5, 3.0]])
labels = jnp.array([1, 2])
value, gradient = jax.value_and_grad(cross_entropy)(logits, labels)
print(round(float(value), 4), gradient.round(3).tolist())
