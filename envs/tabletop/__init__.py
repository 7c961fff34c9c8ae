"""A robot arm on a table, seen by a camera: blocks, a ball and a piece of steel in MuJoCo's physics.

The modules, in the order in which they build on each other: `layouts` (what stands where), `mjcf` (the scene as MuJoCo
reads it), `world` (the physics and its snapshots), `arm` (motion), `geometry` (rays and distances), `hand` (what the fingers
feel), `motion_check` and `skills` (what can be done, and how), `drawing` (the camera), `truth` (predicates, for labels and
evaluation only), `environment` (Gymnasium's) and `domain` (what ``--env tabletop`` needs).
"""
