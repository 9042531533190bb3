"""The parts of sagax.numpy.linalg: products, factors (and eigenvalues), systems of equations, norms."""
