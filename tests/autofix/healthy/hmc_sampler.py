import jax
import jax.numpy as jnp


def log_prob(q):
    return -0.5 * jnp.sum(q**2 / jnp.array([1.0, 4.0]))


@jax.jit
def hmc(key, q):
    momentum_key, accept_key = jax.random.split(key)
    p = jax.random.normal(momentum_key, q.shape)
    gradient = jax.grad(log_prob)

    def leapfrog(carry, _):
        q, p = carry
        p = p + 0.1 * gradient(q)
        q = q + 0.2 * p
        p = p + 0.1 * gradient(q)
        return (q, p), None

    (new_q, new_p), _ = jax.lax.scan(leapfrog, (q, p), None, length=8)
    change = log_prob(new_q) - 0.5 * new_p @ new_p - log_prob(q) + 0.5 * p @ p
    accept = jnp.log(jax.random.uniform(accept_key)) < change
    return jnp.where(accept, new_q, q), accept


def body(q, key):
    q, accept = hmc(key, q)
    return q, (q, accept)


keys = jax.random.split(jax.random.key(0), 400)
_, (samples, accepted) = jax.lax.scan(body, jnp.zeros(2), keys)
print(samples.shape, bool(accepted.mean() > 0.7), bool(jnp.abs(samples.mean(0)).max() < 0.8))
