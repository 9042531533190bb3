# error: none
# expect: StaleValueWarning
# line: 20
# depends: -
# fix: pass_argument
# result: 9.412001 ; 9.904

import jax


class Physics:
    gravity = 9.8


physics = Physics()


def body(state, _):
    x, v = state
    v = v - 0.1 * physics.gravity
    return (x + 0.1 * v, v), x


@jax.jit
def fall(x, v):
    return jax.lax.scan(body, (x, v), None, length=3)


print(fall(10.0, 0.0)[0][0].round(3))
physics.gravity = 1.6
print(fall(10.0, 0.0)[0][0].round(3))
