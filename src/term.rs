//! Typed terms of the quantifier-free fragment: an arena with checked, simplifying constructors.
//!
//! Every term is Bool, Int, Real or of an enumeration; arithmetic is linear and exact. Terms are
//! hash-consed: equal terms have equal ids, so a policy is a list of ids into one [`Terms`].

#![expect(clippy::indexing_slicing, reason = "ids index the arena that made them")]

use std::fmt;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;

/// Exact number: an Int is one with denominator 1.
pub type Number = BigRational;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub(crate) u32);
        impl $name {
            /// Position in its arena.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

ids! {
    /// A term of one [`Terms`].
    TermId,
    /// A declared constant of one [`Terms`]; order is declaration order.
    ConstId,
    /// An enumeration of one [`Terms`].
    EnumId
}

/// The sort of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Integers.
    Int,
    /// Rationals.
    Real,
    /// A finite set of named values.
    Enum(EnumId),
}

impl Sort {
    /// Int or Real.
    #[must_use]
    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Int | Self::Real)
    }
}

/// A value of some sort.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A number; of sort Int exactly when the constant it belongs to is.
    Number(Number),
    /// A constructor, by its position in its enumeration.
    Enum(EnumId, u32),
}

/// A declared enumeration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enumeration {
    /// Name of the sort.
    pub name: String,
    /// Its values in declaration order.
    pub constructors: Vec<String>,
}

/// A declared constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant {
    /// Name, qualified by policy where it is foreign to the determination's own policy.
    pub name: String,
    /// Its sort.
    pub sort: Sort,
}

/// A node of the arena. Canonical: n-ary junctions are flat, sorted and free of doubles; there is
/// no implication, `distinct`, `>` or `>=` (see [`Terms`] for how they are built).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Term {
    /// `true` or `false`.
    Bool(bool),
    /// A literal of sort Int or Real.
    Number(Number, Sort),
    /// A constructor.
    Ctor(EnumId, u32),
    /// A declared constant.
    Const(ConstId),
    /// Negation.
    Not(TermId),
    /// Conjunction of two or more.
    And(Box<[TermId]>),
    /// Disjunction of two or more.
    Or(Box<[TermId]>),
    /// If then else, of any sort.
    Ite(TermId, TermId, TermId),
    /// Equality of two terms of one sort.
    Eq(TermId, TermId),
    /// `a <= b`.
    Le(TermId, TermId),
    /// `a < b`.
    Lt(TermId, TermId),
    /// Sum of two or more.
    Sum(Box<[TermId]>),
    /// A literal times a term.
    Scale(Number, TermId),
    /// An Int as a Real.
    ToReal(TermId),
}

/// Why a term cannot be built.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SortFault {
    /// An argument has another sort than the operator takes.
    #[error("`{operator}` takes {expected}, but an argument is {found}")]
    Mismatch {
        /// The operator as written.
        operator: &'static str,
        /// What it takes.
        expected: String,
        /// What it was given.
        found: String,
    },
    /// A product of two terms neither of which is a literal.
    #[error("a product needs a literal on one side")]
    NonLinear,
    /// A quotient by zero.
    #[error("division by zero")]
    DivisionByZero,
}

type Built = Result<TermId, SortFault>;

/// The arena of terms, constants and enumerations.
#[derive(Clone, Default, Debug)]
pub struct Terms {
    nodes: Vec<Term>,
    sorts: Vec<Sort>,
    index: FxHashMap<Term, TermId>,
    constants: Vec<Constant>,
    enumerations: Vec<Enumeration>,
}

