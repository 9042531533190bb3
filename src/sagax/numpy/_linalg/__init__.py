"""Implement sagax.numpy.linalg: products, factors, systems, norms."""
