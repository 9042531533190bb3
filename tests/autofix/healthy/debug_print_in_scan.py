import jax
import jax.numpy as jnp


@jax.jit
def bisect(low, high):
    def step(carry, i):
        low, high = carry
        middle = 0.5 * (low + high)
        jax.lax.cond(
            i == 0,
            lambda m: jax.debug.print("first middle {m:.3f}", m=m),
            lambda m: None,
            middle,
        )
        right = middle**2 < 2.0
        return (jnp.where(right, middle, low), jnp.where(right, high, middle)), None

    (low, high), _ = jax.lax.scan(step, (low, high), jnp.arange(20))
    return 0.5 * (low + high)


root = bisect(1.0, 2.0)
jax.effects_barrier()
print(round(float(root), 4))
