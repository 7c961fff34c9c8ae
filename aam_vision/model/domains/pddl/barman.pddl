; A barman with two hands fills shots from dispensers, mixes cocktails in a shaker and serves them.
; The shaker holds so many shots as there are steps between its levels.
(define (domain barman)
  (:requirements :strips :typing)
  (:types hand level beverage dispenser container - object
          ingredient cocktail - beverage
          shot shaker - container)
  (:predicates
    (ontable ?container - container)
    (holding ?hand - hand ?container - container)
    (handempty ?hand - hand)
    (empty ?container - container)
    (contains ?container - container ?beverage - beverage)
    (clean ?container - container)
    (used ?container - container ?beverage - beverage)
    (dispenses ?dispenser - dispenser ?ingredient - ingredient)
    (shaker-empty-level ?shaker - shaker ?level - level)
    (shaker-level ?shaker - shaker ?level - level)
    (next ?level1 - level ?level2 - level)
    (unshaked ?shaker - shaker)
    (shaked ?shaker - shaker)
    (cocktail-part1 ?cocktail - cocktail ?ingredient - ingredient)
    (cocktail-part2 ?cocktail - cocktail ?ingredient - ingredient))

  ; take a container from the table
  (:action grasp
    :parameters (?h - hand  ?c - container)
    :precondition (and (ontable ?c) (handempty ?h))
    :effect (and (holding ?h ?c) (not (ontable ?c)) (not (handempty ?h))))

  ; put a container back on the table
  (:action leave
    :parameters (?h - hand  ?c - container)
    :precondition (holding ?h ?c)
    :effect (and (ontable ?c) (handempty ?h) (not (holding ?h ?c))))

  ; fill a clean shot from a dispenser
  (:action fill-shot
    :parameters (?s - shot  ?i - ingredient  ?h1 ?h2 - hand  ?d - dispenser)
    :precondition (and (holding ?h1 ?s) (handempty ?h2) (empty ?s) (clean ?s) (dispenses ?d ?i))
    :effect (and (contains ?s ?i) (used ?s ?i) (not (empty ?s)) (not (clean ?s))))

  ; fill a used, empty shot with what was in it before
  (:action refill-shot
    :parameters (?s - shot  ?i - ingredient  ?h1 ?h2 - hand  ?d - dispenser)
    :precondition (and (holding ?h1 ?s) (handempty ?h2) (empty ?s) (used ?s ?i) (dispenses ?d ?i))
    :effect (and (contains ?s ?i) (not (empty ?s))))

  ; pour a shot away
  (:action empty-shot
    :parameters (?h - hand  ?p - shot  ?b - beverage)
    :precondition (and (holding ?h ?p) (contains ?p ?b))
    :effect (and (empty ?p) (not (contains ?p ?b))))

  ; clean an empty, used shot
  (:action clean-shot
    :parameters (?s - shot  ?b - beverage  ?h1 ?h2 - hand)
    :precondition (and (holding ?h1 ?s) (handempty ?h2) (empty ?s) (used ?s ?b))
    :effect (and (clean ?s) (not (used ?s ?b))))

  ; pour the first ingredient into a clean shaker
  (:action pour-shot-to-clean-shaker
    :parameters (?s - shot  ?i - ingredient  ?d - shaker  ?h1 - hand  ?l ?l1 - level)
    :precondition (and (holding ?h1 ?s) (empty ?d) (contains ?s ?i) (clean ?d) (shaker-level ?d ?l)
                       (next ?l ?l1))
    :effect (and (empty ?s) (contains ?d ?i) (shaker-level ?d ?l1) (unshaked ?d) (not (empty ?d))
                 (not (contains ?s ?i)) (not (clean ?d)) (not (shaker-level ?d ?l))))

  ; pour another ingredient into a shaker not shaken yet
  (:action pour-shot-to-used-shaker
    :parameters (?s - shot  ?i - ingredient  ?d - shaker  ?h1 - hand  ?l ?l1 - level)
    :precondition (and (holding ?h1 ?s) (contains ?s ?i) (shaker-level ?d ?l) (next ?l ?l1)
                       (unshaked ?d))
    :effect (and (empty ?s) (contains ?d ?i) (shaker-level ?d ?l1) (not (contains ?s ?i))
                 (not (shaker-level ?d ?l))))

  ; pour the rest of a cocktail away
  (:action empty-shaker
    :parameters (?h - hand  ?s - shaker  ?b - cocktail  ?l ?l1 - level)
    :precondition (and (holding ?h ?s) (contains ?s ?b) (shaker-empty-level ?s ?l1)
                       (shaker-level ?s ?l) (shaked ?s))
    :effect (and (empty ?s) (shaker-level ?s ?l1) (not (contains ?s ?b)) (not (shaker-level ?s ?l))
                 (not (shaked ?s))))

  ; clean an empty shaker
  (:action clean-shaker
    :parameters (?h1 ?h2 - hand  ?s - shaker)
    :precondition (and (holding ?h1 ?s) (handempty ?h2) (empty ?s))
    :effect (clean ?s))

  ; turn the two parts of a cocktail into the cocktail
  (:action shake
    :parameters (?b - cocktail  ?d1 ?d2 - ingredient  ?s - shaker  ?h1 ?h2 - hand)
    :precondition (and (holding ?h1 ?s) (handempty ?h2) (contains ?s ?d1) (contains ?s ?d2)
                       (unshaked ?s) (cocktail-part1 ?b ?d1) (cocktail-part2 ?b ?d2))
    :effect (and (contains ?s ?b) (shaked ?s) (not (contains ?s ?d1)) (not (contains ?s ?d2))
                 (not (unshaked ?s))))

  ; serve a shaken drink in a clean shot
  (:action pour-shaker-to-shot
    :parameters (?b - beverage  ?d - shot  ?h - hand  ?s - shaker  ?l ?l1 - level)
    :precondition (and (holding ?h ?s) (empty ?d) (contains ?s ?b) (clean ?d) (shaker-level ?s ?l)
                       (next ?l1 ?l) (shaked ?s))
    :effect (and (contains ?d ?b) (shaker-level ?s ?l1) (not (empty ?d)) (not (clean ?d))
                 (not (shaker-level ?s ?l)))))
