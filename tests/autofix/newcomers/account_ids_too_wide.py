# error: none
# expect: DtypeTruncationWarning | IntegerOverflowWarning | OverflowError
# jax-differs: jax silently wraps the wide identifiers
# line: 25
# depends: -
# fix: enable_x64
# result: {700000009: 4.0, 1200000001: 2.0, 3000000007: 6.5}

import jax
import jax.numpy as jnp
import numpy as np

trades = np.array(
    [(3_000_000_007, 5.0), (1_200_000_001, 2.0), (3_000_000_007, 1.5), (700_000_009, 4.0)],
    dtype=[("account", np.int64), ("amount", np.float32)],
)


def volume_by_account(accounts, amounts):
    unique, inverse = jnp.unique(accounts, return_inverse=True)
    volume = jax.ops.segment_sum(amounts, inverse, num_segments=len(unique))
    return dict(zip(unique.tolist(), volume.tolist()))


accounts = jnp.asarray(trades["account"])
volumes = volume_by_account(accounts, jnp.asarray(trades["amount"]))
print(volumes)
