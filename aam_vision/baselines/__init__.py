"""What others do for the same end, made comparable: learners that this toolkit is measured against."""
