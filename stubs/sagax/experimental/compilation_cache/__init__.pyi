"""Provide `compilation_cache`, which manages the cache of executables on disk."""
