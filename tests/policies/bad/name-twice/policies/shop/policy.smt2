(set-logic ALL)
(declare-const days Int)
(declare-const has_receipt Bool)
(declare-const refund Bool)
(assert (! (>= days 0) :kind range))
(assert (! (= refund (and has_receipt (<= days 30)))
  :named s1 :section "1" :source "with a receipt, within 30 days"))
(declare-const days Bool)
(declare-datatypes ((Pay 0)) (((cash) (cash) (refund))))
(define-const Pay Bool true)
(assert (! has_receipt
  :named s1 :section "1" :source "a rule"))
(assert (! has_receipt
  :named days :section "1" :source "a rule"))
