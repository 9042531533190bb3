# error: TracerIntegerConversionError
# line: 18
# also-line: 24
# depends: -
# fix: any
# result: [0.04, 0.06] ; -0.009

import jax
import jax.numpy as jnp

precision = jnp.array([[2.0, 0.6], [0.6, 1.0]])


def potential(q):
    return 0.5 * q @ precision @ q


@jax.jit
def hmc_step(key, q, step_size, n_leapfrog):
    key_p, key_u = jax.random.split(key)
    p0 = jax.random.normal(key_p, q.shape)
    force = jax.grad(potential)
    new_q, p = q, p0 - 0.5 * step_size * force(q)
    for i in range(n_leapfrog):
        new_q = new_q + step_size * p
        scale = 0.5 if i == n_leapfrog - 1 else 1.0
        p = p - scale * step_size * force(new_q)
    energy = potential(q) + 0.5 * p0 @ p0
    new_energy = potential(new_q) + 0.5 * p @ p
    take = jnp.log(jax.random.uniform(key_u)) < energy - new_energy
    return jnp.where(take, new_q, q), new_energy - energy


q, samples = jnp.array([1.0, -1.0]), []
for key in jax.random.split(jax.random.key(3), 100):
    q, error = hmc_step(key, q, 0.2, 5)
    samples.append(q)
print([round(float(v), 2) for v in jnp.mean(jnp.stack(samples), axis=0)])
print(round(float(error), 3))
