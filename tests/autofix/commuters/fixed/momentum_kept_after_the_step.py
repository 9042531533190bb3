import jax
import jax.numpy as jnp


@jax.jit
def update(velocity, slope):
    return 0.9 * velocity - 0.1 * slope


velocity = jnp.zeros(4)
position = jnp.array([4.0, 3.0, 2.0, 1.0])
turns = 0
for _ in range(6):
    fresh = update(velocity, position)
    turns += int(jnp.sum(jnp.sign(fresh) != jnp.sign(velocity)))
    position, velocity = position + fresh, fresh
print(turns, position.round(4).tolist())
