# One correct fixed version of bool_count_with_generator.py
import jax
import jax.numpy as jnp


@jax.jit
def drawdown_days(returns, threshold):
    wealth = jnp.cumprod(1.0 + returns)
    peak = jax.lax.cummax(wealth)
    drawdown = 1.0 - wealth / peak
    days = jnp.sum(drawdown > threshold)
    return days, drawdown.max()


returns = jnp.array([0.02, -0.05, -0.03, 0.04, 0.06, -0.10, 0.01])
days, worst = drawdown_days(returns, 0.04)
print(int(days), round(float(worst), 4))
