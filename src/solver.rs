//! The only file that knows Z3.
//!
//! A [`Session`] is one prepared incremental solver over some assertions: literals are made once
//! and handed over as assumptions, so that thousands of questions share what the solver has learnt.
//! Only yes/no answers leave this file as results; models and cores are hints which the caller
//! re-checks, because they differ between seeds and versions. Enumerations are encoded by one
//! Boolean per value, which measures faster than the datatype theory.

#![expect(clippy::indexing_slicing, reason = "literals index the session that made them")]

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use num_traits::Signed;
use rustc_hash::FxHashMap;
use z3::ast::{Ast, Bool, Int, Real};
use z3::{Model, Params, SatResult, Solver};

use crate::term::{ConstId, Number, Sort, Term, TermId, Terms, Value, read_number};

/// Counts the checks of a run; clones share the count.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<AtomicU64>);

impl Meter {
    /// Checks so far.
    #[must_use]
    pub fn checks(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn tick(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Limits of every check. There is no default: whoever asks says how long.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Z3's resource units per check; 0 is no limit.
    pub rlimit: u32,
    /// Z3's random seed; answers must not depend on it.
    pub seed: u32,
    /// Where checks are counted.
    pub meter: Meter,
}

/// Why the solver did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The resource limit was reached.
    Limit,
    /// Anything else Z3 says.
    Incomplete,
}

/// What the solver said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Satisfiable; [`Session::model_value`] reads the model until the next check.
    Sat,
    /// Unsatisfiable with these of the assumptions (not minimal, differs between seeds).
    Unsat(Vec<Lit>),
    /// No answer; certifies nothing.
    Unknown(Why),
}

impl Answer {
    /// Satisfiable.
    #[must_use]
    pub fn is_sat(&self) -> bool {
        matches!(self, Self::Sat)
    }

    /// Unsatisfiable.
    #[must_use]
    pub fn is_unsat(&self) -> bool {
        matches!(self, Self::Unsat(_))
    }
}

/// A literal of one session.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lit(u32);

/// Name and version of the loaded solver, as asked at run time.
#[must_use]
pub fn version() -> String {
    format!("Z3 {}", z3::full_version().trim_start_matches("Z3 "))
}

/// Runs a task in a solver context of its own, untouched by what its thread was asked before.
pub fn apart<R: Send + Sync>(task: impl FnOnce() -> R + Send + Sync) -> R {
    z3::with_z3_config(&z3::Config::new(), task)
}

#[derive(Clone)]
enum Encoded {
    Bool(Bool),
    Int(Int),
    Real(Real),
    Enum(Vec<Bool>),
}

/// One prepared solver.
pub struct Session<'t> {
    terms: &'t Terms,
    solver: Solver,
    limits: Limits,
    encoded: Vec<Option<Encoded>>,
    constants: FxHashMap<ConstId, Encoded>,
    side: Vec<Bool>,
    literals: Vec<Bool>,
    by_ast: FxHashMap<String, Lit>,
    by_fact: FxHashMap<(ConstId, Value), Lit>,
    by_term: FxHashMap<(TermId, bool), Lit>,
    by_bound: FxHashMap<(ConstId, Number, bool), Lit>,
    model: Option<Model>,
}

impl<'t> Session<'t> {
    /// A solver that holds `asserts`, Bool terms of `terms`.
    #[must_use]
    pub fn new(terms: &'t Terms, asserts: &[TermId], limits: Limits) -> Self {
        let solver = Solver::new();
        let mut params = Params::new();
        // Measured best for many small queries on one prepared solver (docs/engine.md).
        params.set_bool("auto_config", false);
        params.set_u32("relevancy", 0);
        params.set_u32("arith.solver", 2);
        params.set_u32("random_seed", limits.seed);
        // Z3's own handler would swallow Ctrl-C during a check.
        params.set_bool("ctrl_c", false);
        if limits.rlimit > 0 {
            params.set_u32("rlimit", limits.rlimit);
        }
        solver.set_params(&params);
        let mut session = Self {
            terms,
            solver,
            limits,
            encoded: Vec::new(),
            constants: FxHashMap::default(),
            side: Vec::new(),
            literals: Vec::new(),
            by_ast: FxHashMap::default(),
            by_fact: FxHashMap::default(),
            by_term: FxHashMap::default(),
            by_bound: FxHashMap::default(),
            model: None,
        };
        for assert in asserts {
            session.assert(*assert);
        }
        session
    }

