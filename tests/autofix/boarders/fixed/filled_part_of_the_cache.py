import jax
import jax.numpy as jnp


def decode_step(carry, token_vector):
    keys, values, position = carry
    keys = keys.at[position].set(token_vector)
    values = values.at[position].set(2.0 * token_vector)
    scores = keys @ token_vector / jnp.sqrt(token_vector.size)
    scores = jnp.where(jnp.arange(keys.shape[0]) <= position, scores, -jnp.inf)
    weights = jax.nn.softmax(scores)
    attended = weights @ values
    return (keys, values, position + 1), attended


@jax.jit
def decode(tokens):
    length, width = tokens.shape
    start = (jnp.zeros((length, width)), jnp.zeros((length, width)), 0)
    return jax.lax.scan(decode_step, start, tokens)[1]


tokens = jnp.array([[0.2, 1.0], [-1.0, 0.5], [0.7, 0.7], [1.5, -0.3]])
print(decode(tokens).round(3).tolist())
