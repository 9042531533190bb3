# error: none
# expect: none
# result: building integrator for shape (3,) ; bounded True

"""Explicit midpoint integrator that says when it is (re)built."""
import jax
import jax.numpy as jnp


def lorenz(s):
    x, y, z = s
    return jnp.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])


def make_integrator(field, dt, steps):
    @jax.jit
    def integrate(state):
        print("building integrator for shape", state.shape)

        def body(s, _):
            mid = s + 0.5 * dt * field(s)
            return s + dt * field(mid), None

        return jax.lax.scan(body, state, length=steps)[0]

    return integrate


integrate = make_integrator(lorenz, 0.005, 100)
s = jnp.array([1.0, 1.0, 1.0])
for _ in range(3):
    s = integrate(s)
print("bounded", bool(jnp.abs(s).max() < 60.0))
