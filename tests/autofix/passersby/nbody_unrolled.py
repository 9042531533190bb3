# error: none
# expect: UnrolledLoopWarning
# jax-differs: jax unrolls all steps into one program
# line: 27
# depends: -
# fix: fori_or_scan
# fixed-file: fixed/nbody_unrolled.py
# result: radius 1.01 ; momentum [-0.0008, 0.001]

import jax
import jax.numpy as jnp


def accelerations(pos, mass, soft=0.05):
    diff = pos[None] - pos[:, None]
    r2 = jnp.sum(diff ** 2, axis=-1) + soft ** 2
    return jnp.sum(mass[None, :, None] * diff / r2[..., None] ** 1.5, axis=1)


def kick_drift(pos, vel, mass, dt):
    vel = vel + dt * accelerations(pos, mass)
    return pos + dt * vel, vel


@jax.jit
def integrate(pos, vel, mass):
    for i in range(300):
        pos, vel = kick_drift(pos, vel, mass, 0.01)
    return pos, vel


def main():
    pos = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.5]])
    vel = jnp.array([[0.0, 0.0], [0.0, 1.0], [-0.8, 0.0]])
    mass = jnp.array([1.0, 1e-3, 1e-3])
    pos, vel = integrate(pos, vel, mass)
    momentum = jnp.sum(mass[:, None] * vel, axis=0)
    print("radius", round(float(jnp.linalg.norm(pos[1] - pos[0])), 2))
    print("momentum", [round(float(p), 4) for p in momentum])


if __name__ == "__main__":
    main()
