"""Proofs that no further query could tell anything new: without one no result is called complete."""
