"""Conclusions from answers that may be wrong: error rates, posteriors and goodness of fit."""
