import jax
import jax.numpy as jnp

WIDTH = 8


def residual_block(w, x, key, training):
    h = jax.nn.gelu(x @ w)
    if training:
        keep = jax.random.bernoulli(key, 0.9, h.shape)
        h = jnp.where(keep, h / 0.9, 0.0)
    return x + h


block = jax.checkpoint(residual_block, static_argnums=(3,))


def loss_fn(weights, x, y, key, training):
    for i, w in enumerate(weights):
        x = block(w, x, jax.random.fold_in(key, i), training)
    return jnp.mean((x.sum(axis=-1) - y) ** 2)


keys = jax.random.split(jax.random.key(0), 3)
weights = [0.1 * jax.random.normal(k, (WIDTH, WIDTH)) for k in keys]
x = jnp.sin(jnp.arange(5.0 * WIDTH)).reshape(5, WIDTH)
y = jnp.arange(5.0)
for step in range(3):
    grads = jax.grad(loss_fn)(weights, x, y, jax.random.key(step), True)
    weights = [w - 0.01 * g for w, g in zip(weights, grads)]
print(round(float(loss_fn(weights, x, y, jax.random.key(9), False)), 3))
