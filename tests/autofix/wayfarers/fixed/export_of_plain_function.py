# One correct fixed version of export_of_plain_function.py
import jax
import jax.numpy as jnp
from jax import export


def predict(x):
    return jnp.tanh(x) * 2


shape = jax.ShapeDtypeStruct((4,), jnp.float32)
exported = export.export(jax.jit(predict))(shape)
print(round(float(exported.call(jnp.arange(4.0)).sum()), 4))
