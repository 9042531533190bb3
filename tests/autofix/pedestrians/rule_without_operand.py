# error: TypeError
# expect: TypeError
# line: 20
# also-line: 15, 18
# depends: -
# fix: parameter
# result: [2.0, 4.0, 8.0] ; [4.0, 5.0, 7.0] ; [0.0, 0.0, 0.0]

import jax
import jax.numpy as jnp


@jax.jit
def advance(rule, level):
    rules = [
        lambda level: level * 2.0,
        lambda level: level + 3.0,
        lambda: jnp.zeros(3),
    ]
    return jax.lax.switch(rule, rules, level)


for rule in range(3):
    print(advance(rule, jnp.array([1.0, 2.0, 4.0])).tolist())
