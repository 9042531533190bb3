# error: none
# expect: OutOfBoundsIndexWarning
# line: 18
# depends: -
# fix: any
# result: [0.9380000233650208, 0.5509999990463257, 0.2930000126361847, 0.3920000195503235, 0.7690000534057617, 1.058000087738037] ; 4.0 4.0

import jax
import jax.numpy as jnp

N = 6
cells = jnp.arange(N)


@jax.jit
def diffuse(u):
    def ring_laplacian(i):
        return u[i - 1] - 2.0 * u[i] + u[i + 1]

    return u + 0.2 * jax.vmap(ring_laplacian)(cells)


u = jnp.array([1.0, 0.0, 0.0, 0.0, 0.0, 3.0])
total = float(u.sum())
for _ in range(5):
    u = diffuse(u)
print(u.round(3).tolist())
print(round(total, 3), round(float(u.sum()), 3))
