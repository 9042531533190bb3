# One correct fixed version of classes_counted_in_jit.py
import jax
import jax.numpy as jnp


def one_hot(labels, classes):
    return (labels[:, None] == jnp.arange(classes)).astype(jnp.float32)


@jax.jit
def cross_entropy(logits, labels):
    targets = one_hot(labels, logits.shape[1])
    logp = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.sum(targets * logp, axis=1))


logits = jnp.array([[2.0, 0.5, -1.0], [0.1, 1.2, 0.3]])
print(round(float(cross_entropy(logits, jnp.array([0, 2]))), 4))
print(round(float(cross_entropy(logits, jnp.array([2, 1]))), 4))
wide = jnp.concatenate([logits, jnp.ones((2, 1))], axis=1)
print(round(float(cross_entropy(wide, jnp.array([3, 1]))), 4))
