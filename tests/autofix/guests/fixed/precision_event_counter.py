# One correct fixed version of precision_event_counter.py
import jax
import jax.numpy as jnp


@jax.jit
def count_events(count, hits):
    def add(count, hit):
        return count + jnp.where(hit, 1, 0), None

    count, _ = jax.lax.scan(add, count, hits)
    return count


count = jnp.array(16_777_210)
hits = jnp.ones(20, dtype=bool)
print(int(count_events(count, hits)))