    /// Adds an assertion for good.
    pub fn assert(&mut self, term: TermId) {
        let ast = self.encode_bool(term);
        self.flush();
        self.solver.assert(&ast);
    }

    fn flush(&mut self) {
        for clause in std::mem::take(&mut self.side) {
            self.solver.assert(&clause);
        }
    }

    fn literal(&mut self, ast: Bool) -> Lit {
        let name = ast.to_string();
        if let Some(lit) = self.by_ast.get(&name) {
            return *lit;
        }
        let lit = Lit(u32::try_from(self.literals.len()).unwrap_or(u32::MAX));
        self.literals.push(ast);
        self.by_ast.insert(name, lit);
        lit
    }

    fn proxy(&mut self, ast: &Bool) -> Lit {
        let name = format!("deogen!{}", self.literals.len());
        let proxy = Bool::new_const(name.as_str());
        self.solver.assert(proxy.implies(ast));
        self.literal(proxy)
    }

    /// The literal `constant = value`, made once.
    pub fn fact(&mut self, constant: ConstId, value: &Value) -> Lit {
        if let Some(lit) = self.by_fact.get(&(constant, value.clone())) {
            return *lit;
        }
        let lit = match (self.constant(constant), value) {
            (Encoded::Bool(ast), Value::Bool(true)) => self.literal(ast),
            (Encoded::Bool(ast), Value::Bool(false)) => self.literal(ast.not()),
            (Encoded::Enum(flags), Value::Enum(_, at)) => match flags.get(*at as usize) {
                Some(flag) => self.literal(flag.clone()),
                None => self.literal(Bool::from_bool(false)),
            },
            (Encoded::Int(ast), Value::Number(number)) => {
                let equal = ast.eq(int(number));
                self.proxy(&equal)
            }
            (Encoded::Real(ast), Value::Number(number)) => {
                let equal = ast.eq(real(number));
                self.proxy(&equal)
            }
            _ => self.literal(Bool::from_bool(false)),
        };
        self.flush();
        self.by_fact.insert((constant, value.clone()), lit);
        lit
    }

    /// The literal of a Bool term or of its negation, made once. It implies the term; it is not
    /// implied by it.
    pub fn term(&mut self, term: TermId, positive: bool) -> Lit {
        if let Some(lit) = self.by_term.get(&(term, positive)) {
            return *lit;
        }
        let ast = self.encode_bool(term);
        self.flush();
        let ast = if positive { ast } else { ast.not() };
        let lit = match self.terms.get(term) {
            Term::Const(_) => self.literal(ast),
            _ => self.proxy(&ast),
        };
        self.by_term.insert((term, positive), lit);
        lit
    }

    /// The literal `constant <= bound` (or `>=`), made once; false for what is no number.
    pub fn bounded(&mut self, constant: ConstId, bound: &Number, upper: bool) -> Lit {
        let key = (constant, bound.clone(), upper);
        if let Some(lit) = self.by_bound.get(&key) {
            return *lit;
        }
        let ast = match (self.constant(constant), upper) {
            (Encoded::Int(ast), true) => ast.le(int(&bound.floor())),
            (Encoded::Int(ast), false) => ast.ge(int(&bound.ceil())),
            (Encoded::Real(ast), true) => ast.le(real(bound)),
            (Encoded::Real(ast), false) => ast.ge(real(bound)),
            _ => Bool::from_bool(false),
        };
        let lit = self.proxy(&ast);
        self.by_bound.insert(key, lit);
        lit
    }

    /// A literal that holds only if every given literal's disjunction does; for "any other value".
    pub fn any(&mut self, literals: &[Lit]) -> Lit {
        let asts: Vec<Bool> =
            literals.iter().map(|lit| self.literals[lit.0 as usize].clone()).collect();
        let either = Bool::or(&asts);
        self.proxy(&either)
    }

