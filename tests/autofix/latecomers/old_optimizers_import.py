# error: ImportError
# expect: ImportError | ModuleNotFoundError
# line: 12
# depends: -
# fix: renamed_api
# fixed-file: fixed/old_optimizers_import.py
# result: xor learned True

"""MNIST-like toy training with the stax-era optimisers."""
import jax
import jax.numpy as jnp
from jax.experimental import optimizers


def init(key):
    k1, k2 = jax.random.split(key)
    return [0.5 * jax.random.normal(k1, (3, 12)), 0.5 * jax.random.normal(k2, (12, 1))]


def loss(params, x, y):
    w1, w2 = params
    return jnp.mean(((jnp.tanh(x @ w1) @ w2)[:, 0] - y) ** 2)


opt_init, opt_update, get_params = optimizers.adam(1e-2)


@jax.jit
def step(i, state, x, y):
    return opt_update(i, jax.grad(loss)(get_params(state), x, y), state)


x = jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
y = jnp.array([0.0, 1.0, 1.0, 0.0])
state = opt_init(init(jax.random.key(0)))
for i in range(800):
    state = step(i, state, x, y)
print("xor learned", bool(loss(get_params(state), x, y) < 0.1))
