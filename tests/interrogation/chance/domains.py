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
DOORS = """(define (domain doors)
  (:requirements :strips :typing :negative-preconditions :conditional-effects :probabilistic-effects)
  (:types door hand)
  (:predicates (open ?d - door) (wet ?h - hand) (stuck ?d - door) (oiled ?d - door))
  (:action pull
    :parameters (?d - door ?h - hand)
    :precondition (and (not (open ?d)))
    :effect (and (when (not (stuck ?d)) (open ?d))
                 (when (and (stuck ?d) (oiled ?d)) (probabilistic 0.6 (open ?d)))))
  (:action toggle
    :parameters (?h - hand)
    :effect (and (when (wet ?h) (not (wet ?h))) (when (not (wet ?h)) (wet ?h))))
  (:action clean
    :parameters (?d - door)
    :effect (probabilistic 0.5 (not (oiled ?d))))
  (:action oil
    :parameters (?d - door ?h - hand)
    :precondition (not (wet ?h))
    :effect (oiled ?d))
  (:action close
    :parameters (?d - door)
    :precondition (open ?d)
    :effect (and (not (open ?d)) (probabilistic 0.3 (stuck ?d))))
)
"""
"""Pulling a stuck door that is oiled opens it now and then; toggling depends on what it changes."""
DOOR_PROBLEM = """(define (problem p) (:domain doors) (:objects a b - door h - hand) (:init (stuck a)) (:goal (open a)))
"""
