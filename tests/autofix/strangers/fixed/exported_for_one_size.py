# One correct fixed version of exported_for_one_size.py
import jax
import jax.numpy as jnp
from jax import export


def score(x, w):
    logits = x @ w
    return jax.nn.softmax(logits, axis=-1)[:, 0].sum()


w = jnp.array([[1.0, -1.0], [0.5, 0.0], [0.0, 2.0]])
sample = jnp.ones((4, 3))
(batch,) = export.symbolic_shape("batch")
rows = jax.ShapeDtypeStruct((batch, 3), jnp.float32)
frozen = export.export(jax.jit(score))(rows, w)

print(round(float(frozen.call(sample, w)), 4))
print(round(float(frozen.call(jnp.zeros((7, 3)), w)), 4))
