# error: SideEffectWarning
# line: 14
# depends: pressure
# fix: debug_print
# result: eased to 4.0 ; 4.0

import jax
import jax.numpy as jnp


@jax.jit
def vent(pressure):
    eased = pressure * 0.5
    jax.debug.print(f"eased to {eased}", ordered=True)
    return eased


print(float(vent(jnp.array(8.0))))
