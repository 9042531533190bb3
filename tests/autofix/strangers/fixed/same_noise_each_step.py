# One correct fixed version of same_noise_each_step.py
import jax
import jax.numpy as jnp

jax.config.update("jax_debug_key_reuse", True)


def euler_maruyama(key, x0, dt, steps):
    def step(x, subkey):
        noise = jnp.sqrt(dt) * jax.random.normal(subkey)
        x = x - 0.5 * x * dt + 0.3 * noise
        return x, noise

    return jax.lax.scan(step, x0, jax.random.split(key, steps))


_, noises = jax.jit(euler_maruyama, static_argnums=3)(jax.random.key(2), 1.0, 0.01, 5)
print("different kicks:", len(set(noises.tolist())))
