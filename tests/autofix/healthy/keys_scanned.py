import jax
import jax.numpy as jnp


@jax.jit
def random_walk(key, steps):
    def step(position, subkey):
        move = jax.random.choice(subkey, jnp.array([-1, 1]))
        return position + move, position

    return jax.lax.scan(step, 0, jax.random.split(key, 30))[1] + steps


@jax.jit
def carried(key):
    def step(carry, _):
        key, total = carry
        key, subkey = jax.random.split(key)
        return (key, total + jax.random.normal(subkey)), None

    (key, total), _ = jax.lax.scan(step, (key, 0.0), None, length=25)
    return total


path = random_walk(jax.random.key(1), 0)
print(path.shape, bool(jnp.all(jnp.abs(jnp.diff(path)) == 1)))
print(bool(jnp.isfinite(carried(jax.random.key(2)))))
