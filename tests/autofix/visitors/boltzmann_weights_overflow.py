# error: none
# expect: NaNWarning | OverflowWarning | PrecisionLossWarning
# jax-differs: jax silently divides infinity by infinity
# line: 18
# also-line: 17
# depends: energies, beta
# fix: softmax
# fixed-file: fixed/boltzmann_weights_overflow.py
# result: -10.2464 ; -11.8106 ; -11.9967
# family: silent/nan-forward-overflow

import jax
import jax.numpy as jnp


def occupation(energies, beta):
    weights = jnp.exp(-beta * energies)
    return weights / weights.sum()


@jax.jit
def mean_energy(energies, beta):
    return jnp.sum(energies * occupation(energies, beta))


energies = jnp.array([-12.0, -11.5, -3.0])
for beta in (0.1, 1.0, 10.0):
    print(round(float(mean_energy(energies, beta)), 4))
