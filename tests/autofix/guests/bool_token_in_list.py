# error: TracerBoolConversionError
# line: 16
# depends: token
# fix: isin
# fixed-file: fixed/bool_token_in_list.py
# result: 1.25

import jax
import jax.numpy as jnp

PAD, BOS, EOS = 0, 1, 2
SPECIAL = [PAD, BOS, EOS]


def token_weight(token, idf):
    if token in SPECIAL:
        return 0.0
    return idf[token]


@jax.jit
def score_document(tokens, idf):
    weights = jax.vmap(token_weight, in_axes=(0, None))(tokens, idf)
    return weights.sum() / tokens.shape[0]


idf = jnp.array([0.1, 0.1, 0.1, 1.5, 2.0, 4.0])
print(round(float(score_document(jnp.array([1, 4, 3, 5, 2, 0]), idf)), 4))
