# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently clamps the index to the last branch
# line: 20
# depends: kind
# fix: index_range
# fixed-file: fixed/activation_number_too_large.py
# result: 1.0818
# family: 2/index-out-of-bounds

import jax
import jax.numpy as jnp

# genes are numbered from 1 in the files
ACTIVATIONS = (jnp.tanh, jax.nn.relu, jnp.sin)


@jax.jit
def activate(kind, x):
    return jax.lax.switch(kind, ACTIVATIONS, x)


@jax.jit
def express(genes, x):
    def layer(x, gene):
        return activate(gene, x * 1.5), None

    x, _ = jax.lax.scan(layer, x, genes)
    return x


print(round(float(express(jnp.array([1, 3, 2]), jnp.array(0.4))), 4))
