# One correct fixed version of losses_in_a_list.py
import jax
import jax.numpy as jnp

layers = [jnp.full((2, 2), 0.5), jnp.full((2, 3), -0.25), jnp.full((3,), 2.0)]


@jax.jit
def penalized(layers, x, y):
    fit = jnp.mean((jnp.tanh(x @ layers[0]) @ layers[1] @ layers[2] - y) ** 2)
    return fit + 0.01 * sum(jnp.sum(w**2) for w in layers)


x = jnp.array([[1.0, 2.0], [0.0, -1.0], [0.5, 0.5]])
y = jnp.array([-1.0, 1.0, 0.0])
print(round(float(penalized(layers, x, y)), 4))
