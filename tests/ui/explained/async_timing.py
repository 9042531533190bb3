import time

import sagax
import sagax.numpy as jnp


@sagax.jit
def gram(x):
    return x.T @ x


x = jnp.ones((8, 8))
gram(x).block_until_ready()
start = time.perf_counter()
y = gram(x)
seconds = time.perf_counter() - start  #~ SX0412 the clock is read before `gram(x)` has finished
print(y.shape, seconds > 0.0)
