# error: NonConcreteBooleanIndexError
# line: 24
# depends: centers
# fix: any
# result: [[0.1, 0.1], [4.0, 4.0], [0.1, 4.2]] 0.24

import jax
import jax.numpy as jnp


class KMeans:
    def __init__(self, points, k):
        self.points = points
        self.k = k

    def assign(self, centers):
        d2 = jnp.sum((self.points[:, None, :] - centers[None]) ** 2, axis=-1)
        return jnp.argmin(d2, axis=1), d2.min(axis=1).sum()

    def update(self, centers):
        labels, inertia = self.assign(centers)
        new = []
        for j in range(self.k):
            members = self.points[labels == j]
            new.append(members.mean(axis=0))
        return jnp.stack(new), inertia

    def fit(self, centers, iters=6):
        update = jax.jit(self.update)
        for _ in range(iters):
            centers, inertia = update(centers)
        return centers, inertia


points = jnp.array(
    [[0.0, 0.1], [0.2, 0.0], [0.1, 0.3], [4.0, 4.2], [4.1, 3.9], [3.8, 4.0], [0.1, 4.0], [0.0, 4.4]]
)
centers, inertia = KMeans(points, 3).fit(points[jnp.array([0, 3, 6])])
print([[round(v, 1) for v in c] for c in centers.tolist()], round(float(inertia), 2))
