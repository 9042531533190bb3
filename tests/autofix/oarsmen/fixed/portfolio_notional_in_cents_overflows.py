import jax
import jax.numpy as jnp
import numpy as np

holdings = {
    "AAA": {"shares": np.array([12_000, 30_500]), "cents": np.array([18_250, 41_105])},
    "BBB": {"shares": np.array([250_000, 4_000]), "cents": np.array([31_499, 10_275])},
    "CCC": {"shares": np.array([900, 75_000]), "cents": np.array([99_900, 22_010])},
}


def notional(lot):
    return jnp.sum(lot["shares"].astype(jnp.float32) * lot["cents"])


@jax.jit
def exposures(book):
    values = jnp.stack([notional(lot) for lot in book.values()])
    dollars = values / 100.0
    return dollars, dollars / dollars.sum()


book = jax.tree.map(jnp.asarray, holdings)
dollars, weights = exposures(book)
print([round(d / 1e6, 2) for d in dollars.tolist()], [round(w, 2) for w in weights.tolist()])
