# One correct fixed version of accuracy_as_loss.py
import jax
import jax.numpy as jnp


def logits(w, x):
    return x @ w


def loss(w, x, labels):
    """The cross entropy of the right answers."""
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits(w, x)), labels[:, None], axis=1)
    return -jnp.mean(picked)


@jax.jit
def train_step(w, x, labels):
    return w - 0.5 * jax.grad(loss)(w, x, labels)


x = jnp.array([[2.0, 0.1], [0.2, 1.5], [1.0, 0.3], [0.1, 0.9]])
labels = jnp.array([1, 0, 1, 0])
w = jnp.eye(2)
for _ in range(100):
    w = train_step(w, x, labels)
print("all right:", bool(jnp.all(jnp.argmax(logits(w, x), axis=1) == labels)))
