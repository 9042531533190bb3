# error: TypeError
# line: 24
# depends: -
# fix: any
# result: {'bias': -0.68, 'slope': 1.79} ; 0.36

import jax
import jax.numpy as jnp

x = jnp.linspace(-2.0, 2.0, 20)
y = (jnp.sin(5.0 * x) + x > 0.3).astype(jnp.float32)


def loss(params):
    logits = params["slope"] * x + params["bias"]
    nll = jnp.mean(jnp.logaddexp(0.0, logits) - y * logits)
    return nll + 0.01 * (params["slope"] ** 2 + params["bias"] ** 2)


@jax.jit
def newton(params):
    g = jax.grad(loss)(params)
    H = jax.hessian(loss)(params)
    step = jnp.linalg.solve(H, g)
    return jax.tree.map(lambda p, s: p - s, params, step)


params = {"slope": jnp.array(0.0), "bias": jnp.array(0.0)}
for _ in range(5):
    params = newton(params)
print({k: round(float(v), 2) for k, v in params.items()})
print(round(float(loss(params)), 3))
