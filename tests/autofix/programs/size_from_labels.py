# error: ConcretizationTypeError
# line: 12
# depends: batch
# fix: size_arg | static_args
# result: 0.287

import jax
import jax.numpy as jnp


def encode(labels):
    classes = int(labels.max()) + 1
    return jax.nn.one_hot(labels, classes)


@jax.jit
def cross(logits, batch):
    targets = encode(batch["labels"])
    return -jnp.mean(jnp.sum(targets * jax.nn.log_softmax(logits), axis=-1))


logits = jnp.array([[1.0, 2.0, 0.5], [0.2, 0.1, 3.0]])
print(round(float(cross(logits, {"labels": jnp.array([1, 2])})), 4))
