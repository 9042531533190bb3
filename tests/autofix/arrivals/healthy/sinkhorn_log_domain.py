# error: none
# expect: none
# result: True

import jax
import jax.numpy as jnp


@jax.jit
def sinkhorn(cost, eps=0.1):
    n, m = cost.shape
    f, g = jnp.zeros(n), jnp.zeros(m)

    def body(_, fg):
        f, g = fg
        f = -eps * jax.nn.logsumexp((g[None, :] - cost) / eps, axis=1) - eps * jnp.log(n)
        g = -eps * jax.nn.logsumexp((f[:, None] - cost) / eps, axis=0) - eps * jnp.log(m)
        return f, g

    f, g = jax.lax.fori_loop(0, 100, body, (f, g))
    return jnp.exp((f[:, None] + g[None, :] - cost) / eps)


cost = (jnp.arange(4.0)[:, None] - jnp.arange(4.0)[None, :]) ** 2
plan = sinkhorn(cost)
print(bool(jnp.allclose(plan.sum(axis=0), 0.25, atol=1e-3)))
