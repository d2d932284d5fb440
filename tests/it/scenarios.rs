//! Every scenario of a policy small enough to list them, under the pure evaluator alone.

use std::collections::{BTreeSet, HashMap};

use deogen::eval::Evaluation;
use deogen::policy::Inquiry;
use deogen::term::{ConstId, TermId, Terms, Value};

/// The values each constant may take, by its position; nothing outside them satisfies the policy.
pub(crate) type Domains = Vec<Vec<Value>>;

/// A term with its values as far as they were asked for.
pub(crate) struct Table<'a> {
    terms: &'a Terms,
    term: TermId,
    pub(crate) constants: Vec<ConstId>,
    known: HashMap<Vec<u8>, Value>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(terms: &'a Terms, term: TermId) -> Self {
        Self { terms, term, constants: terms.constants_in(term), known: HashMap::new() }
    }

    fn value(&mut self, domains: &Domains, chosen: &[u8]) -> Value {
        let key: Vec<u8> = self.constants.iter().map(|id| chosen[id.index()]).collect();
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let given = self.constants.iter().map(|id| {
            let value = &domains[id.index()][chosen[id.index()] as usize];
            (*id, value.clone())
        });
        let value = Evaluation::new(self.terms, given).value(self.term).unwrap();
        self.known.insert(key, value.clone());
        value
    }

    pub(crate) fn holds(&mut self, domains: &Domains, chosen: &[u8]) -> bool {
        self.value(domains, chosen) == Value::Bool(true)
    }
}

/// What a scenario states, as positions in the domains, and the verdicts possible with it as bits.
pub(crate) struct Scenario {
    pub(crate) chosen: Vec<u8>,
    pub(crate) possible: u32,
}

struct Search<'a> {
    inquiry: &'a Inquiry,
    domains: &'a Domains,
    /// Askable constants first, then hidden ones; none that nothing mentions.
    order: Vec<ConstId>,
    askable: usize,
    /// Clauses by the last constant of theirs in the order.
    clauses: Vec<Vec<Table<'a>>>,
    verdict: Table<'a>,
    chosen: Vec<u8>,
    found: Vec<Scenario>,
}

/// Every scenario that the policy allows.
pub(crate) fn scenarios(inquiry: &Inquiry, domains: &Domains) -> Vec<Scenario> {
    let terms = &inquiry.policy.terms;
    let verdict = Table::new(terms, inquiry.verdict.term);
    let tables = inquiry.policy.clauses.iter().map(|clause| Table::new(terms, clause.term));
    let tables: Vec<Table<'_>> = tables.collect();
    let mentioned: BTreeSet<ConstId> =
        tables.iter().chain([&verdict]).flat_map(|table| table.constants.iter().copied()).collect();
    let (mut order, hidden): (Vec<ConstId>, Vec<ConstId>) =
        mentioned.into_iter().partition(|id| inquiry.askable.contains(id));
    let askable = order.len();
    order.extend(hidden);
    let mut clauses: Vec<Vec<Table<'_>>> = (0..=order.len()).map(|_| Vec::new()).collect();
    for table in tables {
        let place = |id: &ConstId| order.iter().position(|other| other == id).unwrap() + 1;
        let last = table.constants.iter().map(place).max().unwrap_or(0);
        clauses[last].push(table);
    }
    let chosen = vec![0; domains.len()];
    let found = Vec::new();
    let mut search = Search { inquiry, domains, order, askable, clauses, verdict, chosen, found };
    search.facts(0);
    search.found
}

impl Search<'_> {
    fn allowed(&mut self, depth: usize) -> bool {
        let (domains, chosen) = (self.domains, &self.chosen);
        self.clauses[depth].iter_mut().all(|clause| clause.holds(domains, chosen))
    }

    fn facts(&mut self, depth: usize) {
        if !self.allowed(depth) {
            return;
        }
        if depth == self.askable {
            let possible = self.hidden(depth);
            if possible != 0 {
                self.found.push(Scenario { chosen: self.chosen.clone(), possible });
            }
            return;
        }
        let id = self.order[depth].index();
        for at in 0..self.domains[id].len() {
            self.chosen[id] = u8::try_from(at).unwrap();
            self.facts(depth + 1);
        }
    }

    /// Verdicts possible with what is chosen up to `depth`, where all clauses so far hold.
    fn hidden(&mut self, depth: usize) -> u32 {
        let values = &self.inquiry.verdict.values;
        if depth == self.order.len() {
            let value = self.verdict.value(self.domains, &self.chosen);
            return 1 << values.iter().position(|other| *other == value).unwrap();
        }
        let all = (1 << values.len()) - 1;
        let id = self.order[depth].index();
        let mut possible = 0;
        for at in 0..self.domains[id].len() {
            self.chosen[id] = u8::try_from(at).unwrap();
            if self.allowed(depth + 1) {
                possible |= self.hidden(depth + 1);
            }
            if possible == all {
                break;
            }
        }
        possible
    }
}

/// The facts of a scenario, for messages.
pub(crate) fn spell(inquiry: &Inquiry, domains: &Domains, scenario: &Scenario) -> String {
    let terms = &inquiry.policy.terms;
    let facts = inquiry.askable.iter().map(|id| {
        let value = &domains[id.index()][scenario.chosen[id.index()] as usize];
        format!("{} = {}", terms.constant(*id).name, terms.spell(value))
    });
    facts.collect::<Vec<_>>().join(", ")
}
