(set-logic ALL)
(declare-const days Int)
(declare-const has_receipt Bool)
(declare-const refund Bool)
(assert (! (>= days 0) :kind range))
(assert (! (= refund (and has_receipt (<= days 30)))
  :named s1 :section "1" :source "with a receipt, within 30 days"))
; café
(assert (! refund :named s2 :section "§1" :source "“within” 30 days"))