    /// Asserts for good that one of these literals holds.
    pub fn require(&mut self, literals: &[Lit]) {
        let lit = self.any(literals);
        let ast = self.literals[lit.0 as usize].clone();
        self.solver.assert(&ast);
    }

    /// Asks whether the assertions hold together with these literals.
    pub fn check(&mut self, assumptions: &[Lit]) -> Answer {
        self.limits.meter.tick();
        let asts: Vec<Bool> =
            assumptions.iter().map(|lit| self.literals[lit.0 as usize].clone()).collect();
        self.model = None;
        match self.solver.check_assumptions(&asts) {
            SatResult::Sat => Answer::Sat,
            SatResult::Unsat => {
                let core = self.solver.get_unsat_core();
                let mut lits: Vec<Lit> = core
                    .iter()
                    .filter_map(|ast| self.by_ast.get(&ast.to_string()).copied())
                    .collect();
                if lits.len() < core.len() {
                    lits = assumptions.to_vec();
                }
                lits.sort_unstable();
                Answer::Unsat(lits)
            }
            SatResult::Unknown => {
                let reason = self.solver.get_reason_unknown().unwrap_or_default();
                let limit = ["resource", "rlimit", "canceled", "max."];
                if limit.iter().any(|word| reason.contains(word)) {
                    Answer::Unknown(Why::Limit)
                } else {
                    Answer::Unknown(Why::Incomplete)
                }
            }
        }
    }

    /// The value a constant has in the model of the last check, if that was sat.
    pub fn model_value(&mut self, constant: ConstId) -> Option<Value> {
        if self.model.is_none() {
            self.model = self.solver.get_model();
        }
        let encoded = self.constant(constant);
        let sort = self.terms.constant(constant).sort;
        let model = self.model.as_ref()?;
        match (encoded, sort) {
            (Encoded::Bool(ast), _) => model.eval(&ast, true)?.as_bool().map(Value::Bool),
            (Encoded::Int(ast), _) => {
                read_model_number(&model.eval(&ast, true)?.to_string()).map(Value::Number)
            }
            (Encoded::Real(ast), _) => {
                read_model_number(&model.eval(&ast, true)?.to_string()).map(Value::Number)
            }
            (Encoded::Enum(flags), Sort::Enum(id)) => {
                // No flag is on where nothing asserted mentions the constant: then any value will
                // do.
                let on = flags.iter().position(|flag| {
                    model.eval(flag, true).and_then(|ast| ast.as_bool()) == Some(true)
                });
                let at = on.unwrap_or(0);
                Some(Value::Enum(id, u32::try_from(at).ok()?))
            }
            _ => None,
        }
    }

    /// Whether every assertion in `asserts` is true under a full scenario, by Z3's own evaluator.
    pub fn evaluates(&mut self, scenario: &[(ConstId, Value)], asserts: &[TermId]) -> bool {
        let model = Model::new();
        for (constant, value) in scenario {
            match (self.constant(*constant), value) {
                (Encoded::Bool(ast), Value::Bool(truth)) => {
                    model.add_const_interp(&ast.decl(), &Bool::from_bool(*truth));
                }
                (Encoded::Int(ast), Value::Number(number)) => {
                    model.add_const_interp(&ast.decl(), &int(number));
                }
                (Encoded::Real(ast), Value::Number(number)) => {
                    model.add_const_interp(&ast.decl(), &real(number));
                }
                (Encoded::Enum(flags), Value::Enum(_, at)) => {
                    for (index, flag) in flags.iter().enumerate() {
                        let truth = Bool::from_bool(index == *at as usize);
                        model.add_const_interp(&flag.decl(), &truth);
                    }
                }
                _ => return false,
            }
        }
        let asts: Vec<Bool> = asserts.iter().map(|term| self.encode_bool(*term)).collect();
        asts.iter().all(|ast| model.eval(ast, false).and_then(|ast| ast.as_bool()) == Some(true))
    }

