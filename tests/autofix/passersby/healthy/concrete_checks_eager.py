# error: none
# expect: none
# result: risk 0.1780 parts [0.089, 0.089] ; rejected: weights must sum to one ; rejected: no short positions

"""Input checks run eagerly; only the numeric core is compiled."""
import jax
import jax.numpy as jnp


def validate(weights, cov):
    if jnp.any(weights < 0):
        raise ValueError("no short positions")
    if not jnp.isclose(weights.sum(), 1.0, atol=1e-5):
        raise ValueError("weights must sum to one")
    if float(jnp.linalg.eigvalsh(cov)[0]) <= 0:
        raise ValueError("covariance is not positive definite")


@jax.jit
def risk(weights, cov):
    total = jnp.sqrt(weights @ cov @ weights)
    return total, weights * (cov @ weights) / total


def report(weights, cov):
    try:
        validate(weights, cov)
    except ValueError as err:
        return f"rejected: {err}"
    total, parts = risk(weights, cov)
    return f"risk {float(total):.4f} parts {[round(float(p), 4) for p in parts]}"


cov = jnp.array([[0.04, 0.006], [0.006, 0.09]])
print(report(jnp.array([0.6, 0.4]), cov))
print(report(jnp.array([0.6, 0.6]), cov))
print(report(jnp.array([1.2, -0.2]), cov))
