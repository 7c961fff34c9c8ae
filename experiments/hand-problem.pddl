(define (problem hand) (:domain hand) (:objects a b - block) (:init (free)) (:goal (holding a)))
