; The words in which objectives of the kitchen's cooks are told.
(define (domain kitchen) (:requirements :typing) (:types pot)
  (:predicates (filled ?p - pot) (cooked ?p - pot) (has-onion) (has-dish) (served) (wet)))
