"""From jaxprs to StableHLO text."""
