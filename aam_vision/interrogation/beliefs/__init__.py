"""How probable the open questions are: probabilities that order the queries and never decide anything."""
