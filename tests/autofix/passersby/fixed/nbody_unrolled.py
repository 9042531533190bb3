# One correct fixed version of nbody_unrolled.py
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
    def body(i, state):
        return kick_drift(*state, mass, 0.01)

    return jax.lax.fori_loop(0, 300, body, (pos, vel))


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
