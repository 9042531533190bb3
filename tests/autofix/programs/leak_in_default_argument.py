# error: UnexpectedTracerError
# line: 13
# depends: x
# fix: callback
# result: [0.21 0.21 0.21] ; [1.3808 1.3808 1.3808]
# grade: ran
import jax
import jax.numpy as jnp


def smooth(x, history=[]):
    y = jnp.tanh(x) * 0.5
    history.append(y)
    return y.sum()


def objective(x):
    return jax.grad(smooth)(x)


print(jax.jit(objective)(jnp.ones(3)).round(4))
print((smooth.__defaults__[0][0] + 1.0).round(4))
