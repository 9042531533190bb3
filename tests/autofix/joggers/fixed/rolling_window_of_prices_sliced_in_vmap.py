import jax
import jax.numpy as jnp

WINDOW = 4
prices = jnp.array([10.0, 10.5, 9.8, 11.2, 12.0, 11.6, 12.4, 13.1])


def volatility(start):
    window = jax.lax.dynamic_slice(prices, (start,), (WINDOW,))
    returns = jnp.log(window[1:] / window[:-1])
    return jnp.std(returns)


starts = jnp.arange(len(prices) - WINDOW + 1)
result = jax.vmap(volatility)(starts)
print(result.round(4).tolist())
print(int(jnp.argmax(result)))
