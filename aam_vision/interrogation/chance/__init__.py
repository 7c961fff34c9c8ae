"""Learning what an agent does that has chance: under which conditions, with which outcomes, how often, how sure."""
