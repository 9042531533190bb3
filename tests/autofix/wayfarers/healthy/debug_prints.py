# error: none
# expect: none
# result: step 2: 1.417 ; 1.41421

import jax
import jax.numpy as jnp


@jax.jit
def newton(x):
    def body(i, x):
        jax.lax.cond(i == 2, lambda: jax.debug.print("step {i}: {x:.3f}", i=i, x=x), lambda: None)
        return x - (x * x - 2) / (2 * x)

    return jax.lax.fori_loop(0, 5, body, x)


root = newton(1.0)
jax.effects_barrier()
print(round(float(root), 5))
