# One correct fixed version of vmap_removed_the_axis.py
import jax
import jax.numpy as jnp


def joint_energy(pose):
    height = pose[:, 2]
    lift = jnp.sum(9.81 * height)
    spread = jnp.sum((pose - pose.mean(axis=0)) ** 2)
    return lift + spread


poses = jnp.array([
    [[0.0, 0.0, 1.0], [0.5, 0.0, 1.2]],
    [[0.1, 0.0, 0.9], [0.6, 0.1, 1.0]],
])
energies = jax.vmap(joint_energy)(poses)
print(energies.shape, [round(float(e), 3) for e in energies])
