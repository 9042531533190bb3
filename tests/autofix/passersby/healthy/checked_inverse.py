# error: none
# expect: none
# result: identity True ; pivot too small

import jax
import jax.numpy as jnp
from jax.experimental import checkify


def invert2(m):
    det = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    checkify.check(jnp.abs(det) > 1e-6, "pivot too small: {d}", d=det)
    adj = jnp.array([[m[1, 1], -m[0, 1]], [-m[1, 0], m[0, 0]]])
    return adj / det


checked = jax.jit(checkify.checkify(invert2))
good = jnp.array([[2.0, 1.0], [1.0, 3.0]])
bad = jnp.array([[1.0, 2.0], [2.0, 4.0]])

error, inverse = checked(good)
error.throw()
print("identity", bool(jnp.allclose(inverse @ good, jnp.eye(2), atol=1e-5)))

error, _ = checked(bad)
message = error.get()
print(message.split(":")[0].split(" (")[0])
