//! The operators of the fragment: what they take, what they give, and what to write instead of others.

use yaspar_ir::ast::alg;
use yaspar_ir::untyped::{Identifier, Str};

use super::convert::{Meaning, Symbols, did_you_mean};
use crate::diag::{Diagnostic, Span, nearest};
use crate::term::{Number, Sort, SortFault, Term, TermId, Terms};

/// An operator applied to arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator<'t> {
    And,
    Or,
    Xor,
    Not,
    Implies,
    Equal,
    Distinct,
    Ite,
    AtMost,
    Below,
    AtLeast,
    Above,
    Plus,
    Minus,
    Times,
    Over,
    ToReal,
    /// `(_ is constructor)`.
    Tester(&'t str),
    /// Gives its argument back if it has the sort that this function's parameter takes.
    Argument(&'t str, Sort),
}

/// Words that a misspelled operator may have meant.
pub(super) const WORDS: &[&str] = &["and", "or", "not", "xor", "distinct", "ite", "to_real"];

/// The operator of an identifier that is not a defined function.
pub(super) fn operator(name: &Identifier) -> Option<Operator<'_>> {
    if let ("is", [alg::Index::Symbol(constructor)]) = (name.symbol.as_str(), &*name.indices) {
        let constructor: &Str = constructor;
        return Some(Operator::Tester(constructor.as_str()));
    }
    if !name.indices.is_empty() {
        return None;
    }
    Some(match name.symbol.as_str() {
        "<=" => Operator::AtMost,
        "<" => Operator::Below,
        ">=" => Operator::AtLeast,
        ">" => Operator::Above,
        "+" => Operator::Plus,
        "-" => Operator::Minus,
        "*" => Operator::Times,
        "/" => Operator::Over,
        "to_real" => Operator::ToReal,
        _ => return None,
    })
}

/// Names with a fixed meaning, which a policy cannot declare.
pub(super) fn is_reserved(word: &str) -> bool {
    let core = ["and", "or", "not", "xor", "=>", "=", "distinct", "ite", "is", "true", "false"];
    let sorts = ["Bool", "Int", "Real", "String", "Array", "BitVec", "RegLan"];
    let numbers = ["<=", "<", ">=", ">", "+", "-", "*", "/", "to_real"];
    core.contains(&word)
        || sorts.contains(&word)
        || numbers.contains(&word)
        || refusal(word, false).is_some()
}

/// What to write instead of an operator of SMT-LIB that is outside the fragment.
pub(super) fn refusal(word: &str, indexed: bool) -> Option<&'static str> {
    Some(match word {
        "div" => "declare the quotient `q` and say `(and (<= (* 5 q) x) (< x (* 5 (+ q 1))))`",
        "mod" => "declare quotient and rest: `(and (= x (+ (* 5 q) r)) (<= 0 r) (< r 5))`",
        "abs" => "write `(ite (>= x 0) x (- x))`",
        "to_int" => {
            "declare the Int `n` and say `(and (<= (to_real n) x) (< x (+ (to_real n) 1.0)))`"
        }
        "is_int" => "declare an Int and use `to_real` where a Real is needed",
        "select" | "store" | "const" => "declare one constant for each entry of the array",
        _ if indexed
            || ["str.", "re.", "bv", "seq.", "fp."].iter().any(|p| word.starts_with(p)) =>
        {
            "use an enumeration (`declare-datatypes`) or an Int"
        }
        _ => return None,
    })
}

/// The word of an operator on truth values.
fn junction(operator: Operator<'_>) -> Option<&'static str> {
    Some(match operator {
        Operator::And => "and",
        Operator::Or => "or",
        Operator::Xor => "xor",
        Operator::Not => "not",
        Operator::Implies => "=>",
        _ => return None,
    })
}

/// A number of arguments in words.
pub(super) fn arguments(count: usize) -> String {
    if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") }
}

/// Where an operator is applied, and where its faults go.
pub(super) struct Context<'c> {
    pub(super) terms: &'c mut Terms,
    pub(super) faults: &'c mut Vec<Diagnostic>,
    pub(super) whole: Span,
    pub(super) spans: Vec<Span>,
}

