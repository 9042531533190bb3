import jax
import jax.numpy as jnp


def sinkhorn(cost, reg=0.5, n=50):
    k = jnp.exp(-cost / reg)

    def sweep(p, _):
        p = p / p.sum(axis=1, keepdims=True)
        p = p / p.sum(axis=0, keepdims=True)
        return p, jnp.abs(p.sum(axis=1) - 1.0).max()

    return jax.lax.scan(sweep, k, None, length=n)


cost = jnp.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.5, 0.0]])
plan, gap = sinkhorn(cost)
print(plan.shape, bool(gap[-1] < 1e-4))
