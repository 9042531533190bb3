import jax
import jax.numpy as jnp


@jax.jit
def fit(w):
    def step(i, w):
        loss = (w - 3.0) ** 2
        jax.lax.cond(i % 10 == 0, lambda: jax.debug.print("{} {}", i, loss), lambda: None)
        return w - 0.1 * 2 * (w - 3.0)

    return jax.lax.fori_loop(0, 20, step, w)


print(round(float(fit(jnp.array(0.0))), 2))
