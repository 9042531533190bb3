import jax
import jax.numpy as jnp


class EchoStateNetwork:
    def __init__(self, n_in, n_res, key):
        k1, k2 = jax.random.split(key)
        self.w_in = 0.5 * jax.random.normal(k1, (n_res, n_in))
        w = jax.random.normal(k2, (n_res, n_res))
        self.w = 0.9 * w / jnp.max(jnp.abs(jnp.linalg.eigvals(w)))
        self.h = jnp.zeros(n_res)

    def drive(self, h, inputs):
        def cell(h, x):
            h = jnp.tanh(self.w_in @ x + self.w @ h)
            return h, h

        return jax.lax.scan(cell, h, inputs)


esn = EchoStateNetwork(1, 20, jax.random.key(2))
drive = jax.jit(esn.drive)
signal = jnp.sin(jnp.linspace(0.0, 6.0, 60))[:, None]
esn.h, warmup = drive(esn.h, signal[:30])
esn.h, states = drive(esn.h, signal[30:])
print(states.shape, bool(jnp.allclose(states[-1], esn.h)))
