"""Fuzzing of everything that strangers may send."""
