"""Modules of equinox: trained by optax, with state, attention, recurrent, checked."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def trained():
    model = eqx.nn.MLP(4, 2, 16, 2, key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (32, 4))
    y = jnp.stack([x.sum(1), (x**2).sum(1)], 1)
    optimizer = optax.adam(1e-2)
    state = optimizer.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_value_and_grad
    def loss(model, x, y):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    @eqx.filter_jit
    def step(model, state, x, y):
        value, gradient = loss(model, x, y)
        updates, state = optimizer.update(gradient, state, eqx.filter(model, eqx.is_array))
        return eqx.apply_updates(model, updates), state, value

    losses = []
    for _ in range(10):
        model, state, value = step(model, state, x, y)
        losses.append(float(value))
    return losses


class Normed(eqx.Module):
    linear: eqx.nn.Linear
    norm: eqx.nn.BatchNorm

    def __init__(self, key):
        self.linear = eqx.nn.Linear(4, 3, key=key)
        self.norm = eqx.nn.BatchNorm(3, axis_name="batch", mode="ema")

    def __call__(self, x, state):
        return self.norm(self.linear(x), state)


def with_state():
    model, state = eqx.nn.make_with_state(Normed)(jax.random.key(3))
    x = jax.random.normal(jax.random.key(1), (8, 4))
    mapped = jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
    out, state = mapped(x, state)
    return out.tolist()


def recurrent():
    cell = eqx.nn.GRUCell(4, 6, key=jax.random.key(6))
    x = jax.random.normal(jax.random.key(1), (9, 4))
    return jax.lax.scan(lambda c, z: (cell(z, c), None), jnp.zeros(6), x)[0].tolist()


@eqx.filter_jit
def root(x):
    return jnp.sqrt(eqx.error_if(x, x < 0, "must not be negative"))


def refused():
    try:
        root(jnp.array(-4.0))
    except RuntimeError as error:
        return "must not be negative" in str(error)
    return False


attention = eqx.nn.MultiheadAttention(2, 8, key=jax.random.key(4))
q = jax.random.normal(jax.random.key(5), (5, 8))
convolution = eqx.nn.Conv2d(1, 3, 4, key=jax.random.key(2))
print(
    json.dumps(
        {
            "losses": trained(),
            "with state": with_state(),
            "attention": attention(q, q, q).tolist(),
            "convolution": convolution(jnp.ones((1, 8, 8))).tolist(),
            "recurrent": recurrent(),
            "checked": [float(root(jnp.array(4.0))), float(refused())],
        }
    )
)
