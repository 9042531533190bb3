# One correct fixed version of debug_print_without_field.py
import jax
import jax.numpy as jnp


@jax.jit
def step(w, x, y):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    jax.debug.print("loss {}", loss)
    return w - 0.1 * grad


x, y = jnp.eye(3), jnp.array([1.0, 2.0, 3.0])
w = jnp.zeros(3)
for _ in range(3):
    w = step(w, x, y)
jax.effects_barrier()
print(round(float(w.sum()), 4))