impl Terms {
    /// An empty arena.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn intern(&mut self, term: Term, sort: Sort) -> TermId {
        if let Some(id) = self.index.get(&term) {
            return *id;
        }
        let id = TermId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(term.clone());
        self.sorts.push(sort);
        self.index.insert(term, id);
        id
    }

    /// The node of an id.
    #[must_use]
    pub fn get(&self, id: TermId) -> &Term {
        &self.nodes[id.index()]
    }

    /// The sort of a term.
    #[must_use]
    pub fn sort(&self, id: TermId) -> Sort {
        self.sorts[id.index()]
    }

    /// Number of terms; every id is below it, and arguments come before the terms that use them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing was built.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Declares an enumeration.
    pub fn declare_enumeration(&mut self, name: &str, constructors: Vec<String>) -> EnumId {
        let id = EnumId(u32::try_from(self.enumerations.len()).unwrap_or(u32::MAX));
        self.enumerations.push(Enumeration { name: name.to_owned(), constructors });
        id
    }

    /// Declares a constant; names are not checked here.
    pub fn declare(&mut self, name: &str, sort: Sort) -> ConstId {
        let id = ConstId(u32::try_from(self.constants.len()).unwrap_or(u32::MAX));
        self.constants.push(Constant { name: name.to_owned(), sort });
        id
    }

    /// A constant's declaration.
    #[must_use]
    pub fn constant(&self, id: ConstId) -> &Constant {
        &self.constants[id.index()]
    }

    /// All constants in declaration order.
    pub fn constants(&self) -> impl Iterator<Item = (ConstId, &Constant)> {
        self.constants
            .iter()
            .enumerate()
            .map(|(index, constant)| (ConstId(u32::try_from(index).unwrap_or(u32::MAX)), constant))
    }

    /// An enumeration's declaration.
    #[must_use]
    pub fn enumeration(&self, id: EnumId) -> &Enumeration {
        &self.enumerations[id.index()]
    }

    /// All enumerations in declaration order.
    pub fn enumerations(&self) -> impl Iterator<Item = (EnumId, &Enumeration)> {
        self.enumerations.iter().enumerate().map(|(index, enumeration)| {
            (EnumId(u32::try_from(index).unwrap_or(u32::MAX)), enumeration)
        })
    }

    /// The values of a finite sort in declaration order (`false` before `true`), or none.
    #[must_use]
    pub fn values_of(&self, sort: Sort) -> Option<Vec<Value>> {
        match sort {
            Sort::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
            Sort::Enum(id) => {
                let count = u32::try_from(self.enumeration(id).constructors.len()).ok()?;
                Some((0..count).map(|at| Value::Enum(id, at)).collect())
            }
            Sort::Int | Sort::Real => None,
        }
    }

    /// The literal of a value.
    pub fn value(&mut self, value: &Value, sort: Sort) -> TermId {
        match value {
            Value::Bool(truth) => self.bool(*truth),
            Value::Number(number) => self.number(number.clone(), sort),
            Value::Enum(id, at) => self.ctor(*id, *at),
        }
    }

    /// `true` or `false`.
    pub fn bool(&mut self, truth: bool) -> TermId {
        self.intern(Term::Bool(truth), Sort::Bool)
    }

    /// A literal of sort Int or Real.
    pub fn number(&mut self, number: Number, sort: Sort) -> TermId {
        self.intern(Term::Number(number, sort), sort)
    }

    /// A constructor of an enumeration.
    pub fn ctor(&mut self, id: EnumId, at: u32) -> TermId {
        self.intern(Term::Ctor(id, at), Sort::Enum(id))
    }

    /// A declared constant as a term.
    pub fn constant_term(&mut self, id: ConstId) -> TermId {
        let sort = self.constant(id).sort;
        self.intern(Term::Const(id), sort)
    }

    /// Words for a sort, as a message shows it.
    #[must_use]
    pub fn sort_name(&self, sort: Sort) -> String {
        match sort {
            Sort::Bool => "Bool".to_owned(),
            Sort::Int => "Int".to_owned(),
            Sort::Real => "Real".to_owned(),
            Sort::Enum(id) => self.enumeration(id).name.clone(),
        }
    }

    fn expect(&self, operator: &'static str, expected: Sort, arg: TermId) -> Result<(), SortFault> {
        let found = self.sort(arg);
        if found == expected {
            return Ok(());
        }
        Err(SortFault::Mismatch {
            operator,
            expected: self.sort_name(expected),
            found: self.sort_name(found),
        })
    }

    fn expect_numeric(&self, operator: &'static str, args: &[TermId]) -> Result<Sort, SortFault> {
        let mut sort = None;
        for arg in args {
            let found = self.sort(*arg);
            if !found.is_numeric() || sort.is_some_and(|known| known != found) {
                let expected = match sort {
                    Some(known) => self.sort_name(known),
                    None => "numbers".to_owned(),
                };
                let found = self.sort_name(found);
                return Err(SortFault::Mismatch { operator, expected, found });
            }
            sort = Some(found);
        }
        Ok(sort.unwrap_or(Sort::Int))
    }

    /// Negation.
    ///
    /// # Errors
    /// The argument is not Bool (so for every junction below).
    pub fn not(&mut self, arg: TermId) -> Built {
        self.expect("not", Sort::Bool, arg)?;
        Ok(match self.get(arg) {
            Term::Bool(truth) => {
                let truth = !*truth;
                self.bool(truth)
            }
            Term::Not(inner) => *inner,
            _ => self.intern(Term::Not(arg), Sort::Bool),
        })
    }

    fn junction(&mut self, args: &[TermId], neutral: bool) -> Built {
        let operator = if neutral { "and" } else { "or" };
        let mut flat: Vec<TermId> = Vec::with_capacity(args.len());
        for arg in args {
            self.expect(operator, Sort::Bool, *arg)?;
            match (self.get(*arg), neutral) {
                (Term::Bool(truth), _) if *truth == neutral => {}
                (Term::Bool(_), _) => return Ok(self.bool(!neutral)),
                (Term::And(inner), true) | (Term::Or(inner), false) => flat.extend(inner.iter()),
                _ => flat.push(*arg),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        let clash = flat.iter().any(|arg| match self.get(*arg) {
            Term::Not(inner) => flat.binary_search(inner).is_ok(),
            _ => false,
        });
        if clash {
            return Ok(self.bool(!neutral));
        }
        Ok(match flat.as_slice() {
            [] => self.bool(neutral),
            [only] => *only,
            _ if neutral => self.intern(Term::And(flat.into()), Sort::Bool),
            _ => self.intern(Term::Or(flat.into()), Sort::Bool),
        })
    }

    /// Conjunction; of nothing it is `true`.
    ///
    /// # Errors
    /// An argument is not Bool.
    pub fn and(&mut self, args: &[TermId]) -> Built {
        self.junction(args, true)
    }

    /// Disjunction; of nothing it is `false`.
    ///
    /// # Errors
    /// An argument is not Bool.
    pub fn or(&mut self, args: &[TermId]) -> Built {
        self.junction(args, false)
    }

    /// `a => b`, built as `(or (not a) b)`.
    ///
    /// # Errors
    /// An argument is not Bool.
    pub fn implies(&mut self, a: TermId, b: TermId) -> Built {
        let not_a = self.not(a)?;
        self.or(&[not_a, b])
    }

    /// Exclusive or, built as a negated equality.
    ///
    /// # Errors
    /// An argument is not Bool.
    pub fn xor(&mut self, a: TermId, b: TermId) -> Built {
        self.expect("xor", Sort::Bool, a)?;
        let same = self.eq(a, b)?;
        self.not(same)
    }

    /// Equality.
    ///
    /// # Errors
    /// The arguments differ in sort.
    pub fn eq(&mut self, a: TermId, b: TermId) -> Built {
        let sort = self.sort(a);
        self.expect("=", sort, b)?;
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if a == b {
            return Ok(self.bool(true));
        }
        match (self.get(a).clone(), self.get(b).clone()) {
            (Term::Number(x, _), Term::Number(y, _)) => return Ok(self.bool(x == y)),
            (Term::Ctor(_, x), Term::Ctor(_, y)) => return Ok(self.bool(x == y)),
            (Term::Bool(truth), _) => return if truth { Ok(b) } else { self.not(b) },
            (_, Term::Bool(truth)) => return if truth { Ok(a) } else { self.not(a) },
            _ => {}
        }
        Ok(self.intern(Term::Eq(a, b), Sort::Bool))
    }

    /// Pairwise different.
    ///
    /// # Errors
    /// The arguments differ in sort.
    pub fn distinct(&mut self, args: &[TermId]) -> Built {
        let mut parts = Vec::new();
        for (index, a) in args.iter().enumerate() {
            for b in args.iter().skip(index + 1) {
                let same = self.eq(*a, *b)?;
                parts.push(self.not(same)?);
            }
        }
        self.and(&parts)
    }

    /// If then else.
    ///
    /// # Errors
    /// The condition is not Bool, or the branches differ in sort.
    pub fn ite(&mut self, condition: TermId, then: TermId, otherwise: TermId) -> Built {
        self.expect("ite", Sort::Bool, condition)?;
        let sort = self.sort(then);
        self.expect("ite", sort, otherwise)?;
        match self.get(condition) {
            Term::Bool(true) => return Ok(then),
            Term::Bool(false) => return Ok(otherwise),
            _ if then == otherwise => return Ok(then),
            _ => {}
        }
        if sort == Sort::Bool {
            let yes = self.and(&[condition, then])?;
            let no = self.not(condition)?;
            let no = self.and(&[no, otherwise])?;
            return self.or(&[yes, no]);
        }
        Ok(self.intern(Term::Ite(condition, then, otherwise), sort))
    }

    /// `a <= b`.
    ///
    /// # Errors
    /// The arguments are not numbers of one sort.
    pub fn le(&mut self, a: TermId, b: TermId) -> Built {
        self.expect_numeric("<=", &[a, b])?;
        if a == b {
            return Ok(self.bool(true));
        }
        if let (Term::Number(x, _), Term::Number(y, _)) = (self.get(a), self.get(b)) {
            let truth = x <= y;
            return Ok(self.bool(truth));
        }
        Ok(self.intern(Term::Le(a, b), Sort::Bool))
    }

    /// `a < b`.
    ///
    /// # Errors
    /// The arguments are not numbers of one sort.
    pub fn lt(&mut self, a: TermId, b: TermId) -> Built {
        self.expect_numeric("<", &[a, b])?;
        if a == b {
            return Ok(self.bool(false));
        }
        if let (Term::Number(x, _), Term::Number(y, _)) = (self.get(a), self.get(b)) {
            let truth = x < y;
            return Ok(self.bool(truth));
        }
        Ok(self.intern(Term::Lt(a, b), Sort::Bool))
    }

    /// Sum; of nothing it is not built.
    ///
    /// # Errors
    /// The arguments are not numbers of one sort.
    pub fn sum(&mut self, args: &[TermId]) -> Built {
        let sort = self.expect_numeric("+", args)?;
        let mut literal = Number::zero();
        let mut rest = Vec::with_capacity(args.len());
        for arg in args {
            let parts = match self.get(*arg) {
                Term::Sum(inner) => inner,
                _ => std::slice::from_ref(arg),
            };
            for part in parts {
                match self.get(*part) {
                    Term::Number(number, _) => literal += number,
                    _ => rest.push(*part),
                }
            }
        }
        if !literal.is_zero() || rest.is_empty() {
            rest.push(self.number(literal, sort));
        }
        rest.sort_unstable();
        Ok(match rest.as_slice() {
            [only] => *only,
            _ => self.intern(Term::Sum(rest.into()), sort),
        })
    }

    /// A literal times a term.
    ///
    /// # Errors
    /// The term is not a number.
    pub fn scale(&mut self, factor: &Number, arg: TermId) -> Built {
        let sort = self.expect_numeric("*", &[arg])?;
        if factor.is_one() {
            return Ok(arg);
        }
        if factor.is_zero() {
            return Ok(self.number(Number::zero(), sort));
        }
        Ok(match self.get(arg).clone() {
            Term::Number(number, _) => self.number(number * factor, sort),
            Term::Scale(inner, base) => return self.scale(&(inner * factor), base),
            _ => self.intern(Term::Scale(factor.clone(), arg), sort),
        })
    }

    /// Product of two terms, one of them a literal.
    ///
    /// # Errors
    /// Neither is a literal, or they are not numbers of one sort.
    pub fn product(&mut self, a: TermId, b: TermId) -> Built {
        self.expect_numeric("*", &[a, b])?;
        match (self.get(a).clone(), self.get(b).clone()) {
            (Term::Number(factor, _), _) => self.scale(&factor, b),
            (_, Term::Number(factor, _)) => self.scale(&factor, a),
            _ => Err(SortFault::NonLinear),
        }
    }

    /// An Int as a Real.
    ///
    /// # Errors
    /// The argument is not Int.
    pub fn to_real(&mut self, arg: TermId) -> Built {
        self.expect("to_real", Sort::Int, arg)?;
        Ok(match self.get(arg).clone() {
            Term::Number(number, _) => self.number(number, Sort::Real),
            _ => self.intern(Term::ToReal(arg), Sort::Real),
        })
    }

    /// The arguments of a term.
    #[must_use]
    pub fn args(&self, id: TermId) -> Vec<TermId> {
        match self.get(id) {
            Term::Bool(_) | Term::Number(..) | Term::Ctor(..) | Term::Const(_) => Vec::new(),
            Term::Not(a) | Term::Scale(_, a) | Term::ToReal(a) => vec![*a],
            Term::And(args) | Term::Or(args) | Term::Sum(args) => args.to_vec(),
            Term::Ite(a, b, c) => vec![*a, *b, *c],
            Term::Eq(a, b) | Term::Le(a, b) | Term::Lt(a, b) => vec![*a, *b],
        }
    }

    /// The constants that occur in a term, in declaration order.
    #[must_use]
    pub fn constants_in(&self, id: TermId) -> Vec<ConstId> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut found = Vec::new();
        let mut stack = vec![id];
        while let Some(term) = stack.pop() {
            if !seen.insert(term) {
                continue;
            }
            match self.get(term) {
                Term::Const(constant) => found.push(*constant),
                _ => stack.extend(self.args(term)),
            }
        }
        found.sort_unstable();
        found
    }

    /// A value in SMT-LIB spelling without sort: `true`, `-5`, `7/2`, a constructor.
    #[must_use]
    pub fn spell(&self, value: &Value) -> String {
        match value {
            Value::Bool(truth) => truth.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Enum(id, at) => self.enumeration(*id).constructors[*at as usize].clone(),
        }
    }

    /// Reads what [`Terms::spell`] writes, for a constant of the given sort.
    #[must_use]
    pub fn read(&self, text: &str, sort: Sort) -> Option<Value> {
        match sort {
            Sort::Bool => text.parse().ok().map(Value::Bool),
            Sort::Int => text.parse::<BigInt>().ok().map(|n| Value::Number(n.into())),
            Sort::Real => read_number(text).map(Value::Number),
            Sort::Enum(id) => {
                let at = self.enumeration(id).constructors.iter().position(|c| c == text)?;
                Some(Value::Enum(id, u32::try_from(at).ok()?))
            }
        }
    }
}

/// Reads `-5`, `7/2` or `2.50` as an exact number.
#[must_use]
pub fn read_number(text: &str) -> Option<Number> {
    if let Some((whole, part)) = text.split_once('.') {
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits: BigInt = format!("{whole}{part}").parse().ok()?;
        let scale = BigInt::from(10).pow(u32::try_from(part.len()).ok()?);
        return Some(Number::new(digits, scale));
    }
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    let denominator: BigInt = denominator.parse().ok()?;
    if denominator.is_zero() {
        return None;
    }
    Some(Number::new(numerator.parse().ok()?, denominator))
}

/// A number as an SMT-LIB term of the given sort.
#[must_use]
pub fn smtlib_number(number: &Number, sort: Sort) -> String {
    let suffix = if sort == Sort::Real { ".0" } else { "" };
    let size = number.abs();
    let text = if size.is_integer() {
        format!("{}{suffix}", size.numer())
    } else {
        format!("(/ {}{suffix} {}{suffix})", size.numer(), size.denom())
    };
    if number.is_negative() { format!("(- {text})") } else { text }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "Bool",
            Self::Int => "Int",
            Self::Real => "Real",
            Self::Enum(_) => "enumeration",
        })
    }
}
