# error: none
# expect: none
# result: int8 (2, 8) ; within True

"""Post-training int8 quantisation of a weight matrix."""
import jax
import jax.numpy as jnp


@jax.jit
def quantise(w):
    scale = jnp.max(jnp.abs(w), axis=0, keepdims=True) / 127.0
    q = jnp.clip(jnp.round(w / scale), -127, 127).astype(jnp.int8)
    return q, scale


@jax.jit
def matmul_int8(xq, xs, wq, ws):
    acc = jax.lax.dot(xq, wq, preferred_element_type=jnp.int32)
    return acc.astype(jnp.float32) * xs * ws


w = jnp.sin(jnp.arange(64.0) * 0.37).reshape(8, 8)
x = jnp.cos(jnp.arange(16.0) * 0.91).reshape(2, 8)
wq, ws = quantise(w)
xq_t, xs = quantise(x.T)
approx = matmul_int8(xq_t.T, xs.T, wq, ws)
error = jnp.abs(approx - x @ w).max()
print(wq.dtype, approx.shape)
print("within", bool(error < 0.05))
