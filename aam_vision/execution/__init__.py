"""Plans over discovered operators, given to an agent as controls and watched step by step.

``mapping`` reads ``controls.json``, ``tasks`` finds or checks a plan, ``watching`` carries it out.
"""
