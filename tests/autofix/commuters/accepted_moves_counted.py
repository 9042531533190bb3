# error: TypeError
# line: 21
# depends: -
# fix: any
# result: (40, 2) 25.0 [-0.6470000147819519, -2.825000047683716]

import jax
import jax.numpy as jnp


def log_density(x):
    return -0.5 * jnp.sum(x**2)


def move(chain, noise):
    place, accepted = chain
    proposal = place + 0.8 * noise[:2]
    ratio = jnp.exp(log_density(proposal) - log_density(place))
    take = ratio > noise[2]
    place = jnp.where(take, proposal, place)
    return (place, accepted + take.astype(jnp.float32)), place


noises = jax.random.normal(jax.random.key(3), (40, 3))
(last, accepted), path = jax.lax.scan(move, (jnp.zeros(2), jnp.zeros((), int)), noises)
print(path.shape, float(accepted), last.round(3).tolist())
