import jax
import jax.numpy as jnp


def rk4(f, y, t, dt):
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt / 2 * k1)
    k3 = f(t + dt / 2, y + dt / 2 * k2)
    k4 = f(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def lotka_volterra(rates):
    def f(t, y):
        prey, hunters = y
        return jnp.stack([prey * (rates[0] - hunters), hunters * (prey - rates[1])])

    return f


@jax.jit
def trajectory(rates, y0, times):
    def step(y, t):
        y = rk4(lotka_volterra(rates), y, t, 0.05)
        return y, y

    return jax.lax.scan(step, y0, times)[1]


times = jnp.arange(120) * 0.05
path = trajectory(jnp.array([1.0, 0.8]), jnp.array([0.5, 0.5]), times)
slope = jax.grad(lambda r: trajectory(r, jnp.array([0.5, 0.5]), times)[-1, 0])(
    jnp.array([1.0, 0.8])
)
print(path.shape, bool(jnp.all(path > 0)), bool(jnp.all(jnp.isfinite(slope))))
