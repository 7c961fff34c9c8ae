"""Query policies: how the next move follows from the evidence (paper: "Query policies")."""