    fn constant(&mut self, id: ConstId) -> Encoded {
        if let Some(known) = self.constants.get(&id) {
            return known.clone();
        }
        let declaration = self.terms.constant(id);
        let name = declaration.name.as_str();
        let encoded = match declaration.sort {
            Sort::Bool => Encoded::Bool(Bool::new_const(name)),
            Sort::Int => Encoded::Int(Int::new_const(name)),
            Sort::Real => Encoded::Real(Real::new_const(name)),
            Sort::Enum(sort) => {
                let values = &self.terms.enumeration(sort).constructors;
                let flags: Vec<Bool> =
                    values.iter().map(|value| Bool::new_const(format!("{name}={value}"))).collect();
                self.side.push(Bool::or(&flags));
                for (at, flag) in flags.iter().enumerate() {
                    for other in flags.iter().skip(at + 1) {
                        self.side.push(Bool::or(&[flag.not(), other.not()]));
                    }
                }
                Encoded::Enum(flags)
            }
        };
        self.constants.insert(id, encoded.clone());
        encoded
    }

    fn encode_bool(&mut self, term: TermId) -> Bool {
        match self.encode(term) {
            Encoded::Bool(ast) => ast,
            Encoded::Int(_) | Encoded::Real(_) | Encoded::Enum(_) => Bool::from_bool(false),
        }
    }

    fn encode(&mut self, root: TermId) -> Encoded {
        if self.encoded.len() < self.terms.len() {
            self.encoded.resize(self.terms.len(), None);
        }
        // Arguments come before the terms that use them, so ascending ids need no recursion.
        let mut needed = Vec::new();
        let mut stack = vec![root];
        while let Some(term) = stack.pop() {
            if self.encoded[term.index()].is_none() {
                needed.push(term);
                stack.extend(self.terms.args(term));
            }
        }
        needed.sort_unstable();
        needed.dedup();
        for term in needed {
            let encoded = self.compose(term);
            self.encoded[term.index()] = Some(encoded);
        }
        self.encoded[root.index()].clone().unwrap_or(Encoded::Bool(Bool::from_bool(false)))
    }

    fn arg(&self, term: TermId) -> Encoded {
        self.encoded[term.index()].clone().unwrap_or(Encoded::Bool(Bool::from_bool(false)))
    }

    fn bool_args(&self, args: &[TermId]) -> Vec<Bool> {
        args.iter()
            .map(|arg| match self.arg(*arg) {
                Encoded::Bool(ast) => ast,
                Encoded::Int(_) | Encoded::Real(_) | Encoded::Enum(_) => Bool::from_bool(false),
            })
            .collect()
    }

    fn compose(&mut self, term: TermId) -> Encoded {
        let sort = self.terms.sort(term);
        match self.terms.get(term) {
            Term::Bool(truth) => Encoded::Bool(Bool::from_bool(*truth)),
            Term::Number(number, Sort::Real) => Encoded::Real(real(number)),
            Term::Number(number, _) => Encoded::Int(int(number)),
            Term::Ctor(id, at) => {
                let count = self.terms.enumeration(*id).constructors.len();
                let flags = (0..count).map(|index| Bool::from_bool(index == *at as usize));
                Encoded::Enum(flags.collect())
            }
            Term::Const(id) => self.constant(*id),
            Term::Not(arg) => Encoded::Bool(self.bool_args(&[*arg])[0].not()),
            Term::And(args) => Encoded::Bool(Bool::and(&self.bool_args(args))),
            Term::Or(args) => Encoded::Bool(Bool::or(&self.bool_args(args))),
            Term::Ite(condition, then, otherwise) => {
                let condition = self.bool_args(&[*condition])[0].clone();
                choose(&condition, self.arg(*then), self.arg(*otherwise))
            }
            Term::Eq(a, b) => Encoded::Bool(equal(self.arg(*a), self.arg(*b))),
            Term::Le(a, b) => Encoded::Bool(match (self.arg(*a), self.arg(*b)) {
                (Encoded::Int(a), Encoded::Int(b)) => a.le(b),
                (Encoded::Real(a), Encoded::Real(b)) => a.le(b),
                _ => Bool::from_bool(false),
            }),
            Term::Lt(a, b) => Encoded::Bool(match (self.arg(*a), self.arg(*b)) {
                (Encoded::Int(a), Encoded::Int(b)) => a.lt(b),
                (Encoded::Real(a), Encoded::Real(b)) => a.lt(b),
                _ => Bool::from_bool(false),
            }),
            Term::Sum(args) => self.sum(args, sort),
            Term::Scale(factor, arg) => match self.arg(*arg) {
                Encoded::Int(ast) => Encoded::Int(Int::mul(&[int(factor), ast])),
                Encoded::Real(ast) => Encoded::Real(Real::mul(&[real(factor), ast])),
                other => other,
            },
            Term::ToReal(arg) => match self.arg(*arg) {
                Encoded::Int(ast) => Encoded::Real(Real::from_int(&ast)),
                other => other,
            },
        }
    }

