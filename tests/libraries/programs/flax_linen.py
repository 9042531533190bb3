"""A network with batch norm and dropout trained by optax; recurrent, convolutional, lifted modules."""

import json

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class MLP(nn.Module):
    features: tuple

    @nn.compact
    def __call__(self, x, train=False):
        for f in self.features[:-1]:
            x = nn.Dense(f)(x)
            x = nn.BatchNorm(use_running_average=not train)(x)
            x = nn.Dropout(0.1, deterministic=not train)(nn.relu(x))
        return nn.Dense(self.features[-1])(x)


def trained():
    model = MLP((16, 16, 3))
    x = jax.random.normal(jax.random.key(0), (32, 8))
    y = jax.random.randint(jax.random.key(2), (32,), 0, 3)
    variables = model.init(jax.random.key(1), x)
    params, stats = variables["params"], variables["batch_stats"]
    optimizer = optax.adam(1e-2)
    state = optimizer.init(params)

    @jax.jit
    def step(params, stats, state, key):
        def loss(p):
            out, updated = model.apply(
                {"params": p, "batch_stats": stats},
                x,
                True,
                rngs={"dropout": key},
                mutable=["batch_stats"],
            )
            losses = optax.softmax_cross_entropy_with_integer_labels(out, y)
            return losses.mean(), updated

        (value, updated), gradient = jax.value_and_grad(loss, has_aux=True)(params)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), updated["batch_stats"], state, value

    key, losses = jax.random.key(5), []
    for _ in range(10):
        key, sub = jax.random.split(key)
        params, stats, state, value = step(params, stats, state, sub)
        losses.append(float(value))
    return losses


class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.RNN(nn.LSTMCell(12))(x)


class Convolutional(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.LayerNorm()(nn.Conv(8, (3, 3))(x))
        x = nn.GroupNorm(4)(nn.max_pool(x, (2, 2), (2, 2)))
        x = x.reshape(x.shape[0], -1, 8)
        x = nn.MultiHeadDotProductAttention(num_heads=2)(x, x)
        return nn.Dense(2)(x.mean(1))


class Block(nn.Module):
    @nn.compact
    def __call__(self, carry, _):
        return nn.tanh(nn.Dense(6)(carry)), None


class Deep(nn.Module):
    @nn.compact
    def __call__(self, x):
        layers = nn.scan(
            nn.remat(Block), variable_axes={"params": 0}, split_rngs={"params": True}, length=5
        )
        return layers()(x, None)[0]


def of(model, x):
    return model.init_with_output(jax.random.key(3), x)[0].tolist()


mapped = nn.vmap(nn.Dense, in_axes=0, variable_axes={"params": 0}, split_rngs={"params": True})
print(
    json.dumps(
        {
            "losses": trained(),
            "recurrent": of(Recurrent(), jnp.ones((2, 7, 5))),
            "convolutional": of(
                Convolutional(), jax.random.normal(jax.random.key(4), (2, 8, 8, 3))
            ),
            "scanned": of(Deep(), jnp.ones((2, 6))),
            "mapped": of(mapped(4), jnp.ones((3, 2, 6))),
        }
    )
)
