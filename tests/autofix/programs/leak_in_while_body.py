# error: UnexpectedTracerError
# line: 15
# depends: s
# fix: callback
# result: 12.0 ; 13.0

import jax


class Registry:
    last = None

    @classmethod
    def note(cls, value):
        cls.last = value


def double(x):
    def body(s):
        y, i = s
        Registry.note(y * 2)
        return y * 2, i + 1

    return jax.lax.while_loop(lambda s: s[1] < 3, body, (x, 0))[0]


print(jax.jit(double)(1.5))
print(Registry.last + 1)
