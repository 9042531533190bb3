import jax
import jax.numpy as jnp


def grad_mean(w, x):
    g = jax.grad(lambda w: jnp.sum((w * x - 1.0) ** 2))(w)
    return jax.lax.pmean(g, axis_name="batch")


w = jnp.array(0.5)
xs = jnp.array([1.0, 2.0, 3.0])
print(jax.vmap(grad_mean, in_axes=(None, 0), axis_name="batch")(w, xs).round(3).tolist())
