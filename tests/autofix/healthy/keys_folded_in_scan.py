import jax
import jax.numpy as jnp


@jax.jit
def walk(key, start):
    def step(x, t):
        noise = jax.random.normal(jax.random.fold_in(key, t), x.shape)
        return x + 0.1 * noise, x

    return jax.lax.scan(step, start, jnp.arange(400))


end, path = walk(jax.random.key(9), jnp.zeros(50))
increments = jnp.diff(path, axis=0) / 0.1
correlation = jnp.mean(increments[1:] * increments[:-1])
print(path.shape, bool(abs(increments.std() - 1.0) < 0.05), bool(abs(correlation) < 0.05))
