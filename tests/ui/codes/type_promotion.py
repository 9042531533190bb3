import sagax
import sagax.numpy as jnp

with sagax.numpy_dtype_promotion("strict"):
    jnp.ones(2, "float32") + jnp.ones(2, "int32")  #~ SX0111 add: float32 and int32 are not
