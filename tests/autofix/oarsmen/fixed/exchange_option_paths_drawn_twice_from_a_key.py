import jax
import jax.numpy as jnp

STEPS, PATHS = 12, 20000


def gbm(key, spot, vol, rate, maturity):
    """Terminal prices of one asset."""
    dt = maturity / STEPS
    z = jax.random.normal(key, (PATHS, STEPS))
    log_returns = (rate - 0.5 * vol**2) * dt + vol * jnp.sqrt(dt) * z
    return spot * jnp.exp(log_returns.sum(axis=1))


class ExchangeOption:
    def __init__(self, first, second, rate=0.02, maturity=1.0):
        self.first, self.second = first, second
        self.rate, self.maturity = rate, maturity

    def price(self, key):
        key_a, key_b = jax.random.split(key)
        a = gbm(key_a, self.first["spot"], self.first["vol"], self.rate, self.maturity)
        b = gbm(key_b, self.second["spot"], self.second["vol"], self.rate, self.maturity)
        payoff = jnp.maximum(a - b, 0.0)
        return jnp.exp(-self.rate * self.maturity) * payoff.mean(), jnp.corrcoef(a, b)[0, 1]


option = ExchangeOption({"spot": 100.0, "vol": 0.3}, {"spot": 100.0, "vol": 0.3})
price, corr = option.price(jax.random.key(42))
# Margrabe gives 16.8 for independent assets
print(abs(float(price) - 16.8) < 1.0, abs(float(corr)) < 0.05)