    fn sum(&self, args: &[TermId], sort: Sort) -> Encoded {
        if sort == Sort::Real {
            let parts: Vec<Real> = args
                .iter()
                .filter_map(|arg| match self.arg(*arg) {
                    Encoded::Real(ast) => Some(ast),
                    _ => None,
                })
                .collect();
            return Encoded::Real(Real::add(&parts));
        }
        let parts: Vec<Int> = args
            .iter()
            .filter_map(|arg| match self.arg(*arg) {
                Encoded::Int(ast) => Some(ast),
                _ => None,
            })
            .collect();
        Encoded::Int(Int::add(&parts))
    }
}

fn choose(condition: &Bool, then: Encoded, otherwise: Encoded) -> Encoded {
    match (then, otherwise) {
        (Encoded::Bool(a), Encoded::Bool(b)) => Encoded::Bool(condition.ite(&a, &b)),
        (Encoded::Int(a), Encoded::Int(b)) => Encoded::Int(condition.ite(&a, &b)),
        (Encoded::Real(a), Encoded::Real(b)) => Encoded::Real(condition.ite(&a, &b)),
        (Encoded::Enum(a), Encoded::Enum(b)) => {
            Encoded::Enum(a.iter().zip(&b).map(|(a, b)| condition.ite(a, b)).collect())
        }
        (other, _) => other,
    }
}

fn equal(a: Encoded, b: Encoded) -> Bool {
    match (a, b) {
        (Encoded::Bool(a), Encoded::Bool(b)) => a.iff(&b),
        (Encoded::Int(a), Encoded::Int(b)) => a.eq(b),
        (Encoded::Real(a), Encoded::Real(b)) => a.eq(b),
        (Encoded::Enum(a), Encoded::Enum(b)) => {
            let same: Vec<Bool> =
                a.iter().zip(&b).map(|(a, b)| Bool::and(&[a.clone(), b.clone()])).collect();
            Bool::or(&same)
        }
        _ => Bool::from_bool(false),
    }
}

fn int(number: &Number) -> Int {
    Int::from_str(&number.to_integer().to_string()).unwrap_or_else(|()| Int::from_i64(0))
}

fn real(number: &Number) -> Real {
    Real::from_rational_str(&number.numer().to_string(), &number.denom().to_string())
        .unwrap_or_else(|| Real::from_rational(0, 1))
}

/// Reads a numeral as Z3 prints it: `5`, `(- 5)`, `7.0`, `(/ 7.0 2.0)`, `(- (/ 7.0 2.0))`.
fn read_model_number(text: &str) -> Option<Number> {
    let text = text.trim();
    let inner = |prefix: &str| text.strip_prefix(prefix)?.strip_suffix(')');
    if let Some(arg) = inner("(- ") {
        return read_model_number(arg).map(|number| -number);
    }
    if let Some(args) = inner("(/ ") {
        let (numerator, denominator) = args.split_once(' ')?;
        let denominator = read_model_number(denominator)?;
        return denominator
            .is_positive()
            .then_some(())
            .and_then(|()| Some(read_model_number(numerator)? / denominator));
    }
    read_number(text.trim_end_matches('?'))
}
