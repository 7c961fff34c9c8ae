; The patience of that name: columns of cards, free cells for one card each, and a home for each suit.
; Numbers count free cells and free columns; successor(n + 1, n). A home starts with a card of value 0.
(define (domain freecell)
  (:requirements :strips :typing)
  (:types card num suit - object)
  (:predicates
    (on ?card1 - card ?card2 - card)
    (incell ?card - card)
    (clear ?card - card)
    (cellspace ?num - num)
    (colspace ?num - num)
    (home ?card - card)
    (bottomcol ?card - card)
    (canstack ?card1 - card ?card2 - card)
    (suit ?card - card ?suit - suit)
    (value ?card - card ?num - num)
    (successor ?num1 - num ?num2 - num))

  ; from atop a card onto a card of another column
  (:action move
    :parameters (?card ?oldcard ?newcard - card)
    :precondition (and (on ?card ?oldcard) (clear ?card) (clear ?newcard) (canstack ?card ?newcard))
    :effect (and (on ?card ?newcard) (clear ?oldcard) (not (on ?card ?oldcard))
                 (not (clear ?newcard))))

  ; the only card of a column onto another column
  (:action move-b
    :parameters (?card ?newcard - card  ?cols ?ncols - num)
    :precondition (and (clear ?card) (clear ?newcard) (colspace ?cols) (bottomcol ?card)
                       (canstack ?card ?newcard) (successor ?ncols ?cols))
    :effect (and (on ?card ?newcard) (colspace ?ncols) (not (clear ?newcard)) (not (colspace ?cols))
                 (not (bottomcol ?card))))

  ; from atop a card into a free cell
  (:action sendtofree
    :parameters (?card ?oldcard - card  ?cells ?ncells - num)
    :precondition (and (on ?card ?oldcard) (clear ?card) (cellspace ?cells)
                       (successor ?cells ?ncells))
    :effect (and (incell ?card) (clear ?oldcard) (cellspace ?ncells) (not (on ?card ?oldcard))
                 (not (clear ?card)) (not (cellspace ?cells))))

  ; the only card of a column into a free cell
  (:action sendtofree-b
    :parameters (?card - card  ?cells ?ncells ?cols ?ncols - num)
    :precondition (and (clear ?card) (cellspace ?cells) (colspace ?cols) (bottomcol ?card)
                       (successor ?cells ?ncells) (successor ?ncols ?cols))
    :effect (and (incell ?card) (cellspace ?ncells) (colspace ?ncols) (not (clear ?card))
                 (not (cellspace ?cells)) (not (colspace ?cols)) (not (bottomcol ?card))))

  ; from atop a card to an empty column
  (:action sendtonewcol
    :parameters (?card ?oldcard - card  ?cols ?ncols - num)
    :precondition (and (on ?card ?oldcard) (clear ?card) (colspace ?cols) (successor ?cols ?ncols))
    :effect (and (clear ?oldcard) (colspace ?ncols) (bottomcol ?card) (not (on ?card ?oldcard))
                 (not (colspace ?cols))))

  ; from atop a card to its home
  (:action sendtohome
    :parameters (?card ?oldcard - card  ?suit - suit  ?vcard - num  ?homecard - card  ?vhomecard - num)
    :precondition (and (on ?card ?oldcard) (clear ?card) (home ?homecard) (suit ?card ?suit)
                       (suit ?homecard ?suit) (value ?card ?vcard) (value ?homecard ?vhomecard)
                       (successor ?vcard ?vhomecard))
    :effect (and (clear ?oldcard) (home ?card) (not (on ?card ?oldcard)) (not (clear ?card))
                 (not (home ?homecard))))

  ; the only card of a column to its home
  (:action sendtohome-b
    :parameters (?card - card  ?suit - suit  ?vcard - num  ?homecard - card  ?vhomecard ?cols ?ncols - num)
    :precondition (and (clear ?card) (colspace ?cols) (home ?homecard) (bottomcol ?card)
                       (suit ?card ?suit) (suit ?homecard ?suit) (value ?card ?vcard)
                       (value ?homecard ?vhomecard) (successor ?vcard ?vhomecard)
                       (successor ?ncols ?cols))
    :effect (and (colspace ?ncols) (home ?card) (not (clear ?card)) (not (colspace ?cols))
                 (not (home ?homecard)) (not (bottomcol ?card))))

  ; from a free cell to its home
  (:action homefromfreecell
    :parameters (?card - card  ?suit - suit  ?vcard - num  ?homecard - card  ?vhomecard ?cells ?ncells - num)
    :precondition (and (incell ?card) (cellspace ?cells) (home ?homecard) (suit ?card ?suit)
                       (suit ?homecard ?suit) (value ?card ?vcard) (value ?homecard ?vhomecard)
                       (successor ?vcard ?vhomecard) (successor ?ncells ?cells))
    :effect (and (cellspace ?ncells) (home ?card) (not (incell ?card)) (not (cellspace ?cells))
                 (not (home ?homecard))))

  ; from a free cell onto a column
  (:action colfromfreecell
    :parameters (?card ?newcard - card  ?cells ?ncells - num)
    :precondition (and (incell ?card) (clear ?newcard) (cellspace ?cells) (canstack ?card ?newcard)
                       (successor ?ncells ?cells))
    :effect (and (on ?card ?newcard) (clear ?card) (cellspace ?ncells) (not (incell ?card))
                 (not (clear ?newcard)) (not (cellspace ?cells))))

  ; from a free cell to an empty column
  (:action newcolfromfreecell
    :parameters (?card - card  ?cols ?ncols ?cells ?ncells - num)
    :precondition (and (incell ?card) (cellspace ?cells) (colspace ?cols) (successor ?cols ?ncols)
                       (successor ?ncells ?cells))
    :effect (and (clear ?card) (cellspace ?ncells) (colspace ?ncols) (bottomcol ?card)
                 (not (incell ?card)) (not (cellspace ?cells)) (not (colspace ?cols)))))
