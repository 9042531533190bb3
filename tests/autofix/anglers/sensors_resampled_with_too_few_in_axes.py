# error: ValueError
# line: 27
# also-line: 28
# depends: -
# fix: any
# result: (3, 6) ; [-0.3890000283718109, -1.3890000581741333, -1.055999994277954, -0.3890000283718109, 0.6110000014305115, 2.6110000610351562] ; [1.0, -0.3400000035762787, -0.8499999642372131]

import jax
import jax.numpy as jnp

clock = jnp.array([0.0, 1.0, 2.5, 4.0, 5.0])
readings = jnp.array(
    [
        [20.0, 21.0, 22.5, 21.5, 20.5],
        [5.0, 4.0, 4.5, 6.0, 8.0],
        [1.0, 0.5, 0.0, 0.5, 1.5],
    ]
)


def resample(new_times, times, values):
    smooth = jnp.interp(new_times, times, values)
    return smooth - smooth.mean()


new_times = jnp.linspace(0.0, 5.0, 6)
resample_all = jax.jit(jax.vmap(resample, in_axes=(None, 0)))
aligned = resample_all(new_times, clock, readings)
print(aligned.shape)
print(aligned[1].round(3).tolist())
print(jnp.corrcoef(aligned).round(2)[0].tolist())
