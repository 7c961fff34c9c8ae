; A small robot builds towers of blocks as high as it can climb: it steps one block up or down,
; takes blocks from the depot and lays them beside itself.
(define (domain termes)
  (:requirements :strips :typing :negative-preconditions)
  (:types numb position - object)
  (:predicates
    (height ?position - position ?numb - numb)
    (at ?position - position)
    (has_block)
    (succ ?numb1 - numb ?numb2 - numb)
    (neighbor ?position1 - position ?position2 - position)
    (is_depot ?position - position))

  ; walk on the level
  (:action move
    :parameters (?from ?to - position  ?h - numb)
    :precondition (and (height ?from ?h) (height ?to ?h) (at ?from) (neighbor ?from ?to))
    :effect (and (at ?to) (not (at ?from))))

  ; climb a tower one block higher
  (:action move_up
    :parameters (?from - position  ?hfrom - numb  ?to - position  ?hto - numb)
    :precondition (and (height ?from ?hfrom) (height ?to ?hto) (at ?from) (succ ?hto ?hfrom)
                       (neighbor ?from ?to))
    :effect (and (at ?to) (not (at ?from))))

  ; climb down one block
  (:action move_down
    :parameters (?from - position  ?hfrom - numb  ?to - position  ?hto - numb)
    :precondition (and (height ?from ?hfrom) (height ?to ?hto) (at ?from) (succ ?hfrom ?hto)
                       (neighbor ?from ?to))
    :effect (and (at ?to) (not (at ?from))))

  ; lay the block on a neighbouring tower as high as one's own place
  (:action place_block
    :parameters (?rpos ?bpos - position  ?hbefore ?hafter - numb)
    :precondition (and (height ?rpos ?hbefore) (height ?bpos ?hbefore) (at ?rpos) (has_block)
                       (succ ?hafter ?hbefore) (neighbor ?rpos ?bpos) (not (is_depot ?bpos)))
    :effect (and (height ?bpos ?hafter) (not (height ?bpos ?hbefore)) (not (has_block))))

  ; take the top block of a neighbouring tower one block higher
  (:action remove_block
    :parameters (?rpos ?bpos - position  ?hbefore ?hafter - numb)
    :precondition (and (height ?rpos ?hafter) (height ?bpos ?hbefore) (at ?rpos)
                       (succ ?hbefore ?hafter) (neighbor ?rpos ?bpos) (not (has_block)))
    :effect (and (height ?bpos ?hafter) (has_block) (not (height ?bpos ?hbefore))))

  ; fetch a block at the depot
  (:action create_block
    :parameters (?p - position)
    :precondition (and (at ?p) (is_depot ?p) (not (has_block)))
    :effect (has_block))

  ; give a block back at the depot
  (:action destroy_block
    :parameters (?p - position)
    :precondition (and (at ?p) (has_block) (is_depot ?p))
    :effect (not (has_block))))
