(define (problem p) (:domain robot) (:objects kitchen - room red blue - ball)
(:init (in hall) (at red kitchen) (free)) (:goal (and (holds red) (not (free)))))
