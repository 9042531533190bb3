# One correct fixed version of ema_scan_count.py
"""Bias-corrected exponential moving average of a price series."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Ema:
    span: int

    @property
    def alpha(self):
        return 2.0 / (self.span + 1)

    def init(self):
        return {"mean": jnp.zeros(()), "norm": jnp.zeros(())}

    def update(self, state, price):
        mean = (1 - self.alpha) * state["mean"] + self.alpha * price
        norm = (1 - self.alpha) * state["norm"] + self.alpha
        return {"mean": mean, "norm": norm}, mean / norm

    def run(self, prices):
        _, smooth = jax.lax.scan(self.update, self.init(), prices)
        return smooth


def crossovers(fast, slow):
    above = fast > slow
    return jnp.sum(above[1:] & ~above[:-1])


prices = 100.0 + 5.0 * jnp.sin(jnp.arange(60) / 6.0)
fast, slow = Ema(5).run(prices), Ema(20).run(prices)
print("last", round(float(fast[-1]), 3), round(float(slow[-1]), 3))
print("signals", int(crossovers(fast, slow)))
