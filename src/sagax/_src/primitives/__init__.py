"""First-order primitives, one file a family, all rules of a primitive side by side."""
