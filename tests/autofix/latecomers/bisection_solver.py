# error: TracerBoolConversionError
# line: 27
# depends: bracket
# fix: where
# fixed-file: fixed/bisection_solver.py
# result: 92.5 -> 6.020% ; 100.0 -> 5.000% ; 108.2 -> 3.990%

import jax
import jax.numpy as jnp
from jax import lax


class BondPricer:
    """Fixed coupon bond; solves for the yield that matches a market price."""

    def __init__(self, coupon, years, face=100.0):
        self.cash = jnp.full(years, coupon).at[-1].add(face)
        self.times = jnp.arange(1, years + 1)

    def price(self, rate):
        return jnp.sum(self.cash / (1.0 + rate) ** self.times)

    def implied_yield(self, market, lo=0.0, hi=0.5, iters=40):
        def halve(_, bracket):
            low, high = bracket
            mid = 0.5 * (low + high)
            if self.price(mid) > market:
                return mid, high
            return low, mid

        low, high = lax.fori_loop(0, iters, halve, (lo, hi))
        return 0.5 * (low + high)


bond = BondPricer(coupon=5.0, years=10)
quotes = [92.5, 100.0, 108.2]
for quote in quotes:
    y = bond.implied_yield(quote)
    print(f"{quote:6.1f} -> {float(y) * 100:.3f}%")
