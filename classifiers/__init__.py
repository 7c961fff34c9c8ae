"""From pixels to symbolic states: the board in the image, one classifier per concept, identity by tracking."""
