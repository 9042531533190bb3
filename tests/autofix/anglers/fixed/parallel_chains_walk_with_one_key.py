import jax
import jax.numpy as jnp

n_chains, n_steps = 6, 400


def log_posterior(theta):
    return -0.5 * jnp.sum((theta - 1.0) ** 2)


def langevin_chain(key, theta):
    def step(theta, key):
        noise = jax.random.normal(key, theta.shape)
        theta = theta + 0.05 * jax.grad(log_posterior)(theta) + jnp.sqrt(0.1) * noise
        return theta, theta

    return jax.lax.scan(step, theta, jax.random.split(key, n_steps))[1]


@jax.jit
def sample(key, starts):
    return jax.vmap(langevin_chain, in_axes=(0, 0))(jax.random.split(key, n_chains), starts)


starts = jnp.linspace(-0.5, 0.5, n_chains)[:, None]
draws = sample(jax.random.key(21), starts)[:, 200:, 0]
between = jnp.std(draws[:, -1])
correlation = jnp.corrcoef(draws[0], draws[1])[0, 1]
print(draws.shape)
print(bool(between > 0.3), bool(correlation > 0.9))
print(len({round(float(d), 3) for d in draws[:, -1]}))
