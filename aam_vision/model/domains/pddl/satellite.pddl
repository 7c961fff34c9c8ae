; Satellites point their instruments at directions in the sky and take images.
; Only one instrument of a satellite has power at a time, and it must be calibrated first.
(define (domain satellite)
  (:requirements :strips :typing)
  (:types satellite direction instrument mode - object)
  (:predicates
    (on_board ?instrument - instrument ?satellite - satellite)
    (supports ?instrument - instrument ?mode - mode)
    (pointing ?satellite - satellite ?direction - direction)
    (power_avail ?satellite - satellite)
    (power_on ?instrument - instrument)
    (calibrated ?instrument - instrument)
    (have_image ?direction - direction ?mode - mode)
    (calibration_target ?instrument - instrument ?direction - direction))

  ; point the satellite elsewhere
  (:action turn_to
    :parameters (?s - satellite  ?d_new ?d_prev - direction)
    :precondition (pointing ?s ?d_prev)
    :effect (and (pointing ?s ?d_new) (not (pointing ?s ?d_prev))))

  ; give an instrument the power; it loses its calibration
  (:action switch_on
    :parameters (?i - instrument  ?s - satellite)
    :precondition (and (on_board ?i ?s) (power_avail ?s))
    :effect (and (power_on ?i) (not (power_avail ?s)) (not (calibrated ?i))))

  ; take the power back
  (:action switch_off
    :parameters (?i - instrument  ?s - satellite)
    :precondition (and (on_board ?i ?s) (power_on ?i))
    :effect (and (power_avail ?s) (not (power_on ?i))))

  ; calibrate while pointing at the instrument's target
  (:action calibrate
    :parameters (?s - satellite  ?i - instrument  ?d - direction)
    :precondition (and (on_board ?i ?s) (pointing ?s ?d) (power_on ?i) (calibration_target ?i ?d))
    :effect (calibrated ?i))

  ; image what the satellite points at
  (:action take_image
    :parameters (?s - satellite  ?d - direction  ?i - instrument  ?m - mode)
    :precondition (and (on_board ?i ?s) (supports ?i ?m) (pointing ?s ?d) (power_on ?i)
                       (calibrated ?i))
    :effect (have_image ?d ?m)))
