; A hand that picks up a block at times (DRY: how often), and always puts it down.
(define (domain hand) (:requirements :typing :probabilistic-effects) (:types block)
  (:predicates (holding ?b - block) (free))
  (:action pick :parameters (?b - block) :precondition (free)
    :effect (probabilistic DRY (and (holding ?b) (not (free)))))
  (:action put :parameters (?b - block) :precondition (holding ?b) :effect (and (free) (not (holding ?b)))))
