"""Forty small worlds: twenty in which what a control does depends on what was given before, and twenty that show all of it."""
