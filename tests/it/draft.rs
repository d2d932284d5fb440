//! A policy while it is being invented: its text so far, and the conditions formulas are made of.

use std::collections::BTreeMap;

use deogen::term::{Value, read_number};

/// SplitMix64: the same policies on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `sides - 1`.
    pub(crate) fn below(&mut self, sides: usize) -> usize {
        usize::try_from(self.roll() % sides as u64).unwrap()
    }

    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.below(usize::try_from(high - low + 1).unwrap())).unwrap()
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// A whole number of a policy with all values it may have.
#[derive(Clone)]
pub(crate) struct Whole {
    pub(crate) name: String,
    pub(crate) low: i64,
    pub(crate) high: i64,
}

#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) declarations: String,
    pub(crate) clauses: String,
    pub(crate) count: usize,
    /// Conditions that formulas are made of.
    pub(crate) literals: Vec<String>,
    pub(crate) numbers: Vec<Whole>,
    /// Domains of constants that are numbers.
    pub(crate) domains: BTreeMap<String, Vec<Value>>,
    pub(crate) askable: Vec<String>,
    pub(crate) opaque: Vec<String>,
    /// Combinations of stated and of hidden values so far.
    pub(crate) scenarios: usize,
}

pub(crate) fn whole(text: i64) -> Value {
    Value::Number(read_number(&text.to_string()).unwrap())
}

pub(crate) fn literal(number: i64) -> String {
    if number < 0 { format!("(- {})", -number) } else { number.to_string() }
}

impl Draft {
    pub(crate) fn declare(&mut self, name: &str, sort: &str, askable: bool) {
        self.declarations += &format!("(declare-const {name} {sort})\n");
        if askable {
            self.askable.push(name.to_owned());
        }
    }

    pub(crate) fn rule(&mut self, term: &str) {
        self.count += 1;
        let n = self.count;
        self.clauses +=
            &format!("(assert (! {term} :named c{n} :section \"{n}\" :source \"c{n}\"))\n");
    }

    pub(crate) fn range(&mut self, term: &str) {
        self.clauses += &format!("(assert (! {term} :kind range))\n");
    }

    pub(crate) fn whole(&mut self, dice: &mut Dice, name: &str, askable: bool, most: i64) -> Whole {
        let low = if dice.chance(75) { 0 } else { dice.between(-2, 2) };
        let high = low + dice.between(2, most);
        let number = Whole { name: name.to_owned(), low, high };
        self.ranged(&number, askable, dice.chance(50));
        number
    }

    pub(crate) fn ranged(&mut self, number: &Whole, askable: bool, chained: bool) {
        let Whole { name, low, high } = number;
        self.declare(name, "Int", askable);
        let values: Vec<Value> = (*low..=*high).map(whole).collect();
        self.scenarios *= values.len();
        self.domains.insert(name.clone(), values);
        let (low, high) = (literal(*low), literal(*high));
        if chained {
            self.range(&format!("(<= {low} {name} {high})"));
        } else {
            self.range(&format!("(>= {name} {low})"));
            self.range(&format!("(not (> {name} {high}))"));
        }
    }

    /// `name` compared with some bound inside its domain.
    pub(crate) fn threshold(&mut self, dice: &mut Dice, number: &Whole) -> String {
        let Whole { name, low, high } = number;
        let bound = literal(dice.between(*low, *high));
        match dice.below(9) {
            0 | 1 => format!("(<= {name} {bound})"),
            2 | 3 => format!("(> {name} {bound})"),
            4 => format!("(< {name} {bound})"),
            5 => format!("(= {name} {bound})"),
            6 => format!("(distinct {name} {bound})"),
            7 => format!("(>= (* 2 {name}) {})", literal(low + high)),
            _ => format!("(>= {name} {bound})"),
        }
    }

    /// Two numbers compared with each other.
    pub(crate) fn link(&mut self, dice: &mut Dice, a: &Whole, b: &Whole) -> String {
        let (x, y) = (&a.name, &b.name);
        let sum = literal(dice.between(a.low + b.low, a.high + b.high));
        let step = literal(dice.between(-2, 2));
        match dice.below(8) {
            0 => format!("(<= {x} {y})"),
            1 => format!("(< {x} {y})"),
            2 => format!("(<= (+ {x} {y}) {sum})"),
            3 => format!("(>= (- {x} {y}) {step})"),
            4 => format!("(= {x} (+ {y} {step}))"),
            5 => format!("(<= (* 2 {x}) (+ {y} {step}))"),
            6 => format!("(> (+ {x} (* 2 {y})) {sum})"),
            _ => format!("(>= {x} {y})"),
        }
    }

    /// A formula over `size` different conditions of the pool.
    pub(crate) fn formula(&mut self, dice: &mut Dice, size: usize) -> String {
        let mut pool = self.literals.clone();
        let mut parts = Vec::new();
        while parts.len() < size && !pool.is_empty() {
            let literal = pool.swap_remove(dice.below(pool.len()));
            parts.push(if dice.chance(25) { format!("(not {literal})") } else { literal });
        }
        while parts.len() > 1 {
            let a = parts.swap_remove(dice.below(parts.len()));
            let b = parts.swap_remove(dice.below(parts.len()));
            parts.push(match dice.below(14) {
                0..=5 => format!("(and {a} {b})"),
                6..=10 => format!("(or {a} {b})"),
                11 => format!("(=> {a} {b})"),
                12 => format!("(= {a} {b})"),
                _ => format!("(not (and {a} {b}))"),
            });
        }
        parts.pop().unwrap_or_else(|| "true".to_owned())
    }
}
