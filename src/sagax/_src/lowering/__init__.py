"""Lower jaxprs to StableHLO text."""
