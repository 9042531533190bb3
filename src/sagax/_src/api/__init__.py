"""The public transformations: argument handling and caches."""
