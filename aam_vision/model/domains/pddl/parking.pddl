; Cars stand at curbs, at most one behind another, and are reparked one at a time.
(define (domain parking)
  (:requirements :strips :typing)
  (:types car curb - object)
  (:predicates
    (at_curb ?car - car)
    (at_curb_num ?car - car ?curb - curb)
    (behind_car ?car1 - car ?car2 - car)
    (car_clear ?car - car)
    (curb_clear ?curb - curb))

  ; from one curb to an empty one
  (:action move-curb-to-curb
    :parameters (?car - car  ?curbsrc ?curbdest - curb)
    :precondition (and (at_curb_num ?car ?curbsrc) (car_clear ?car) (curb_clear ?curbdest))
    :effect (and (at_curb_num ?car ?curbdest) (curb_clear ?curbsrc)
                 (not (at_curb_num ?car ?curbsrc)) (not (curb_clear ?curbdest))))

  ; from a curb to behind a car that stands at a curb
  (:action move-curb-to-car
    :parameters (?car - car  ?curbsrc - curb  ?cardest - car)
    :precondition (and (at_curb ?cardest) (at_curb_num ?car ?curbsrc) (car_clear ?car)
                       (car_clear ?cardest))
    :effect (and (behind_car ?car ?cardest) (curb_clear ?curbsrc) (not (at_curb ?car))
                 (not (at_curb_num ?car ?curbsrc)) (not (car_clear ?cardest))))

  ; from behind a car to an empty curb
  (:action move-car-to-curb
    :parameters (?car ?carsrc - car  ?curbdest - curb)
    :precondition (and (behind_car ?car ?carsrc) (car_clear ?car) (curb_clear ?curbdest))
    :effect (and (at_curb ?car) (at_curb_num ?car ?curbdest) (car_clear ?carsrc)
                 (not (behind_car ?car ?carsrc)) (not (curb_clear ?curbdest))))

  ; from behind one car to behind another
  (:action move-car-to-car
    :parameters (?car ?carsrc ?cardest - car)
    :precondition (and (at_curb ?cardest) (behind_car ?car ?carsrc) (car_clear ?car)
                       (car_clear ?cardest))
    :effect (and (behind_car ?car ?cardest) (car_clear ?carsrc) (not (behind_car ?car ?carsrc))
                 (not (car_clear ?cardest)))))
