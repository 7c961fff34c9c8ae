"""Probabilities of the open questions: they order the queries and never decide anything."""
