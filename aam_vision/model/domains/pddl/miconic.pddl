; A lift fetches passengers at their floors and brings them where they want to go.
; Nothing ever undoes origin, so a passenger may board again: that is how the benchmark is.
; not_boarded and not_served belong to the vocabulary, but no action speaks of them.
(define (domain miconic)
  (:requirements :strips :typing)
  (:types passenger floor - object)
  (:predicates
    (origin ?passenger - passenger ?floor - floor)
    (destin ?passenger - passenger ?floor - floor)
    (above ?floor1 - floor ?floor2 - floor)
    (boarded ?passenger - passenger)
    (not_boarded ?passenger - passenger)
    (served ?passenger - passenger)
    (not_served ?passenger - passenger)
    (lift_at ?floor - floor))

  ; let a passenger in at her floor of origin
  (:action board
    :parameters (?f - floor  ?p - passenger)
    :precondition (and (origin ?p ?f) (lift_at ?f))
    :effect (boarded ?p))

  ; let a passenger out at her destination
  (:action depart
    :parameters (?f - floor  ?p - passenger)
    :precondition (and (destin ?p ?f) (boarded ?p) (lift_at ?f))
    :effect (and (served ?p) (not (boarded ?p))))

  ; ride to a higher floor
  (:action up
    :parameters (?f1 ?f2 - floor)
    :precondition (and (above ?f1 ?f2) (lift_at ?f1))
    :effect (and (lift_at ?f2) (not (lift_at ?f1))))

  ; ride to a lower floor
  (:action down
    :parameters (?f1 ?f2 - floor)
    :precondition (and (above ?f2 ?f1) (lift_at ?f1))
    :effect (and (lift_at ?f2) (not (lift_at ?f1)))))
