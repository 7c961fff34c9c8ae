; Rovers drive over a planet, analyse soil and rock, take images, and send what they found to a lander.
(define (domain rover)
  (:requirements :strips :typing)
  (:types rover waypoint store camera mode lander objective - object)
  (:predicates
    (at ?rover - rover ?waypoint - waypoint)
    (at_lander ?lander - lander ?waypoint - waypoint)
    (can_traverse ?rover - rover ?waypoint1 - waypoint ?waypoint2 - waypoint)
    (equipped_for_soil_analysis ?rover - rover)
    (equipped_for_rock_analysis ?rover - rover)
    (equipped_for_imaging ?rover - rover)
    (empty ?store - store)
    (have_rock_analysis ?rover - rover ?waypoint - waypoint)
    (have_soil_analysis ?rover - rover ?waypoint - waypoint)
    (full ?store - store)
    (calibrated ?camera - camera ?rover - rover)
    (supports ?camera - camera ?mode - mode)
    (available ?rover - rover)
    (visible ?waypoint1 - waypoint ?waypoint2 - waypoint)
    (have_image ?rover - rover ?objective - objective ?mode - mode)
    (communicated_soil_data ?waypoint - waypoint)
    (communicated_rock_data ?waypoint - waypoint)
    (communicated_image_data ?objective - objective ?mode - mode)
    (at_soil_sample ?waypoint - waypoint)
    (at_rock_sample ?waypoint - waypoint)
    (visible_from ?objective - objective ?waypoint - waypoint)
    (store_of ?store - store ?rover - rover)
    (calibration_target ?camera - camera ?objective - objective)
    (on_board ?camera - camera ?rover - rover)
    (channel_free ?lander - lander))

  ; drive to a waypoint in sight, over ground this rover can cross
  (:action navigate
    :parameters (?x - rover  ?y ?z - waypoint)
    :precondition (and (at ?x ?y) (can_traverse ?x ?y ?z) (available ?x) (visible ?y ?z))
    :effect (and (at ?x ?z) (not (at ?x ?y))))

  ; take a soil sample into an empty store and analyse it
  (:action sample_soil
    :parameters (?x - rover  ?s - store  ?p - waypoint)
    :precondition (and (at ?x ?p) (equipped_for_soil_analysis ?x) (empty ?s) (at_soil_sample ?p)
                       (store_of ?s ?x))
    :effect (and (have_soil_analysis ?x ?p) (full ?s) (not (empty ?s)) (not (at_soil_sample ?p))))

  ; take a rock sample into an empty store and analyse it
  (:action sample_rock
    :parameters (?x - rover  ?s - store  ?p - waypoint)
    :precondition (and (at ?x ?p) (equipped_for_rock_analysis ?x) (empty ?s) (at_rock_sample ?p)
                       (store_of ?s ?x))
    :effect (and (have_rock_analysis ?x ?p) (full ?s) (not (empty ?s)) (not (at_rock_sample ?p))))

  ; empty a full store
  (:action drop
    :parameters (?x - rover  ?y - store)
    :precondition (and (full ?y) (store_of ?y ?x))
    :effect (and (empty ?y) (not (full ?y))))

  ; calibrate a camera on its target, in sight from here
  (:action calibrate
    :parameters (?r - rover  ?i - camera  ?t - objective  ?w - waypoint)
    :precondition (and (at ?r ?w) (equipped_for_imaging ?r) (visible_from ?t ?w)
                       (calibration_target ?i ?t) (on_board ?i ?r))
    :effect (calibrated ?i ?r))

  ; photograph an objective in sight; that uses the calibration up
  (:action take_image
    :parameters (?r - rover  ?p - waypoint  ?o - objective  ?i - camera  ?m - mode)
    :precondition (and (at ?r ?p) (equipped_for_imaging ?r) (calibrated ?i ?r) (supports ?i ?m)
                       (visible_from ?o ?p) (on_board ?i ?r))
    :effect (and (have_image ?r ?o ?m) (not (calibrated ?i ?r))))

  ; send a soil analysis to a lander in sight
  (:action communicate_soil_data
    :parameters (?r - rover  ?l - lander  ?p ?x ?y - waypoint)
    :precondition (and (at ?r ?x) (at_lander ?l ?y) (have_soil_analysis ?r ?p) (available ?r)
                       (visible ?x ?y) (channel_free ?l))
    :effect (communicated_soil_data ?p))

  ; send a rock analysis to a lander in sight
  (:action communicate_rock_data
    :parameters (?r - rover  ?l - lander  ?p ?x ?y - waypoint)
    :precondition (and (at ?r ?x) (at_lander ?l ?y) (have_rock_analysis ?r ?p) (available ?r)
                       (visible ?x ?y) (channel_free ?l))
    :effect (communicated_rock_data ?p))

  ; send an image to a lander in sight
  (:action communicate_image_data
    :parameters (?r - rover  ?l - lander  ?o - objective  ?m - mode  ?x ?y - waypoint)
    :precondition (and (at ?r ?x) (at_lander ?l ?y) (available ?r) (visible ?x ?y)
                       (have_image ?r ?o ?m) (channel_free ?l))
    :effect (communicated_image_data ?o ?m)))
