"""Planning: grounding from the facts outwards, mutexes, and planners behind one protocol."""
