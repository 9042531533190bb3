import jax
import jax.numpy as jnp


def sortino(weights, returns, target=0.0):
    portfolio = returns @ weights
    excess = portfolio - target
    negative = excess < 0
    downside = jnp.sqrt(jnp.sum(jnp.where(negative, excess, 0.0) ** 2) / negative.sum())
    return excess.mean() / downside


returns = jnp.array(
    [[0.02, -0.01], [-0.03, 0.01], [0.01, 0.02], [-0.01, -0.02], [0.04, 0.00], [0.00, 0.03]]
)
w = jnp.array([0.5, 0.5])
ratio, sensitivity = jax.value_and_grad(sortino)(w, returns)
ratio = jax.jit(sortino)(w, returns)
print(round(float(ratio), 3))
