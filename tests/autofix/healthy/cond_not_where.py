import jax
import jax.numpy as jnp


def safe_sqrt(x):
    return jax.lax.cond(x > 0, jnp.sqrt, lambda x: 0.0 * x, x)


@jax.jit
def cost(x):
    return safe_sqrt(x) + safe_sqrt(x - 1.0)


values = [0.25, 1.0, 5.0]
print([round(float(cost(v)), 4) for v in values])
print([round(float(jax.grad(cost)(v)), 4) for v in values])

operand = jnp.arange(4.0)
branches = (lambda x: x, lambda x: -x, jnp.square)
outs = [jax.lax.switch(i, branches, operand) for i in range(3)]
print([o.tolist()[-1] for o in outs])
