"""Policies that are told an objective."""
