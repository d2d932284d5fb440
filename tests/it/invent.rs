//! Invents small policies: every feature of the fragment in few clauses, from one number.
//!
//! A policy is written as text, so that a failing one can be read and kept. All its numbers have
//! small domains, given beside the text for the oracle; range clauses say the same.

use deogen::policy::Inquiry;
use deogen::term::{Constant, Sort, Value, read_number};

use crate::draft::{Dice, Draft, Whole, literal, whole};
use crate::engine;
use crate::scenarios::Domains;

/// An invented policy.
pub(crate) struct Invented {
    pub(crate) text: String,
    pub(crate) inquiry: Inquiry,
    pub(crate) domains: Domains,
}

impl Draft {
    fn facts(&mut self, dice: &mut Dice) {
        for at in 0..2 + dice.below(3).max(dice.below(3)) {
            self.declare(&format!("b{at}"), "Bool", true);
            self.literals.push(format!("b{at}"));
            self.scenarios *= 2;
        }
        if dice.chance(45) {
            let values = ["red", "green", "blue"];
            let values = &values[..2 + dice.below(2)];
            let spelled: Vec<String> = values.iter().map(|value| format!("({value})")).collect();
            self.declarations += &format!("(declare-datatype Color ({}))\n", spelled.join(" "));
            self.declare("color", "Color", true);
            self.literals.push(format!("(= color {})", values[0]));
            self.literals.push(format!("(= color {})", values[1]));
            self.scenarios *= values.len();
        }
        if dice.chance(25) {
            let (a, b) = (self.formula(dice, 1), self.formula(dice, 1));
            self.rule(&format!("(=> {a} {b})"));
        }
    }

    fn numbers(&mut self, dice: &mut Dice) {
        let count = *dice.pick(&[0, 1, 1, 2, 2, 2, 2, 3]);
        // Many comparisons of few numbers: most patterns of their signs are infeasible.
        let dense = dice.chance(15);
        let most = if count > 2 { 3 } else { 6 };
        for at in 0..count {
            let linked = at == 1 && dice.chance(30);
            let number = if linked {
                let first = self.numbers[0].clone();
                self.tied(dice, &first)
            } else {
                self.whole(dice, &format!("x{at}"), true, most)
            };
            for _ in 0..1 + dice.below(2) + usize::from(dense) {
                let threshold = self.threshold(dice, &number);
                self.literals.push(threshold);
            }
            self.numbers.push(number);
        }
        let numbers = self.numbers.clone();
        let pairs: Vec<&[Whole]> = numbers.windows(2).collect();
        let more = if dense { 3 } else { 1 };
        for pair in pairs.iter().cycle().take(pairs.len() * more) {
            self.connected(dice, &pair[0], &pair[1]);
        }
        if dice.chance(8) {
            self.real(dice);
        }
    }

    /// Perhaps two numbers are compared: always, on a condition, or as a condition.
    fn connected(&mut self, dice: &mut Dice, a: &Whole, b: &Whole) {
        match dice.below(10) {
            0 => {
                let link = self.link(dice, a, b);
                self.range(&link);
            }
            1 => {
                let link = self.link(dice, a, b);
                let when = self.formula(dice, 1);
                self.rule(&format!("(=> {when} {link})"));
            }
            2..=5 => {
                let link = self.link(dice, a, b);
                self.literals.push(link);
            }
            _ => {}
        }
    }

    /// `x1`, tied to `x0` by an equation.
    fn tied(&mut self, dice: &mut Dice, first: &Whole) -> Whole {
        let (low, high) = (first.low, first.high);
        let name = "x1".to_owned();
        let offset = dice.between(low, high + 3);
        let (number, equation) = match dice.below(5) {
            0 => (Whole { name, low: 2 * low, high: 2 * high }, "(= x1 (* 2 x0))".to_owned()),
            1 => {
                let half = |n: i64| n.div_euclid(2);
                (Whole { name, low: half(low), high: half(high) }, "(= (* 2 x1) x0)".to_owned())
            }
            2 => (
                Whole { name, low: low - 1, high: high + 1 },
                format!("(= (+ (* 2 x0) (* 3 x1)) {})", literal(offset)),
            ),
            _ => (
                Whole { name, low: offset - high, high: offset - low },
                format!("(= x1 (- {} x0))", literal(offset)),
            ),
        };
        let chained = dice.chance(50);
        self.ranged(&number, true, chained);
        self.range(&equation);
        number
    }

