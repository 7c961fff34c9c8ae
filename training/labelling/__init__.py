"""Labels that cost little: pictures of walks, the choice of what to label, rounds of labels and training, and when to stop."""