impl Context<'_> {
    /// The term, or none if a fault was pushed.
    pub(super) fn apply(
        &mut self,
        operator: Operator<'_>,
        args: &[TermId],
        symbols: &Symbols,
    ) -> Option<TermId> {
        match operator {
            Operator::And | Operator::Or | Operator::Xor | Operator::Not | Operator::Implies => {
                self.logic(operator, args)
            }
            Operator::Equal | Operator::Distinct => {
                self.same("=", args)?;
                match args {
                    [a, b] if operator == Operator::Equal => self.built(|terms| terms.eq(*a, *b)),
                    _ => self.built(|terms| terms.distinct(args)),
                }
            }
            Operator::Ite => self.choice(args),
            Operator::AtMost | Operator::Below | Operator::AtLeast | Operator::Above => {
                self.compare(operator, args)
            }
            Operator::Plus | Operator::Minus | Operator::Times => self.arithmetic(operator, args),
            Operator::Over => self.quotient(args),
            Operator::ToReal => {
                self.count("to_real", args, 1)?;
                self.expect("to_real", args, Sort::Int)?;
                let arg = args.first().copied()?;
                self.built(|terms| terms.to_real(arg))
            }
            Operator::Tester(constructor) => self.tester(constructor, args, symbols),
            Operator::Argument(function, sort) => {
                self.expect(function, args, sort)?;
                args.first().copied()
            }
        }
    }

    /// One argument has a fault that was reported; the sorts of the others may be wrong too.
    pub(super) fn despite_faults(&mut self, operator: Operator<'_>, args: &[Option<TermId>]) {
        let Some(word) = junction(operator) else { return };
        let spans = std::mem::take(&mut self.spans);
        for (span, arg) in spans.into_iter().zip(args) {
            if let Some(arg) = arg {
                self.spans = vec![span];
                self.expect(word, &[*arg], Sort::Bool);
            }
        }
    }

    fn built(
        &mut self,
        make: impl FnOnce(&mut Terms) -> Result<TermId, SortFault>,
    ) -> Option<TermId> {
        let fault = match make(self.terms) {
            Ok(term) => return Some(term),
            Err(fault) => fault,
        };
        let span = self.whole.clone();
        self.faults.push(match fault {
            SortFault::NonLinear => {
                Diagnostic::error("non-linear", "a product of two terms, neither a literal")
                    .at(span, "")
                    .hint("arithmetic is linear: one side of `*` is a number such as `3`")
            }
            SortFault::DivisionByZero => Diagnostic::error("division", "division by zero")
                .at(span, "")
                .hint("divide by a literal that is not zero"),
            SortFault::Mismatch { .. } => {
                Diagnostic::error("sort-mismatch", fault.to_string()).at(span, "")
            }
        });
        None
    }

    fn sort_of(&self, term: TermId) -> String {
        self.terms.sort_name(self.terms.sort(term))
    }

    fn span(&self, index: usize) -> Span {
        self.spans.get(index).unwrap_or(&self.whole).clone()
    }

    fn count(&mut self, word: &str, args: &[TermId], count: usize) -> Option<()> {
        if args.len() == count {
            return Some(());
        }
        let message = format!("`{word}` takes {}, not {}", arguments(count), args.len());
        let hint = format!("write `({word}{})`", " term".repeat(count));
        self.faults.push(Diagnostic::error("arity", message).at(self.whole.clone(), "").hint(hint));
        None
    }

    /// Every argument has the sort, or faults are pushed for those that have not.
    fn expect(&mut self, word: &str, args: &[TermId], sort: Sort) -> Option<()> {
        let mut good = Some(());
        for (index, arg) in args.iter().enumerate() {
            let found = self.terms.sort(*arg);
            if found == sort {
                continue;
            }
            let (expected, name) = (self.terms.sort_name(sort), self.sort_of(*arg));
            let fault = if found.is_numeric() && sort.is_numeric() {
                self.mixed(word, index, *arg, None)
            } else {
                Diagnostic::error("sort-mismatch", format!("`{word}` takes {expected} here"))
                    .at(self.span(index), format!("this is {name}"))
                    .hint(self.way_to(sort, *arg))
            };
            self.faults.push(fault);
            good = None;
        }
        good
    }

    fn way_to(&self, expected: Sort, arg: TermId) -> String {
        match (expected, self.terms.sort(arg)) {
            (Sort::Bool, found) if found.is_numeric() => {
                "compare it, for example `(>= x 1)`".to_owned()
            }
            (Sort::Bool, Sort::Enum(id)) => {
                let first = self.terms.enumeration(id).constructors.first();
                let name = first.map_or("constructor", String::as_str);
                format!("compare it, for example `(= x {name})`")
            }
            (_, Sort::Bool) => "use `ite` to turn a truth value into another value".to_owned(),
            _ => "check which constant was meant".to_owned(),
        }
    }

    /// All arguments have the sort of the first.
    fn same(&mut self, word: &str, args: &[TermId]) -> Option<()> {
        let first = args.first().copied()?;
        let sort = self.terms.sort(first);
        let wrong = args.iter().enumerate().find(|(_, arg)| self.terms.sort(**arg) != sort);
        let Some((index, arg)) = wrong else { return Some(()) };
        let fault = if self.terms.sort(*arg).is_numeric() && sort.is_numeric() {
            self.mixed(word, index, *arg, Some(first))
        } else {
            let (a, b) = (self.sort_of(first), self.sort_of(*arg));
            Diagnostic::error("sort-mismatch", format!("{a} and {b} cannot be compared or mixed"))
                .at(self.span(index), format!("this is {b}"))
                .at(self.span(0), format!("this is {a}"))
                .hint("both sides need one sort")
        };
        self.faults.push(fault);
        None
    }

    fn mixed(&self, word: &str, index: usize, arg: TermId, first: Option<TermId>) -> Diagnostic {
        let found = self.sort_of(arg);
        let mut fault =
            Diagnostic::error("mixed-arithmetic", format!("`{word}` mixes Int and Real"))
                .at(self.span(index), format!("this is {found}"));
        if let Some(first) = first {
            fault = fault.at(self.span(0), format!("this is {}", self.sort_of(first)));
        }
        let int = match (self.terms.sort(arg), first) {
            (Sort::Int, _) | (_, None) => (arg, index),
            (_, Some(first)) => (first, 0),
        };
        let text = self.span(int.1);
        let text = text.source.text().get(text.range.clone()).unwrap_or("n").to_owned();
        if matches!(self.terms.get(int.0), Term::Number(_, Sort::Int)) && !text.contains('(') {
            fault.hint(format!("write `{text}.0`: nothing turns an Int into a Real by itself"))
        } else if self.terms.sort(int.0) == Sort::Int {
            fault.hint("wrap the Int: `(to_real n)`")
        } else {
            fault.hint("use an Int here; nothing turns a Real into an Int by itself")
        }
    }

    fn logic(&mut self, operator: Operator<'_>, args: &[TermId]) -> Option<TermId> {
        self.expect(junction(operator)?, args, Sort::Bool)?;
        let (first, rest) = args.split_first()?;
        match operator {
            Operator::And => self.built(|terms| terms.and(args)),
            Operator::Or => self.built(|terms| terms.or(args)),
            Operator::Not => self.built(|terms| terms.not(*first)),
            Operator::Xor => {
                rest.iter().try_fold(*first, |sum, arg| self.built(|terms| terms.xor(sum, *arg)))
            }
            _ => {
                let (last, before) = args.split_last()?;
                before
                    .iter()
                    .rev()
                    .try_fold(*last, |sum, arg| self.built(|terms| terms.implies(*arg, sum)))
            }
        }
    }

    fn choice(&mut self, args: &[TermId]) -> Option<TermId> {
        let [condition, then, otherwise] = args else { return None };
        let (condition, then, otherwise) = (*condition, *then, *otherwise);
        let tested = self.expect("ite", &[condition], Sort::Bool);
        // The branches are the second and third argument: shift the places along with them.
        let first = (!self.spans.is_empty()).then(|| self.spans.remove(0));
        let branches = self.same("ite", &[then, otherwise]);
        if let Some(first) = first {
            self.spans.insert(0, first);
        }
        tested.and(branches)?;
        self.built(|terms| terms.ite(condition, then, otherwise))
    }

    /// All are numbers of one sort.
    fn numbers(&mut self, word: &str, args: &[TermId]) -> Option<()> {
        let mut good = Some(());
        for (index, arg) in args.iter().enumerate() {
            if !self.terms.sort(*arg).is_numeric() {
                let name = self.sort_of(*arg);
                self.faults.push(
                    Diagnostic::error("sort-mismatch", format!("`{word}` takes numbers"))
                        .at(self.span(index), format!("this is {name}"))
                        .hint("check which constant was meant"),
                );
                good = None;
            }
        }
        good?;
        self.same(word, args)
    }

    fn compare(&mut self, operator: Operator<'_>, args: &[TermId]) -> Option<TermId> {
        let word = match operator {
            Operator::AtMost => "<=",
            Operator::Below => "<",
            Operator::AtLeast => ">=",
            _ => ">",
        };
        if args.len() < 2 {
            return self.count(word, args, 2).and(None);
        }
        self.numbers(word, args)?;
        let mut parts = Vec::new();
        for (a, b) in args.iter().zip(args.iter().skip(1)) {
            let (a, b) = (*a, *b);
            parts.push(match operator {
                Operator::AtMost => self.built(|terms| terms.le(a, b))?,
                Operator::Below => self.built(|terms| terms.lt(a, b))?,
                Operator::AtLeast => self.built(|terms| terms.le(b, a))?,
                _ => self.built(|terms| terms.lt(b, a))?,
            });
        }
        self.built(|terms| terms.and(&parts))
    }

    fn arithmetic(&mut self, operator: Operator<'_>, args: &[TermId]) -> Option<TermId> {
        let word = match operator {
            Operator::Plus => "+",
            Operator::Minus => "-",
            _ => "*",
        };
        self.numbers(word, args)?;
        let (first, rest) = args.split_first()?;
        let minus = Number::from_integer((-1).into());
        match operator {
            Operator::Plus => self.built(|terms| terms.sum(args)),
            Operator::Minus if rest.is_empty() => self.built(|terms| terms.scale(&minus, *first)),
            Operator::Minus => {
                let mut parts = vec![*first];
                for arg in rest {
                    parts.push(self.built(|terms| terms.scale(&minus, *arg))?);
                }
                self.built(|terms| terms.sum(&parts))
            }
            _ => rest
                .iter()
                .try_fold(*first, |product, arg| self.built(|terms| terms.product(product, *arg))),
        }
    }

    fn quotient(&mut self, args: &[TermId]) -> Option<TermId> {
        if args.len() < 2 {
            return self.count("/", args, 2).and(None);
        }
        self.numbers("/", args)?;
        self.expect("/", args, Sort::Real)?;
        let (first, rest) = args.split_first()?;
        let zero = Number::from_integer(0.into());
        rest.iter().try_fold(*first, |value, divisor| {
            let divisor = match self.terms.get(*divisor) {
                Term::Number(number, _) if *number == zero => {
                    return self.built(|_| Err(SortFault::DivisionByZero));
                }
                Term::Number(number, _) => number.recip(),
                _ => return self.built(|_| Err(SortFault::NonLinear)),
            };
            self.built(|terms| terms.scale(&divisor, value))
        })
    }

    fn tester(&mut self, constructor: &str, args: &[TermId], symbols: &Symbols) -> Option<TermId> {
        self.count("is", args, 1)?;
        let arg = args.first().copied()?;
        let Some((Meaning::Constructor(id, at), _)) = symbols.terms.get(constructor) else {
            let names = symbols.terms.iter().filter_map(|(name, (meaning, _))| match meaning {
                Meaning::Constructor(..) => Some(name.as_str()),
                _ => None,
            });
            let near = nearest(constructor, names).map(str::to_owned);
            let message = format!("unknown constructor `{constructor}`");
            self.faults.push(
                Diagnostic::error("unknown-name", message)
                    .at(self.whole.clone(), "")
                    .hint(did_you_mean(near, "testers take a constructor of an enumeration")),
            );
            return None;
        };
        self.expect("is", args, Sort::Enum(*id))?;
        let value = self.terms.ctor(*id, *at);
        self.built(|terms| terms.eq(arg, value))
    }
}
