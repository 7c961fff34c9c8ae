; One hand rearranges towers of blocks on a table.
(define (domain blocks)
  (:requirements :strips :typing)
  (:types block - object)
  (:predicates
    (on ?block1 - block ?block2 - block)
    (ontable ?block - block)
    (clear ?block - block)
    (handempty)
    (holding ?block - block))

  ; lift a clear block off the table
  (:action pick-up
    :parameters (?x - block)
    :precondition (and (ontable ?x) (clear ?x) (handempty))
    :effect (and (holding ?x) (not (ontable ?x)) (not (clear ?x)) (not (handempty))))

  ; lay the held block on the table
  (:action put-down
    :parameters (?x - block)
    :precondition (holding ?x)
    :effect (and (ontable ?x) (clear ?x) (handempty) (not (holding ?x))))

  ; lay the held block on a clear one
  (:action stack
    :parameters (?x ?y - block)
    :precondition (and (clear ?y) (holding ?x))
    :effect (and (on ?x ?y) (clear ?x) (handempty) (not (clear ?y)) (not (holding ?x))))

  ; lift the topmost block off another
  (:action unstack
    :parameters (?x ?y - block)
    :precondition (and (on ?x ?y) (clear ?x) (handempty))
    :effect (and (clear ?y) (holding ?x) (not (on ?x ?y)) (not (clear ?x)) (not (handempty)))))
