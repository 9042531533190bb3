"""Compare sagax with JAX: the same functions on both, measured in turns in one run."""
