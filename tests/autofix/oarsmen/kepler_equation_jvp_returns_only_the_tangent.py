# error: TypeError
# line: 27
# also-line: 39
# depends: -
# fix: any
# result: (20, 4) [0.97, 0.03, 0.01, 0.03]

import jax
import jax.numpy as jnp


@jax.custom_jvp
def eccentric_anomaly(mean_anomaly, ecc):
    def newton(_, E):
        return E - (E - ecc * jnp.sin(E) - mean_anomaly) / (1.0 - ecc * jnp.cos(E))

    return jax.lax.fori_loop(0, 12, newton, mean_anomaly + ecc * jnp.sin(mean_anomaly))


@eccentric_anomaly.defjvp
def eccentric_anomaly_jvp(primals, tangents):
    mean_anomaly, ecc = primals
    dM, de = tangents
    E = eccentric_anomaly(mean_anomaly, ecc)
    # implicit function theorem on E - e sin E = M
    dE = (dM + de * jnp.sin(E)) / (1.0 - ecc * jnp.cos(E))
    return dE


def radial_velocity(theta, t):
    K, ecc, period, omega = theta
    E = eccentric_anomaly(2 * jnp.pi * t / period, ecc)
    f = 2 * jnp.arctan2(jnp.sqrt(1 + ecc) * jnp.sin(E / 2), jnp.sqrt(1 - ecc) * jnp.cos(E / 2))
    return K * (jnp.cos(f + omega) + ecc * jnp.cos(omega))


def design_matrix(theta, times):
    slope = jax.grad(radial_velocity)
    return jax.vmap(slope, in_axes=(None, 0))(theta, times)


times = jnp.linspace(0.1, 9.0, 20)
theta = jnp.array([30.0, 0.4, 3.7, 0.6])
J = design_matrix(theta, times)
fisher = J.T @ J / 2.0**2
print(J.shape, [round(v, 2) for v in jnp.sqrt(jnp.diag(jnp.linalg.inv(fisher))).tolist()])
