; Two hands, each of which picks up a dry block as often as DRY says and a wet one as often as WET, and always puts it down.
(define (domain hand) (:requirements :typing :probabilistic-effects :conditional-effects) (:types block hand)
  (:predicates (holding ?b - block) (wet ?b - block) (red ?b - block) (free ?h - hand) (old ?h - hand))
  (:action pick :parameters (?b - block ?h - hand) :precondition (free ?h)
    :effect (and (when (wet ?b) (probabilistic WET (and (holding ?b) (not (free ?h)))))
                 (when (not (wet ?b)) (probabilistic DRY (and (holding ?b) (not (free ?h)))))))
  (:action put :parameters (?b - block ?h - hand) :precondition (holding ?b)
    :effect (and (free ?h) (not (holding ?b)))))
