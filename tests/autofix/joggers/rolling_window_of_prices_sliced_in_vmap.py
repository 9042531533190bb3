# error: IndexError
# line: 15
# depends: -
# fix: any
# result: [0.08299999684095383, 0.08449999988079071, 0.06889999657869339, 0.04800000041723251, 0.04490000009536743] ; 1

import jax
import jax.numpy as jnp

WINDOW = 4
prices = jnp.array([10.0, 10.5, 9.8, 11.2, 12.0, 11.6, 12.4, 13.1])


def volatility(start):
    window = prices[start:start + WINDOW]
    returns = jnp.log(window[1:] / window[:-1])
    return jnp.std(returns)


starts = jnp.arange(len(prices) - WINDOW + 1)
result = jax.vmap(volatility)(starts)
print(result.round(4).tolist())
print(int(jnp.argmax(result)))
