; A robot with two hands carries balls between rooms.
(define (domain gripper-typed)
  (:requirements :strips :typing)
  (:types room ball gripper - object)
  (:predicates
    (at_robby ?room - room)
    (at ?ball - ball ?room - room)
    (free ?gripper - gripper)
    (carry ?ball - ball ?gripper - gripper))

  ; walk to another room
  (:action move
    :parameters (?from ?to - room)
    :precondition (at_robby ?from)
    :effect (and (at_robby ?to) (not (at_robby ?from))))

  ; take a ball into a free hand
  (:action pick
    :parameters (?obj - ball  ?room - room  ?gripper - gripper)
    :precondition (and (at_robby ?room) (at ?obj ?room) (free ?gripper))
    :effect (and (carry ?obj ?gripper) (not (at ?obj ?room)) (not (free ?gripper))))

  ; put a carried ball down here
  (:action drop
    :parameters (?obj - ball  ?room - room  ?gripper - gripper)
    :precondition (and (at_robby ?room) (carry ?obj ?gripper))
    :effect (and (at ?obj ?room) (free ?gripper) (not (carry ?obj ?gripper)))))
