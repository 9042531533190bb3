# error: ConcretizationTypeError
# line: 22
# depends: lengths
# fix: static_args
# fixed-file: fixed/padding_mask_lengths.py
# result: [0.4, 0.5] ; [0.5, 0.6] ; [0.48, 0.58]

import jax
import jax.numpy as jnp
import numpy as np


def collate(sentences, pad=0):
    longest = max(len(s) for s in sentences)
    ids = np.full((len(sentences), longest), pad, dtype=np.int32)
    for row, s in enumerate(sentences):
        ids[row, :len(s)] = s
    return jnp.asarray(ids), jnp.asarray([len(s) for s in sentences])


def length_mask(lengths):
    positions = jnp.arange(lengths.max())
    return positions[None, :] < lengths[:, None]


@jax.jit
def mean_pool(table, ids, lengths):
    vectors = table[ids]
    mask = length_mask(lengths)[..., None]
    return (vectors * mask).sum(axis=1) / lengths[:, None]


ids, lengths = collate([[1, 2, 3], [4, 1], [2, 2, 3, 4, 1]])
table = jnp.arange(10.0).reshape(5, 2) * 0.1
pooled = mean_pool(table, ids, lengths)
for row in pooled:
    print([round(float(v), 4) for v in row])
