import jax
import jax.numpy as jnp

x = jnp.array([[2.0, 0.0], [0.0, 2.0], [-2.0, 0.5], [-0.5, -2.0]])
y = jnp.array([1.0, 1.0, -1.0, -1.0])


@jax.jit
def hinge(w):
    return jnp.mean(jnp.maximum(0.0, 1.0 - y * (x @ w)))


w = jnp.zeros(2)
for _ in range(30):
    w = w - 0.5 * jax.grad(hinge)(w)
# every margin is kept now, so the gradient is zero, and that is the end of it
print(float(hinge(w)), jax.grad(hinge)(w).tolist())
