# error: ValueError
# line: 23
# also-line: 22
# depends: -
# fix: any
# result: [0.39500001072883606, 0.36500000953674316, 0.12700000405311584, 0.12200000882148743]

import jax
import jax.numpy as jnp


def render(origin, direction, field):
    depths = jnp.linspace(0.5, 2.0, 4)
    samples = origin + depths[:, None] * direction
    density = jax.nn.softplus(samples @ field["slope"] + field["shift"])
    return jnp.exp(-density.mean())


field = {"slope": jnp.array([0.5, -0.2, 0.1]), "shift": jnp.array(0.3)}
origins = jnp.zeros((4, 3)).at[:, 0].set(jnp.arange(4.0))
directions = jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.6, 0.8, 0.0]])
opacity = jax.vmap(render, in_axes=(0, 0))
print(opacity(origins, directions, field).round(3).tolist())
