"""Simulations of jax-md: energies, forces, minimization, thermostat, neighbor lists."""

import json

import jax
import jax.numpy as jnp
from jax_md import energy, minimize, quantity, simulate, space

displacement, shift = space.periodic(4.0)
total = energy.soft_sphere_pair(displacement)
x = jax.random.uniform(jax.random.PRNGKey(0), (16, 2), maxval=4.0)
found = {"energy": [float(total(x))], "forces": quantity.force(total)(x).ravel().tolist()}

init, step = minimize.fire_descent(total, shift)
state = init(x)
state = jax.lax.fori_loop(0, 10, lambda _, s: step(s), state)
found["minimized"] = [float(total(state.position))]

init, step = simulate.nvt_nose_hoover(total, shift, 1e-3, 0.1)
state = jax.jit(step)(init(jax.random.PRNGKey(1), x))
found["momenta"] = state.momentum.ravel().tolist()

neighbors, pairs = energy.soft_sphere_neighbor_list(displacement, 4.0)
found["by neighbors"] = [float(pairs(x, neighbor=neighbors.allocate(x)))]
lennard_jones = energy.lennard_jones_pair(displacement)
found["stress"] = jax.grad(lambda s: lennard_jones(x * s))(jnp.float32(1.0)).reshape(1).tolist()
print(json.dumps(found))
