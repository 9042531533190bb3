import jax
import jax.numpy as jnp

RADIUS = 2


def test_image(n=24):
    yy, xx = jnp.mgrid[0:n, 0:n]
    square = ((yy > 6) & (yy < 16) & (xx > 8) & (xx < 18)).astype(jnp.float32)
    return square + 0.01 * jnp.sin(0.7 * xx + 0.3 * yy)


def corner_response(img, k=0.05):
    gy, gx = jnp.gradient(img)
    box = jnp.ones((3, 3)) / 9.0
    blur = lambda a: jax.scipy.signal.convolve2d(a, box, mode="same")
    sxx, syy, sxy = blur(gx * gx), blur(gy * gy), blur(gx * gy)
    return sxx * syy - sxy**2 - k * (sxx + syy) ** 2


def describe(img, corner):
    i, j = corner[0] - RADIUS, corner[1] - RADIUS
    size = 2 * RADIUS + 1
    patch = jax.lax.dynamic_slice(img, (i, j), (size, size))
    patch = patch - patch.mean()
    return (patch / (jnp.linalg.norm(patch) + 1e-6)).ravel()


@jax.jit
def top_descriptors(img):
    inner = corner_response(img)[4:-4, 4:-4]
    _, flat = jax.lax.top_k(inner.ravel(), 4)
    corners = jnp.stack(jnp.unravel_index(flat, inner.shape), axis=1) + 4
    return corners, jax.vmap(lambda corner: describe(img, corner))(corners)


corners, desc = top_descriptors(test_image())
print(desc.shape, sorted(corners.sum(axis=1).tolist()), round(float((desc**2).sum()), 1))
