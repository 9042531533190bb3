import jax
import jax.numpy as jnp


@jax.jit
def attend(scores, mask=None, bias=None, *, temperature=1.0):
    """None is part of the structure of the arguments, not a traced value."""
    if bias is not None:
        scores = scores + bias
    scores = scores / temperature
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    return jax.nn.softmax(scores)


scores = jnp.array([1.0, 2.0, 3.0])
print([round(float(v), 3) for v in attend(scores)])
print([round(float(v), 3) for v in attend(scores, jnp.array([True, True, False]))])
print([round(float(v), 3) for v in attend(scores, bias=-scores, temperature=2.0)])
