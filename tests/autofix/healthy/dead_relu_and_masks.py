import jax
import jax.numpy as jnp


def activation(x):
    return jax.nn.relu(x)


def masked_loss(w, x, mask):
    return jnp.sum(jnp.where(mask, (x * w - 1.0) ** 2, 0.0))


# half of the inputs are below zero, where the derivative is 0
slopes = jax.vmap(jax.grad(activation))(jnp.linspace(-2.0, 2.0, 5))
print(slopes.tolist())

# a batch of padding only has no gradient
x = jnp.array([1.0, 2.0])
print(jax.grad(masked_loss)(0.5, x, jnp.array([False, False])))
print(jax.grad(masked_loss)(0.5, x, jnp.array([True, False])))
