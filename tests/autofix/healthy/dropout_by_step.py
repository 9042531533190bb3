import jax
import jax.numpy as jnp

ROOT = jax.random.key(0)


def dropout(key, x, rate):
    keep = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(keep, x / (1.0 - rate), 0.0)


def loss(w, key, x):
    return jnp.mean((dropout(key, jnp.tanh(x @ w), 0.2).sum(axis=1) - 1.0) ** 2)


@jax.jit
def step(w, number, x):
    key = jax.random.fold_in(ROOT, number)
    return w - 0.05 * jax.grad(loss)(w, key, x)


x = jnp.linspace(-1.0, 1.0, 24).reshape(8, 3)
w = jnp.zeros((3, 4))
for number in range(40):
    w = step(w, number, x)
print(w.shape, bool(jnp.any(w != 0.0)))
