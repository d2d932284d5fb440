//! The smallest policy that shows each bug the laws have found, against brute force in every way of
//! growing its tree.

use deogen::classes::Lemmas;
use deogen::slice;
use deogen::term::{Sort, Value, read_number};

use crate::engine;
use crate::laws::agrees;

/// A policy with the given lines; `facts` may be stated, `v` is decided, numbers are from 0 to
/// `most`.
fn check(facts: &str, most: i64, lines: &[&str]) {
    let mut text = "(set-logic ALL)\n".to_owned();
    for (at, line) in lines.iter().enumerate() {
        text += &match line.strip_prefix("rule ") {
            Some(term) => {
                format!("(assert (! {term} :named c{at} :section \"{at}\" :source \"c\"))\n")
            }
            None => match line.strip_prefix("range ") {
                Some(term) => format!("(assert (! {term} :kind range))\n"),
                None => format!("{line}\n"),
            },
        };
    }
    let askable: Vec<String> = facts.split(' ').map(str::to_owned).collect();
    let inquiry = engine::inquiry(&text, &askable, "v", &[]);
    let terms = &inquiry.policy.terms;
    let number = |n: i64| Value::Number(read_number(&n.to_string()).unwrap());
    let domains = terms.constants().map(|(_, constant)| match constant.sort {
        Sort::Int => (0..=most).map(number).collect(),
        sort => terms.values_of(sort).unwrap(),
    });
    let domains = domains.collect();
    for lemmas in [Lemmas::None, Lemmas::Pairs, Lemmas::Triples] {
        let fault = agrees(&inquiry, &domains, lemmas).err();
        assert!(fault.is_none(), "{lemmas:?}: {}\n{text}", fault.unwrap());
    }
    let (space, tree) = engine::tree(&inquiry, &slice::whole(&inquiry), Lemmas::Pairs).unwrap();
    assert_eq!(engine::solver_tree(&space).unwrap(), tree, "asked of the solver alone\n{text}");
}

/// An asked number was written by a hidden one, and its threshold went with it.
#[test]
fn what_is_asked_is_not_written_by_what_is_hidden() {
    check(
        "x b",
        7,
        &[
            "(declare-const h Int)",
            "(declare-const x Int)",
            "(declare-const b Bool)",
            "(declare-const v Bool)",
            "range (<= 0 x 7)",
            "range (<= 0 h 5)",
            "range (= x (+ h 2))",
            "rule (= v (and b (>= x 4)))",
        ],
    );
}

/// Half of an even number is one number with it, whichever of them is hidden.
#[test]
fn a_hidden_half() {
    check(
        "x b",
        9,
        &[
            "(declare-const x Int)",
            "(declare-const b Bool)",
            "(declare-const h Int)",
            "(declare-const v Bool)",
            "range (<= 0 x 9)",
            "range (<= 0 h 4)",
            "range (= (* 2 h) x)",
            "rule (= v (and b (<= 2 h 3)))",
        ],
    );
}

/// One half of a pair left a level open that the other half fixed, and the same question was asked
/// for ever.
#[test]
fn a_second_scenario_among_all_values_of_a_group() {
    check(
        "b0 b1 b2 x0 x1 o",
        6,
        &[
            "(declare-const b0 Bool)",
            "(declare-const b1 Bool)",
            "(declare-const b2 Bool)",
            "(declare-const x0 Int)",
            "(declare-const x1 Int)",
            "(declare-const g0 Bool)",
            "(declare-const g1 Bool)",
            "(declare-const o Bool)",
            "(declare-const u Bool)",
            "(declare-const d0 Bool)",
            "(declare-const d1 Bool)",
            "(declare-const v Bool)",
            "range (<= 0 x0 2)",
            "range (<= 0 x1 6)",
            "rule (= o (and g0 g1))",
            "rule (=> g0 (not (<= (* 2 x0) (+ x1 (- 1)))))",
            "rule (= d0 (and b0 (or (<= (* 2 x0) (+ x1 (- 1))) (>= (* 2 x1) 6))))",
            "rule (=> (and d0 (or (not (<= (* 2 x0) (+ x1 (- 1)))) b2)) d1)",
            "rule (= v (or (and (>= x0 1) (not u)) b2))",
        ],
    );
}

/// The class depends on a sign that no clause spells: `x >= 5`, by way of `h`.
#[test]
fn a_hidden_number_between_an_asked_one_and_a_threshold() {
    check(
        "x y b",
        6,
        &[
            "(declare-const x Int)",
            "(declare-const y Int)",
            "(declare-const b Bool)",
            "(declare-const h Int)",
            "(declare-const k Int)",
            "(declare-const v Bool)",
            "range (<= 0 x 6)",
            "range (<= 0 y 6)",
            "range (and (<= 0 h) (<= h x))",
            "range (and (<= 0 k) (<= k h))",
            "range (<= y (+ k 2))",
            "rule (= v (or b (>= h 5) (< (* 2 k) y)))",
        ],
    );
}

/// Two nodes look the same although a dropped sign forces another one in one of them.
#[test]
fn states_are_shared_only_where_the_same_numbers_exist() {
    check(
        "b0 b2 b3 x",
        5,
        &[
            "(declare-const b0 Bool)",
            "(declare-const b2 Bool)",
            "(declare-const b3 Bool)",
            "(declare-const x Int)",
            "(declare-const u Bool)",
            "(declare-const d Bool)",
            "(declare-const v Bool)",
            "range (<= 1 x 5)",
            "rule (= d (=> (>= x 1) (<= x 2)))",
            "rule (=> b0 d)",
            "rule (= v (not (and u (not (and (or b0 b2) (or b3 (and (<= x 2) d)))))))",
        ],
    );
}
