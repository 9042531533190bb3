# error: ValueError
# expect: ValueError | TypeError
# line: 18
# depends: -
# fix: jit
# result: 5.4414

import jax
import jax.numpy as jnp
from jax import export


def predict(x):
    return jnp.tanh(x) * 2


shape = jax.ShapeDtypeStruct((4,), jnp.float32)
exported = export.export(predict)(shape)
print(round(float(exported.call(jnp.arange(4.0)).sum()), 4))