    /// A decimal with few values, compared with a literal and perhaps with a whole number.
    fn real(&mut self, dice: &mut Dice) {
        let tied = dice.chance(40) && !self.numbers.is_empty();
        self.declare("r", "Real", true);
        let halves: Vec<i64> = if tied {
            (2 * self.numbers[0].low..=2 * self.numbers[0].high + 2).collect()
        } else {
            vec![0, 1, 2, 4]
        };
        let values: Vec<Value> = halves
            .iter()
            .map(|half| Value::Number(read_number(&format!("{half}/2")).unwrap()))
            .collect();
        let spell = |half: i64| format!("(/ {}.0 2.0)", half.abs());
        let spell = |half: i64| if half < 0 { format!("(- {})", spell(half)) } else { spell(half) };
        let any: Vec<String> =
            halves.iter().map(|half| format!("(= r {})", spell(*half))).collect();
        self.range(&format!("(or {})", any.join(" ")));
        let bound = spell(*dice.pick(&halves));
        self.literals.push(format!("(< r {bound})"));
        if tied {
            let x = self.numbers[0].name.clone();
            let half = dice.between(0, 1);
            self.range(&format!("(= r (+ (to_real {x}) {}))", spell(half)));
        } else if let Some(number) = self.numbers.first() {
            let name = number.name.clone();
            self.literals.push(format!("(<= r (to_real {name}))"));
        }
        self.scenarios *= if tied { 1 } else { values.len() };
        self.domains.insert("r".to_owned(), values);
    }

    /// A condition asked as a fact whose definition reads facts that are not asked.
    fn opaque(&mut self, dice: &mut Dice) {
        self.declare("g0", "Bool", false);
        self.declare("g1", "Bool", false);
        self.declare("o", "Bool", true);
        self.scenarios *= 8;
        self.opaque.push("o".to_owned());
        let (a, b) = if dice.chance(50) { ("and", "g1") } else { ("or", "(not g1)") };
        self.rule(&format!("(= o ({a} g0 {b}))"));
        if dice.chance(30) {
            let when = self.formula(dice, 1);
            self.rule(&format!("(=> g0 {when})"));
        }
        self.literals.push("o".to_owned());
    }

    /// Constants that are no facts and defined nowhere.
    fn hidden(&mut self, dice: &mut Dice) {
        if dice.chance(25) {
            self.declare("u", "Bool", false);
            self.literals.push("u".to_owned());
            self.scenarios *= 2;
            if dice.chance(40) {
                let when = self.formula(dice, 2);
                self.rule(&format!("(=> {when} u)"));
            }
        }
        if dice.chance(16) {
            self.hidden_number(dice);
        }
    }

    fn hidden_number(&mut self, dice: &mut Dice) {
        let h = self.whole(dice, "h", false, 5);
        let threshold = self.threshold(dice, &h);
        self.literals.push(threshold);
        let mut beside: Vec<Whole> = self.numbers.clone();
        if dice.chance(25) {
            let k = self.whole(dice, "k", false, 4);
            let link = self.link(dice, &h, &k);
            self.range(&link);
            beside.push(k);
        }
        if beside.is_empty() {
            return;
        }
        let other = dice.pick(&beside).clone();
        let link = match dice.below(5) {
            0 => format!("(= {} (+ h {}))", other.name, dice.between(0, 2)),
            1 => format!("(= (+ {} h) {})", other.name, literal(other.low + h.high)),
            2 => format!("(<= h {} (+ h 3))", other.name),
            _ => self.link(dice, &h, &other),
        };
        if dice.chance(50) {
            self.range(&link);
        } else {
            self.literals.push(link);
        }
    }

    /// Conditions and numbers defined over others, and definitions over those.
    fn derived(&mut self, dice: &mut Dice) {
        for at in 0..dice.below(3) {
            let name = format!("d{at}");
            let size = 2 + dice.below(2);
            let body = self.formula(dice, size);
            self.declare(&name, "Bool", false);
            match dice.below(12) {
                0 => self.rule(&format!("(=> {body} {name})")),
                1 => {
                    let second = self.formula(dice, 1);
                    self.rule(&format!("(= {name} {body})"));
                    self.rule(&format!("(=> {second} {name})"));
                }
                2 => {
                    self.declare(&format!("{name}m"), "Bool", false);
                    self.rule(&format!("(= {name} (not {name}m))"));
                    self.rule(&format!("(= {name}m (not {name}))"));
                    self.rule(&format!("(=> {body} {name}m)"));
                }
                3 => {
                    self.rule(&format!("(= {name} {body})"));
                    let third = self.formula(dice, 2);
                    self.rule(&format!("(= {name} {third})"));
                }
                _ => self.rule(&format!("(= {name} {body})")),
            }
            self.literals.push(name);
        }
        if dice.chance(30) && !self.numbers.is_empty() {
            self.derived_number(dice);
        }
    }

