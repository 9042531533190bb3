import jax
import jax.numpy as jnp

key = jax.random.key(42)


def dropout_mask(key, shape, rate):
    return jax.random.bernoulli(key, 1.0 - rate, shape)


def forward(mask, w, x):
    return jnp.where(mask, jnp.tanh(x @ w), 0.0).sum()


# one mask, used for two passes on purpose: the two losses are compared
mask = dropout_mask(key, (8,), 0.25)
w = jnp.linspace(-1.0, 1.0, 24).reshape(3, 8)
x = jnp.array([0.2, -0.4, 1.0])
before = forward(mask, w, x)
after = forward(mask, w - 0.01 * jax.grad(forward, argnums=1)(mask, w, x), x)
print(bool(after < before))
