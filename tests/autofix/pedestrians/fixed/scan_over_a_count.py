import jax
import jax.numpy as jnp


def compound(balance, _):
    balance = balance * 1.05
    return balance, balance


@jax.jit
def savings(start):
    _, history = jax.lax.scan(compound, start, None, length=4)
    return history


print(savings(100.0).round(2).tolist())
