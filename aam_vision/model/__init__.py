"""What the world of an agent is made of, in the field's terms: states, actions, models and queries, and their PDDL."""
