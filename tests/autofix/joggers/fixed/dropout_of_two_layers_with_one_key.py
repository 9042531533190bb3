import jax
import jax.numpy as jnp


def dropout(key, x, rate):
    mask = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(mask, x / (1.0 - rate), 0.0)


@jax.jit
def forward(key, x):
    first_key, second_key = jax.random.split(key)
    first = dropout(first_key, x, 0.5)
    second = dropout(second_key, 2.0 * x, 0.5)
    return first, second


x = jnp.ones((32, 64))
first, second = forward(jax.random.key(1), x)
agreement = jnp.mean((first > 0) == (second > 0))
print(round(float(agreement), 1))
print(bool(jnp.all((first > 0) == (second > 0))))
