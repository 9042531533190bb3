# error: TypeError
# line: 31
# depends: -
# fix: pytree_register
# fixed-file: fixed/camera_unregistered.py
# result: velocity [2.03, -0.96] ; last [38.14, 11.2]

"""Track a target with an alpha-beta filter."""
import jax
import jax.numpy as jnp


class Track:
    def __init__(self, pos, vel):
        self.pos = pos
        self.vel = vel

    def predict(self, dt):
        return Track(self.pos + dt * self.vel, self.vel)

    def correct(self, z, alpha, beta, dt):
        r = z - self.pos
        return Track(self.pos + alpha * r, self.vel + beta / dt * r)


def follow(track, measurements, alpha=0.5, beta=0.1, dt=1.0):
    def update(track, z):
        track = track.predict(dt).correct(z, alpha, beta, dt)
        return track, track.pos

    return jax.lax.scan(update, track, measurements)


t = jnp.arange(20.0)
measured = jnp.stack([2.0 * t, 30.0 - t], axis=1) + 0.3 * jnp.sin(5 * t)[:, None]
track, path = follow(Track(jnp.zeros(2), jnp.zeros(2)), measured)
print("velocity", [round(float(v), 2) for v in track.vel])
print("last", [round(float(p), 2) for p in path[-1]])
