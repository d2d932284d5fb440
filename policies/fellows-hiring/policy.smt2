; Fellows hiring: which appointment type a fellow receives.
(set-logic ALL)
(set-info :source "fellows hiring policy")

(declare-datatypes ((Payer 0) (AppointmentType 0))
  (((yale_funds) (external_grant) (outside_employer))
   ((postdoctoral_appointee) (postgraduate_appointee) (visiting_fellow))))

; Facts.
(declare-const paid_position Bool)
(declare-const payer Payer)
(declare-const has_phd Bool)
(declare-const has_jd Bool)
(declare-const central_campus Bool)
(declare-const accomplished_professional Bool)

; Outcomes.
(declare-const appointment_type AppointmentType)
(declare-const is_yale_employee Bool)

(assert (! (or (= appointment_type postdoctoral_appointee)
               (= appointment_type postgraduate_appointee)
               (= appointment_type visiting_fellow))
  :named f1 :section "1" :source "only these three appointment types may be used"))

(assert (! (=> (not paid_position) (= appointment_type visiting_fellow))
  :named f2_a :section "2(a)" :source "a position without pay is a visiting fellowship"))
(assert (! (=> (and paid_position (= payer yale_funds) has_phd)
               (= appointment_type postdoctoral_appointee))
  :named f2_b_1 :section "2(b)(1)" :source "paid by Yale, with a Ph.D.: postdoctoral"))
(assert (! (=> (and paid_position (= payer yale_funds) (not has_phd))
               (= appointment_type postgraduate_appointee))
  :named f2_b_2 :section "2(b)(2)" :source "paid by Yale, without a Ph.D.: postgraduate, J.D. or not"))
(assert (! (=> (and paid_position (= payer external_grant) (or has_phd has_jd))
               (= appointment_type postdoctoral_appointee))
  :named f2_c_1 :section "2(c)(1)" :source "grant paid straight to a fellow with a Ph.D. or J.D.: postdoctoral"))
(assert (! (=> (and paid_position (= payer external_grant) (not has_phd) (not has_jd))
               (= appointment_type postgraduate_appointee))
  :named f2_c_2 :section "2(c)(2)" :source "grant paid straight to a fellow with neither degree: postgraduate"))
(assert (! (=> (and paid_position (= payer outside_employer) central_campus
                    (or has_phd accomplished_professional))
               (= appointment_type visiting_fellow))
  :named f2_d :section "2(d)" :source "Central Campus, paid by an outside employer, Ph.D. or accomplished: visiting"))

(assert (! (=> (= appointment_type postdoctoral_appointee) (or has_phd has_jd))
  :named f3_a :section "3(a)" :source "a postdoctoral appointee holds a Ph.D. or a J.D."))
(assert (! (=> (= appointment_type postgraduate_appointee) (not has_phd))
  :named f3_b :section "3(b)" :source "a postgraduate appointee does not hold a Ph.D."))
(assert (! (=> (= appointment_type visiting_fellow)
               (not (and paid_position (or (= payer yale_funds) (= payer external_grant)))))
  :named f3_c :section "3(c)" :source "a visiting fellow is paid neither by Yale nor by a grant"))

(assert (! (= is_yale_employee (and paid_position (= payer yale_funds)))
  :named f4 :section "4" :source "a fellow is a Yale employee exactly when paid from Yale money"))

(check-sat)
