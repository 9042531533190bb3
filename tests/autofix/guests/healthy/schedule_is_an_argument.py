import jax
import jax.numpy as jnp

temperature = 4.0


@jax.jit
def accept(delta, temperature):
    return jnp.minimum(1.0, jnp.exp(-delta / temperature))


history = []
for delta in (2.0, 2.0, 2.0):
    history.append(accept(delta, temperature))
    temperature = 0.5 * temperature
print([round(float(p), 4) for p in history], temperature)
