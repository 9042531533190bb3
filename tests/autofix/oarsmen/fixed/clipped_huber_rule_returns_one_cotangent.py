import jax
import jax.numpy as jnp

DELTA = 1.0


@jax.custom_vjp
def huber(pred, target):
    r = pred - target
    quad = jnp.minimum(jnp.abs(r), DELTA)
    return jnp.sum(0.5 * quad**2 + DELTA * (jnp.abs(r) - quad))


def huber_fwd(pred, target):
    return huber(pred, target), pred - target


def huber_bwd(residual, g):
    d = g * jnp.clip(residual, -DELTA, DELTA)
    return d, -d


huber.defvjp(huber_fwd, huber_bwd)


def predict(params, x):
    return params["slope"] * x + params["intercept"]


def fit(x, y, steps=400, lr=0.02):
    params = {"slope": 0.0, "intercept": 0.0}
    grad = jax.jit(jax.grad(lambda p: huber(predict(p, x), y)))
    for _ in range(steps):
        g = grad(params)
        params = {name: params[name] - lr * g[name] for name in params}
    return params


x = jnp.linspace(-1.0, 1.0, 21)
y = (3.0 * x + 1.0).at[4].set(25.0).at[15].set(-30.0)
params = fit(x, y)
print({name: round(float(v), 1) for name, v in params.items()})
