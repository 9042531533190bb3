import jax
import jax.numpy as jnp


def xlogx(p):
    safe = jnp.where(p > 0, p, 1.0)
    return jnp.where(p > 0, p * jnp.log(safe), 0.0)


def entropy(p):
    return -xlogx(p).sum()


def speed(v):
    rest = v == 0.0
    return jnp.where(rest, 0.0, jnp.sqrt(jnp.where(rest, 1.0, v)))


p = jnp.array([0.0, 0.5, 0.5])
print(round(float(entropy(p)), 4), [round(float(g), 4) for g in jax.grad(entropy)(p)])
print(jax.vmap(jax.grad(speed))(jnp.array([0.0, 4.0])).tolist())
