"""Networks of haiku: state, dropout, recurrent, attention, stacked and rematerialised layers."""

import json

import haiku as hk
import jax
import jax.numpy as jnp
import optax

x = jax.random.normal(jax.random.PRNGKey(0), (8, 4))
sequence = jnp.ones((5, 2, 3))


def network(x):
    x = hk.BatchNorm(True, True, 0.9)(hk.Linear(16)(x), is_training=True)
    x = hk.dropout(hk.next_rng_key(), 0.1, jax.nn.relu(x))
    return hk.Linear(3)(x)


def trained():
    model = hk.transform_with_state(network)
    params, state = model.init(jax.random.PRNGKey(1), x)
    optimizer = optax.sgd(0.1)
    memory = optimizer.init(params)

    @jax.jit
    def step(params, state, memory, key):
        def loss(params):
            out, new = model.apply(params, state, key, x)
            return (out**2).mean(), new

        (value, state_), gradient = jax.value_and_grad(loss, has_aux=True)(params)
        updates, memory = optimizer.update(gradient, memory)
        return optax.apply_updates(params, updates), state_, memory, value

    losses = []
    for key in jax.random.split(jax.random.PRNGKey(2), 5):
        params, state, memory, value = step(params, state, memory, key)
        losses.append(float(value))
    return losses


def of(f, x):
    model = hk.transform(f)
    return model.apply(model.init(jax.random.PRNGKey(3), x), None, x)


def recurrent(x):
    cell = hk.LSTM(6)
    return hk.dynamic_unroll(cell, x, cell.initial_state(2))[0]


def attention(q):
    init = hk.initializers.VarianceScaling(1.0)
    return hk.MultiHeadAttention(2, 4, w_init=init)(q, q, q)


found = {
    "losses": trained(),
    "recurrent": of(recurrent, sequence).tolist(),
    "attention": of(attention, sequence).tolist(),
    "convolution": of(lambda q: hk.Conv2D(3, 3)(q), jnp.ones((1, 6, 6, 2))).tolist(),
    "stacked": of(lambda q: hk.layer_stack(3)(lambda z: hk.Linear(3)(z))(q), sequence).tolist(),
    "remat": of(lambda q: hk.remat(lambda z: hk.Linear(3)(z))(q), sequence).tolist(),
}
print(json.dumps(found))
