import jax
import jax.numpy as jnp


def log_density(x):
    return -0.5 * ((x - 2.0) / 0.7) ** 2


def step(state, key):
    x, accepted = state
    key_move, key_accept = jax.random.split(key)
    proposal = x + 0.8 * jax.random.normal(key_move)
    ratio = jnp.exp(log_density(proposal) - log_density(x))
    accept_prob = jnp.minimum(1.0, ratio)
    take = jax.random.uniform(key_accept) < accept_prob
    x = jnp.where(take, proposal, x)
    return (x, accepted + take), (x, accept_prob)


keys = jax.random.split(jax.random.key(42), 2000)
(last, accepted), (samples, probs) = jax.lax.scan(step, (0.0, 0), keys)
print(int(accepted), round(float(probs.mean()), 3))
print(round(float(samples[200:].mean()), 2), round(float(samples[200:].std()), 2))
