import jax
import jax.numpy as jnp


def body(carry, price):
    count, best, position = carry
    better = price > best
    position = jnp.where(better, count, position)
    return (count + 1, jnp.maximum(best, price), position), None


prices = jnp.array([3.0, 9.0, 4.0, 9.5, 1.0])
(count, best, position), nothing = jax.lax.scan(body, (0, -jnp.inf, -1), prices)
print(int(count), float(best), int(position), nothing)
