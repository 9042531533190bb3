# One correct fixed version of eccentric_anomaly.py
import jax
import jax.numpy as jnp


def kepler(mean_anomaly, eccentricity):
    """Solves E - e sin(E) = M by Newton's method."""

    def residual(E):
        return E - eccentricity * jnp.sin(E) - mean_anomaly

    E = mean_anomaly

    def unsolved(E):
        return jnp.abs(residual(E)) > 1e-5

    def step(E):
        return E - residual(E) / (1.0 - eccentricity * jnp.cos(E))

    return jax.lax.while_loop(unsolved, step, E)


anomalies = jnp.linspace(0.2, 3.0, 5)
eccentricities = jnp.array([0.1, 0.2, 0.4, 0.2, 0.1])
positions = jax.vmap(kepler)(anomalies, eccentricities)
print([round(float(E), 3) for E in positions])
