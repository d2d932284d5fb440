(set-logic ALL)
(declare-const refund Bool)
