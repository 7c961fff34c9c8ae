"""Memory: the smallest addition to a STRIPS model that explains what an agent does after different histories."""
