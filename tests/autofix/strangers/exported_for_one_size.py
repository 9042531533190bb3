# error: ValueError
# expect: ValueError | TypeError
# line: 26
# also-line: 23
# depends: -
# fix: symbolic_size
# fixed-file: fixed/exported_for_one_size.py
# result: 2.4898 ; 3.5
# family: 3/export-fixed-batch

import jax
import jax.numpy as jnp
from jax import export


def score(x, w):
    logits = x @ w
    return jax.nn.softmax(logits, axis=-1)[:, 0].sum()


w = jnp.array([[1.0, -1.0], [0.5, 0.0], [0.0, 2.0]])
sample = jnp.ones((4, 3))
frozen = export.export(jax.jit(score))(sample, w)

print(round(float(frozen.call(sample, w)), 4))
print(round(float(frozen.call(jnp.zeros((7, 3)), w)), 4))
