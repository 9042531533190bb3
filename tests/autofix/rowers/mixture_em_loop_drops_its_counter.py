# error: TypeError
# line: 34
# depends: -
# fix: any
# result: [-1.9499999284744263, 1.649999976158142] [0.5999999642372131, 0.3999999761581421] -118.1 True

import jax
import jax.numpy as jnp

data = jnp.concatenate([
    -2.0 + 0.7 * jax.random.normal(jax.random.key(0), (60,)),
    1.5 + 0.7 * jax.random.normal(jax.random.key(1), (40,)),
])
SIGMA = 0.7


def log_joint(means, weights):
    z = (data[:, None] - means) / SIGMA
    return jnp.log(weights) - 0.5 * z**2


def em(means, weights, max_iter=100, tol=1e-4):
    def unfinished(state):
        i, _, _, ll, previous = state
        return (i < max_iter) & (jnp.abs(ll - previous) > tol)

    def update(state):
        i, means, weights, ll, _ = state
        joint = log_joint(means, weights)
        total = jax.scipy.special.logsumexp(joint, axis=1)
        resp = jnp.exp(joint - total[:, None])
        new_weights = resp.mean(axis=0)
        new_means = (resp * data[:, None]).sum(axis=0) / resp.sum(axis=0)
        return new_means, new_weights, total.sum(), ll

    state = (0, means, weights, -jnp.inf, 0.0)
    return jax.lax.while_loop(unfinished, update, state)


i, means, weights, ll, _ = em(jnp.array([-1.0, 1.0]), jnp.array([0.5, 0.5]))
print(means.round(2).tolist(), weights.round(2).tolist(), round(float(ll), 1), int(i) < 100)
