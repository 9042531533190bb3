"""The cache of compiled programs on disk: see `compilation_cache`."""
