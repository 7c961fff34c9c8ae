; Trucks carry packages within cities, airplanes carry them between airports.
(define (domain logistics)
  (:requirements :strips :typing)
  (:types city place physobj - object
          airport location - place
          package vehicle - physobj
          truck airplane - vehicle)
  (:predicates
    (in-city ?place - place ?city - city)
    (at ?physobj - physobj ?place - place)
    (in ?package - package ?vehicle - vehicle))

  ; put a package into a truck
  (:action load-truck
    :parameters (?pkg - package  ?truck - truck  ?loc - place)
    :precondition (and (at ?pkg ?loc) (at ?truck ?loc))
    :effect (and (in ?pkg ?truck) (not (at ?pkg ?loc))))

  ; put a package into an airplane
  (:action load-airplane
    :parameters (?pkg - package  ?airplane - airplane  ?loc - place)
    :precondition (and (at ?pkg ?loc) (at ?airplane ?loc))
    :effect (and (in ?pkg ?airplane) (not (at ?pkg ?loc))))

  ; take a package out of a truck
  (:action unload-truck
    :parameters (?pkg - package  ?truck - truck  ?loc - place)
    :precondition (and (at ?truck ?loc) (in ?pkg ?truck))
    :effect (and (at ?pkg ?loc) (not (in ?pkg ?truck))))

  ; take a package out of an airplane
  (:action unload-airplane
    :parameters (?pkg - package  ?airplane - airplane  ?loc - place)
    :precondition (and (at ?airplane ?loc) (in ?pkg ?airplane))
    :effect (and (at ?pkg ?loc) (not (in ?pkg ?airplane))))

  ; drive to another place of the same city
  (:action drive-truck
    :parameters (?truck - truck  ?loc_from ?loc_to - place  ?city - city)
    :precondition (and (in-city ?loc_from ?city) (in-city ?loc_to ?city) (at ?truck ?loc_from))
    :effect (and (at ?truck ?loc_to) (not (at ?truck ?loc_from))))

  ; fly to another airport
  (:action fly-airplane
    :parameters (?airplane - airplane  ?loc_from ?loc_to - airport)
    :precondition (at ?airplane ?loc_from)
    :effect (and (at ?airplane ?loc_to) (not (at ?airplane ?loc_from)))))
