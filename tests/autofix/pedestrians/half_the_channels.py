# error: TypeError
# expect: TypeError
# line: 14
# depends: -
# fix: shape
# result: [[-0.5960000157356262, -1.0760000944137573, -1.5000001192092896], [0.9820000529289246, 1.9870001077651978, 2.993000030517578]]

import jax
import jax.numpy as jnp


@jax.jit
def gated_unit(signal):
    pairs = signal.reshape(signal.shape[0], 2, signal.shape[1] / 2)
    return pairs[:, 0] * jax.nn.sigmoid(pairs[:, 1])


print(gated_unit(jnp.arange(12.0).reshape(2, 6) - 5).round(3).tolist())
