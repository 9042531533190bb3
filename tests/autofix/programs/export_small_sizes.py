# error: InconclusiveDimensionOperation
# line: 12
# depends: xs
# fix: dim_constraint
# result: 3.0
# grade: ran
import jax
import jax.numpy as jnp
from jax import export

def pad_to(xs, n):
    if xs.shape[0] < n:
        return jnp.pad(xs, (0, n - xs.shape[0]))
    return xs[:n]

fn = jax.jit(lambda xs: pad_to(xs, 4).sum())
(b,) = export.symbolic_shape("b")
exp = export.export(fn)(jax.ShapeDtypeStruct((b,), jnp.float32))
print(float(exp.call(jnp.arange(3.0))))
