# error: KeyReuseError
# line: 16
# also-line: 15
# depends: -
# fix: split_key
# result: (2,)
# grade: ran
import jax

class Env:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def observe(self):
        noise = jax.random.normal(self.key, (2,))
        drop = jax.random.bernoulli(self.key, 0.5, (2,))
        return noise * drop

print(Env(1).observe().shape)
