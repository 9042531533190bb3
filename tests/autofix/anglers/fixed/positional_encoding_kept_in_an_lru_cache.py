import jax
import jax.numpy as jnp


def positional_encoding(length, dim):
    position = jnp.arange(length)[:, None]
    rate = jnp.exp(-jnp.arange(0, dim, 2) * (jnp.log(10000.0) / dim))
    return jnp.concatenate([jnp.sin(position * rate), jnp.cos(position * rate)], axis=-1)


def attend(x):
    x = x + positional_encoding(x.shape[0], x.shape[1])
    scores = x @ x.T / jnp.sqrt(x.shape[1])
    return jax.nn.softmax(scores, axis=-1) @ x


@jax.jit
def train_loss(scale, x):
    return jnp.mean(attend(scale * x) ** 2)


@jax.jit
def predict(x):
    return attend(x).mean(axis=0)


sentence = jnp.cos(jnp.arange(24, dtype=jnp.float32)).reshape(6, 4)
print(round(float(train_loss(0.5, sentence)), 3))
print([round(float(v), 3) for v in predict(sentence)])
