import jax
import jax.numpy as jnp


def loss(w):
    return jnp.sum(jnp.abs(w - jnp.array([0.3, -0.7])))


@jax.jit
def sign_step(w, rate):
    return w - rate * jnp.sign(jax.grad(loss)(w))


w = jnp.zeros(2)
for step in range(80):
    w = sign_step(w, 0.1 / (1 + step / 8))
print(bool(loss(w) < 0.05))
