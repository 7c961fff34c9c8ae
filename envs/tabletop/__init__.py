"""A robot arm on a table, seen by a camera: blocks, a ball and a piece of steel in MuJoCo's physics.

The modules, in the order in which they build on each other: `layouts` (what stands where), `mjcf` (the scene as MuJoCo
reads it), `world` (the physics, the arm and what it can do), `skills` (how it does it), `drawing` (the camera) and `environment`
(Gymnasium's, and what ``--env tabletop`` needs).
"""
