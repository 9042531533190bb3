"""Ground states of netket: an Ising chain by exact sums and by samples, with natural gradients and observables."""

import json
import warnings

import jax
import netket as nk
import numpy as np

warnings.filterwarnings("ignore")
found = {}
graph = nk.graph.Chain(length=6, pbc=True)
hilbert = nk.hilbert.Spin(s=1 / 2, N=graph.n_nodes)
ising = nk.operator.IsingJax(hilbert=hilbert, graph=graph, h=0.8)
found["exact"] = np.asarray(nk.exact.lanczos_ed(ising)).tolist()

model = nk.models.RBM(alpha=1, param_dtype=float)
state = nk.vqs.FullSumState(hilbert, model, seed=1)
energy, gradient = state.expect_and_grad(ising)
found["energy"] = [float(np.real(energy.mean)), float(np.real(energy.variance))]
found["gradient"] = [float(np.linalg.norm(x)) for x in jax.tree.leaves(gradient)]
driver = nk.VMC(
    ising,
    nk.optimizer.Sgd(0.05),
    variational_state=state,
    preconditioner=nk.optimizer.SR(diag_shift=0.01),
)
driver.run(5, show_progress=False)
found["after natural gradients"] = [float(np.real(state.expect(ising).mean))]

sampler = nk.sampler.MetropolisLocal(hilbert, n_chains=8)
sampled = nk.vqs.MCState(sampler, model, n_samples=64, seed=2, sampler_seed=3)
found["samples"] = np.asarray(sampled.samples).sum((0, 1)).astype(float).tolist()
found["estimate"] = [float(np.real(sampled.expect(ising).mean))]
magnet = sum(nk.operator.spin.sigmax(hilbert, i) for i in range(6)) / 6
found["magnetization"] = [float(np.real(sampled.expect(magnet).mean))]
driver = nk.VMC(
    ising,
    nk.optimizer.Adam(0.02),
    variational_state=sampled,
    preconditioner=nk.optimizer.SR(diag_shift=0.1),
)
driver.run(2, show_progress=False)
found["parameters"] = [float(np.sum(x)) for x in jax.tree.leaves(sampled.parameters)]

driver = nk.driver.VMC_SR(ising, nk.optimizer.Sgd(0.02), variational_state=sampled, diag_shift=0.1)
driver.run(2, show_progress=False)
found["after the driver's own"] = [float(np.sum(x)) for x in jax.tree.leaves(sampled.parameters)]

exact = nk.vqs.MCState(nk.sampler.ExactSampler(hilbert), nk.models.Jastrow(), n_samples=32, seed=4)
found["jastrow"] = [float(np.real(exact.expect(ising).mean))]
print(json.dumps(found))
