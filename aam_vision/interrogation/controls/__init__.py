"""Environments whose controls are all that is known: which operators they carry out is found out here."""
