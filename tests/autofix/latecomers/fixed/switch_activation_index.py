# One correct fixed version of switch_activation_index.py
import jax
import jax.numpy as jnp

ACTIVATIONS = (
    lambda x: jnp.maximum(x, 0.0),
    jnp.tanh,
    lambda x: x * jax.nn.sigmoid(x),
)


def activate(which, x):
    return jax.lax.switch(which.astype(jnp.int32), ACTIVATIONS, x)


def genome_forward(genome, x):
    """genome row: [activation code, weight, bias] per layer"""
    def layer(h, gene):
        code, weight, bias = gene[0], gene[1], gene[2]
        return activate(code, weight * h + bias), None

    out, _ = jax.lax.scan(layer, x, genome)
    return out


def fitness(genome, xs, ys):
    pred = jax.vmap(lambda x: genome_forward(genome, x))(xs)
    return -jnp.mean((pred - ys) ** 2)


genomes = jnp.array([
    [[0.0, 1.2, 0.1], [1.0, 0.8, 0.0]],
    [[2.0, 0.5, 0.0], [2.0, 1.5, -0.2]],
    [[1.0, 2.0, 0.3], [0.0, 1.0, 0.0]],
])
xs = jnp.linspace(-1.0, 1.0, 11)
scores = [round(float(fitness(g, xs, jnp.abs(xs))), 4) for g in genomes]
print(scores)
