# error: TracerBoolConversionError
# line: 20
# depends: mean_anomaly, eccentricity
# fix: while_loop
# fixed-file: fixed/eccentric_anomaly.py
# result: [0.222, 1.076, 1.969, 2.431, 3.013]
# family: concretization/while

import jax
import jax.numpy as jnp


def kepler(mean_anomaly, eccentricity):
    """Solves E - e sin(E) = M by Newton's method."""

    def residual(E):
        return E - eccentricity * jnp.sin(E) - mean_anomaly

    E = mean_anomaly
    while jnp.abs(residual(E)) > 1e-5:
        E = E - residual(E) / (1.0 - eccentricity * jnp.cos(E))
    return E


anomalies = jnp.linspace(0.2, 3.0, 5)
eccentricities = jnp.array([0.1, 0.2, 0.4, 0.2, 0.1])
positions = jax.vmap(kepler)(anomalies, eccentricities)
print([round(float(E), 3) for E in positions])
