(define (problem hand) (:domain hand) (:objects a b c - block h g - hand)
  (:init (free h) (free g) (wet b) (old g) (red a) (red b)) (:goal (holding a)))
