"""Tell the version of jaxlib; older jax had functions of the compiler here."""
