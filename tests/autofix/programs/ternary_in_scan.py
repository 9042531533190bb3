# error: TracerBoolConversionError
# line: 15
# depends: balance, move
# fix: where
# result: 0.0

import jax
import jax.numpy as jnp


@jax.jit
def final(moves):
    def body(balance, move):
        balance = balance + move
        fee = 1.0 if balance < 0.0 else 0.0
        return balance - fee, balance

    end, _ = jax.lax.scan(body, 0.0, moves)
    return end


print(float(final(jnp.array([2.0, -5.0, 1.0, 4.0]))))
