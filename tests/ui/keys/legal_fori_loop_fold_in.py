import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    lax.fori_loop(0, 3, lambda i, x: x + random.normal(random.fold_in(key, i)), 0.0)
