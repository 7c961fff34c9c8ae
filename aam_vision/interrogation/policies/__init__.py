"""Query policies: how the next question is chosen."""
