"""Agents: what can be interrogated, and one decorator per job around them."""
