# error: KeyReuseError
# line: 18
# also-line: 22
# depends: -
# fix: split_key
# fixed-file: fixed/same_noise_each_step.py
# result: different kicks: 5
# family: 3/key-in-scan

import jax
import jax.numpy as jnp

jax.config.update("jax_debug_key_reuse", True)


def euler_maruyama(key, x0, dt, steps):
    def step(x, _):
        noise = jnp.sqrt(dt) * jax.random.normal(key)
        x = x - 0.5 * x * dt + 0.3 * noise
        return x, noise

    return jax.lax.scan(step, x0, None, length=steps)


_, noises = jax.jit(euler_maruyama, static_argnums=3)(jax.random.key(2), 1.0, 0.01, 5)
print("different kicks:", len(set(noises.tolist())))
