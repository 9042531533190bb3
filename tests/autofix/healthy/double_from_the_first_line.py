import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402  the switch comes before everything that makes arrays
import numpy as np  # noqa: E402

stamps = jnp.asarray(np.array([1700000000123, 1700000000456, 1700000001000], dtype=np.int64))


@jax.jit
def gaps(stamps):
    return jnp.diff(stamps)


hilbert = 1.0 / (jnp.arange(8.0)[:, None] + jnp.arange(8.0) + 1.0)
x = jnp.linalg.solve(hilbert, hilbert @ jnp.ones(8))
print(gaps(stamps).tolist(), x.dtype, bool(jnp.allclose(x, 1.0, atol=1e-5)))
