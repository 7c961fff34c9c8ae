"""A domain in PDDL whose types allow all kinds of predicates to be seen."""

LAMPS = """(define (domain lamps)
  (:requirements :strips :typing)
  (:types robot lamp - thing thing square colour - object)
  (:predicates (at ?x - thing ?s - square) (lit ?l - lamp) (dusty ?s - square) (next ?a ?b - square)
    (painted ?c - colour) (idle))
  (:action go :parameters (?r - robot ?a ?b - square) :precondition (and (at ?r ?a) (next ?a ?b))
    :effect (and (at ?r ?b) (not (at ?r ?a)))))
"""
