# error: TypeError
# line: 27
# depends: -
# fix: any
# result: [1.0, -1.0] 0.49

import jax
import jax.numpy as jnp


def energy(p):
    return jnp.sum((p["a"] ** 2 - 1.0) ** 2) + (p["b"] - 0.5) ** 2


@jax.jit
def descend(p):
    def step(p, _):
        g = jax.grad(energy)(p)
        return jax.tree.map(lambda p, g: p - 0.05 * g, p, g), None

    return jax.lax.scan(step, p, None, length=40)[0]


starts = {"a": jnp.array([[0.1, -0.3], [2.0, 0.0], [-1.5, 0.7]]), "b": jnp.array([0.0, 1.0, 2.0])}
ends = jax.vmap(descend)(starts)
values = jax.vmap(energy)(ends)
best = ends[jnp.argmin(values)]
print(best["a"].round(2).tolist(), round(float(best["b"]), 2))
