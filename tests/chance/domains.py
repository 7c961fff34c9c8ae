"""A small domain with chance, as PPDDL: a hand that picks up blocks, and sometimes drops them or breaks them."""

from __future__ import annotations

SLIPPERY = """(define (domain slippery)
  (:requirements :strips :typing :negative-preconditions :probabilistic-effects)
  (:types block hand)
  (:predicates (holding ?b - block) (free ?h - hand) (broken ?b - block) (grab ?b - block ?h - hand))
  (:action grab
    :parameters (?b - block ?h - hand)
    :precondition (and (grab ?b ?h) (free ?h) (not (broken ?b)))
    :effect (probabilistic 0.7 (and (holding ?b) (not (free ?h))) 1/10 (broken ?b)))
  (:action drop
    :parameters (?b - block ?h - hand)
    :precondition (holding ?b)
    :effect (and (not (holding ?b)) (free ?h) (probabilistic 0.3 (broken ?b)))))
"""
PROBLEM = """(define (problem two) (:domain slippery)
  (:objects a b - block h - hand) (:init (free h)) (:goal (and (holding a))))
"""
