# error: none
# expect: none
# result: [-2.0, 3.0] [0.33, 0.67] ; stopped True

import jax
import jax.numpy as jnp


@jax.jit
def em_step(state, data):
    mu, pi = state
    logp = jnp.log(pi) - 0.5 * (data[:, None] - mu) ** 2
    resp = jax.nn.softmax(logp, axis=1)
    weight = resp.sum(axis=0)
    ll = jax.nn.logsumexp(logp, axis=1).mean()
    return ((resp * data[:, None]).sum(axis=0) / weight, weight / data.shape[0]), ll


def fit(data, tol=1e-6, limit=500):
    state = (jnp.array([-1.0, 1.0]), jnp.array([0.5, 0.5]))
    previous, iterations = -float("inf"), 0
    while iterations < limit:
        state, ll = em_step(state, data)
        iterations += 1
        if float(ll) - previous < tol:
            break
        previous = float(ll)
    return state, iterations


left = -2.0 + 0.8 * jnp.sin(jnp.arange(30.0))
right = 3.0 + 0.8 * jnp.cos(jnp.arange(60.0))
(mu, pi), iterations = fit(jnp.concatenate([left, right]))
print([round(float(m), 1) for m in mu], [round(float(p), 2) for p in pi])
print("stopped", iterations < 500)
