"""Define first-order primitives: one file a family, with all rules of a primitive together."""
