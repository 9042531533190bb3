# One correct fixed version of bool_token_in_list.py
import jax
import jax.numpy as jnp

PAD, BOS, EOS = 0, 1, 2
SPECIAL = [PAD, BOS, EOS]


def token_weight(token, idf):
    special = jnp.isin(token, jnp.array(SPECIAL))
    return jnp.where(special, 0.0, idf[token])


@jax.jit
def score_document(tokens, idf):
    weights = jax.vmap(token_weight, in_axes=(0, None))(tokens, idf)
    return weights.sum() / tokens.shape[0]


idf = jnp.array([0.1, 0.1, 0.1, 1.5, 2.0, 4.0])
print(round(float(score_document(jnp.array([1, 4, 3, 5, 2, 0]), idf)), 4))
