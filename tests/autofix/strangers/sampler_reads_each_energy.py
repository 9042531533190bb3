# error: none
# expect: HostSyncWarning
# jax-differs: jax copies a number to the host in each sweep
# line: 28
# depends: -
# fix: keep_on_device
# fixed-file: fixed/sampler_reads_each_energy.py
# result: -14.904
# family: 2/host-sync-in-hot-loop

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def sweep(spins, field):
    neighbours = jnp.roll(spins, 1) + jnp.roll(spins, -1)
    spins = jnp.tanh(0.8 * neighbours + field)
    energy = -jnp.sum(spins * jnp.roll(spins, 1)) - field * jnp.sum(spins)
    return spins, energy


spins = jnp.linspace(-0.5, 0.6, 16)
trace = np.zeros(400)
for i in range(400):
    spins, energy = sweep(spins, 0.1)
    trace[i] = energy.item()
print(round(float(trace[-100:].mean()), 3))
