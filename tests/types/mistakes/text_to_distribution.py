"""A distribution is evaluated at a text."""

from sagax.scipy.stats import norm

print(norm.logpdf("0.5"))  # expect-error
