# One correct fixed version of key_reuse_closed_over_in_scan.py
import jax
import jax.numpy as jnp


def random_walk(key, start, steps):
    def move(position, step_key):
        direction = jax.random.choice(step_key, jnp.array([-1, 1]))
        position = position + direction
        return position, position

    _, path = jax.lax.scan(move, start, jax.random.split(key, steps))
    return path


path = random_walk(jax.random.key(4), 0, 64)
turns = jnp.sum(jnp.diff(path)[1:] != jnp.diff(path)[:-1])
print(path.shape, bool(turns > 5))
