"""Define errors as data: raised as facts, explained on demand, rendered in one layout."""
