# error: none
# expect: none
# result: [1.0, 0.9970000386238098, 0.9730000495910645, 0.8740000128746033, 0.8280000686645508] True

import jax
import jax.numpy as jnp

knots = jnp.array([0.0, 0.5, 1.0, 2.0, 5.0])
rates = jnp.array([0.010, 0.012, 0.015, 0.021, 0.027])


@jax.jit
def zero_rate(t):
    right = jnp.clip(jnp.searchsorted(knots, t), 1, knots.size - 1)
    share = (t - knots[right - 1]) / (knots[right] - knots[right - 1])
    return rates[right - 1] + jnp.clip(share, 0.0, 1.0) * (rates[right] - rates[right - 1])


def price(t):
    return jnp.exp(-zero_rate(t) * t)


maturities = jnp.array([0.0, 0.25, 1.5, 5.0, 7.0])
values, slopes = jax.vmap(jax.value_and_grad(price))(maturities)
print(values.round(3).tolist(), bool(jnp.all(slopes <= 0.0)))
