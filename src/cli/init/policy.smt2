(set-logic ALL)

; What a scenario may state. Their words are in vocabulary.toml.
(declare-datatype Reason ((illness) (birth_of_child) (move_of_house) (other_reason)))
(declare-const days_employed Int)
(declare-const days_absent Int)
(declare-const reason Reason)
(declare-const has_note Bool)

; What follows from them.
(declare-const reason_accepted Bool)
(declare-const paid_leave Bool)

; Natural ranges are part of the logic, are said in the text and are never cited.
(assert (! (>= days_employed 0) :kind range))
(assert (! (>= days_absent 0) :kind range))

; Every other clause has a name, the label of its section in policy.md, and what the section says.
(assert (! (= paid_leave (and (>= days_employed 90) reason_accepted))
  :named s1_a :section "1(a)" :source "90 days worked and an accepted reason"))
(assert (! (= reason_accepted
    (or (and (= reason illness) has_note)
        (= reason birth_of_child)
        (and (= reason move_of_house) (<= days_absent 2))))
  :named s1_b :section "1(b)" :source "illness with a note, a birth, or a short move of house"))
