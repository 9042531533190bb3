import jax
import jax.numpy as jnp


def global_norm(tree):
    return jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)))


def clip(grads, limit):
    factor = jnp.minimum(1.0, limit / (global_norm(grads) + 1e-6))
    return jax.tree.map(lambda g: g * factor, grads)


def cosine(step, peak, total, warmup):
    rise = step / warmup
    fall = 0.5 * (1.0 + jnp.cos(jnp.pi * (step - warmup) / (total - warmup)))
    return peak * jnp.where(step < warmup, rise, fall)


@jax.jit
def update(params, step):
    grads = jax.grad(lambda p: jnp.sum(p["a"] ** 4) + jnp.sum((p["b"] - 1.0) ** 2))(params)
    rate = cosine(step, 0.3, 60, 5)
    return jax.tree.map(lambda p, g: p - rate * g, params, clip(grads, 1.0))


params = {"a": jnp.array([2.0, -3.0]), "b": jnp.zeros(3)}
for step in range(60):
    params = update(params, step)
print(bool(jnp.abs(params["a"]).max() < 1.0), bool(jnp.abs(params["b"] - 1.0).max() < 0.1))
