# error: none
# expect: UnusedResultWarning
# jax-differs: jax silently leaves the deck in order
# line: 16
# depends: -
# fix: assign_result
# fixed-file: fixed/unused_permutation.py
# result: (3, 5) False

import jax
import jax.numpy as jnp


def deal(key, players, cards):
    deck = jnp.arange(52)
    jax.random.permutation(key, deck)
    hands = deck[: players * cards].reshape(players, cards)
    return hands % 13, hands // 13


ranks, suits = deal(jax.random.key(8), 3, 5)
print(ranks.shape, bool(jnp.all(ranks.ravel() == jnp.arange(15) % 13)))