    fn derived_number(&mut self, dice: &mut Dice) {
        let x = dice.pick(&self.numbers).clone();
        let when = self.formula(dice, 1);
        let name = &x.name;
        if dice.chance(30) {
            let bound = literal(dice.between(x.low, x.high));
            self.literals.push(format!("(<= (ite {when} {name} 2) {bound})"));
            return;
        }
        let last = self.numbers[self.numbers.len() - 1].clone();
        let (low, high, body) = match dice.below(3) {
            0 => (x.low, x.high + 2, format!("(ite {when} (+ {name} 2) {name})")),
            1 => (x.low + last.low, x.high + last.high, format!("(+ {name} {})", last.name)),
            _ => (x.low - 1, x.high - 1, format!("(- {name} 1)")),
        };
        self.declare("n", "Int", false);
        self.domains.insert("n".to_owned(), (low..=high).map(whole).collect());
        self.rule(&format!("(= n {body})"));
        let number = Whole { name: "n".to_owned(), low, high };
        let threshold = self.threshold(dice, &number);
        self.literals.push(threshold);
    }

    /// What the verdict depends on; returns the verdict's name.
    fn verdict(&mut self, dice: &mut Dice) -> &'static str {
        let size = 4 + dice.below(3);
        let first = self.formula(dice, size);
        let size = 2 + dice.below(2);
        let second = self.formula(dice, size);
        let third = self.formula(dice, 2);
        let way = dice.below(100);
        if way < 55 {
            self.declare("v", "Bool", false);
            match way {
                0..=24 => self.rule(&format!("(= v {first})")),
                25..=32 => {
                    self.rule(&format!("(= v (and {first} (or {second} {third})))"));
                }
                33..=46 => {
                    self.rule(&format!("(=> {first} v)"));
                    self.rule(&format!("(=> (and (not {first}) {second}) (not v))"));
                }
                _ => {
                    self.rule(&format!("(=> {first} v)"));
                    self.rule(&format!("(=> {second} (not v))"));
                }
            }
            if dice.chance(15) {
                self.declarations += &format!("(define-const w Bool (or v (and b0 {third})))\n");
                return "w";
            }
            return "v";
        }
        self.declarations += "(declare-datatype Answer ((yes) (no) (later)))\n";
        self.declare("v", "Answer", false);
        match way {
            55..=79 => {
                self.rule(&format!("(= v (ite {first} yes (ite {second} no later)))"));
            }
            80..=89 => {
                self.rule(&format!("(=> {first} (= v yes))"));
                self.rule(&format!("(=> (and (not {first}) {second}) (= v no))"));
                self.rule(&format!("(=> (and (not {first}) {third}) (distinct v yes))"));
            }
            _ => {
                self.rule(&format!("(=> {first} (= v yes))"));
                self.rule(&format!("(=> {second} (= v no))"));
                self.rule(&format!("(=> (= v later) {third})"));
            }
        }
        "v"
    }

    /// Clauses that the verdict does not depend on, some of them about its facts.
    fn unrelated(&mut self, dice: &mut Dice) {
        self.declare("z0", "Bool", true);
        self.declare("z1", "Bool", false);
        self.rule("(=> z0 z1)");
        self.declare("z2", "Bool", false);
        let body = self.formula(dice, 2);
        self.rule(&format!("(= z2 {body})"));
        if let [a, .., b] = self.numbers.clone().as_slice() {
            self.declare("z3", "Bool", false);
            let (link, threshold) = (self.link(dice, a, b), self.threshold(dice, b));
            self.rule(&format!("(= z3 (or z2 (and {link} {threshold})))"));
        }
    }
}

/// The policy of a number, or none where its scenarios are too many for brute force.
pub(crate) fn invent(seed: u64) -> Option<Invented> {
    let mut dice = Dice::new(seed);
    let dice = &mut dice;
    let mut draft = Draft { scenarios: 1, ..Draft::default() };
    draft.facts(dice);
    draft.numbers(dice);
    if dice.chance(22) {
        draft.opaque(dice);
    }
    draft.hidden(dice);
    draft.derived(dice);
    let verdict = draft.verdict(dice);
    if dice.chance(12) {
        draft.unrelated(dice);
    }
    if draft.scenarios > 12_000 {
        return None;
    }
    // Definitions may use what is declared after them: constants stand first, in one order.
    let (constants, definitions): (Vec<&str>, Vec<&str>) =
        draft.declarations.lines().partition(|line| !line.starts_with("(define-const"));
    let text = format!(
        "(set-logic ALL)\n{}\n{}\n{}",
        constants.join("\n"),
        definitions.join("\n"),
        draft.clauses
    );
    let inquiry = engine::inquiry(&text, &draft.askable, verdict, &draft.opaque);
    let terms = &inquiry.policy.terms;
    let domain = |(_, constant): (_, &Constant)| match constant.sort {
        Sort::Int | Sort::Real => draft.domains[&constant.name].clone(),
        sort => terms.values_of(sort).unwrap(),
    };
    let domains = terms.constants().map(domain).collect();
    Some(Invented { text, inquiry, domains })
}
