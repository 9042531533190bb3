"""Finding random keys that are used twice, while `debug_key_reuse` is on."""
