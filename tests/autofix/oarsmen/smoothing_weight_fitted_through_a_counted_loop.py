# error: ValueError
# line: 29
# depends: -
# fix: any
# result: 0.49 2.57

import jax
import jax.numpy as jnp

sales = {
    "milk": [11.0, 12.5, 10.2, 13.0, 12.1, 14.6, 13.9, 14.8, 13.1, 15.2],
    "eggs": [3.0, 3.4, 2.9, 3.9, 3.1, 2.8],
}
LONGEST = max(map(len, sales.values()))


def pad(history):
    return jnp.array(history + [0.0] * (LONGEST - len(history)))


def forecast_error(alpha, series, n):
    """Mean squared one-step error of simple exponential smoothing."""

    def body(t, carry):
        level, sse = carry
        err = series[t] - level
        return level + alpha * err, sse + err**2

    _, sse = jax.lax.fori_loop(1, n, body, (series[0], 0.0))
    return sse / (n - 1)


def total_error(logit, series, lengths):
    alpha = jax.nn.sigmoid(logit)
    return jax.vmap(forecast_error, in_axes=(None, 0, 0))(alpha, series, lengths).sum()


series = jnp.stack([pad(h) for h in sales.values()])
lengths = jnp.array([len(h) for h in sales.values()])
step = jax.jit(jax.value_and_grad(total_error))
logit = 0.0
for _ in range(60):
    error, slope = step(logit, series, lengths)
    logit = logit - 0.5 * slope
print(round(float(jax.nn.sigmoid(logit)), 2), round(float(error), 2))
