import jax
import jax.numpy as jnp


@jax.jit
def train_step(w, x):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((w * x) ** 2))(w)
    jax.debug.print("loss {loss:.3f}", loss=loss)
    return w - 0.1 * grad


w = train_step(jnp.array(1.0), jnp.array([1.0, 2.0]))
print(round(float(w), 3))
