"""Plans over discovered operators, given to an agent as controls and watched step by step.

``tasks`` finds or checks a plan, ``watching`` carries it out, ``film`` keeps the images.
"""
