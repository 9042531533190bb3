import sagax
import sagax.numpy as jnp

jaxpr = sagax.make_jaxpr(jnp.sin)(1.0).jaxpr
sagax.core.check_jaxpr(jaxpr.replace(invars=[]))  #~ SX0110 equation 0 (sin): variable of type
