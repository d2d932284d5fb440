//! Several policies as one: names qualified, imported constants unified with their declarations.

use std::collections::BTreeMap;

use super::{Member, Project};
use crate::diag::Diagnostic;
use crate::policy::{Clause, Declared, Policy, Section};
use crate::term::{ConstId, EnumId, Sort, SortFault, Term, TermId, Terms};

/// Id of the policy that a name of this member is imported from.
pub(super) fn home<'m>(member: &'m Member, name: &str) -> Option<&'m str> {
    let listed = |import: &&crate::smtlib::Import| import.names.iter().any(|(n, _)| n == name);
    if let Some(import) = member.file.imports.iter().find(listed) {
        return Some(&import.policy);
    }
    // An enumeration comes along with an imported constant of that sort.
    let policy = &member.file.policy;
    let mut imports = member.file.imports.iter();
    let import = imports.find(|import| {
        let constants = import.names.iter().filter_map(|(name, _)| policy.constant(name));
        constants.into_iter().any(|id| match policy.terms.constant(id).sort {
            Sort::Enum(sort) => policy.terms.enumeration(sort).name == name,
            Sort::Bool | Sort::Int | Sort::Real => false,
        })
    });
    import.map(|import| import.policy.as_str())
}

pub(super) fn join(project: &Project, id: &str) -> Result<Policy, Vec<Diagnostic>> {
    let mut members = vec![id.to_owned()];
    members.extend(project.manifest.uses(id));
    let mut loaded = Vec::new();
    for id in &members {
        match project.member(id) {
            Some(member) => loaded.push(member),
            None => return Err(project.faults(id).to_vec()),
        }
    }
    let mut joiner = Joiner::new(id, &members, loaded);
    joiner.enumerations();
    joiner.constants();
    joiner.terms().map_err(|fault| {
        let message = format!("joining policies changed a sort: {fault}");
        vec![Diagnostic::error("internal", message).in_file(id)]
    })?;
    Ok(joiner.policy)
}

struct Joiner<'j> {
    members: Vec<&'j Member>,
    policy: Policy,
    /// By member and name: what the joined policy has for what is declared there.
    enums: BTreeMap<(usize, String), EnumId>,
    consts: BTreeMap<(usize, String), ConstId>,
}

impl<'j> Joiner<'j> {
    fn new(id: &str, ids: &[String], members: Vec<&'j Member>) -> Self {
        let labels = members
            .iter()
            .map(|member| member.document.labels.iter().map(|(label, _)| label.clone()).collect());
        let policy = Policy {
            id: id.to_owned(),
            members: ids.to_vec(),
            terms: Terms::new(),
            declared: Vec::new(),
            clauses: Vec::new(),
            names: BTreeMap::new(),
            labels: labels.collect(),
        };
        Self { members, policy, enums: BTreeMap::new(), consts: BTreeMap::new() }
    }

    fn qualified(&self, member: usize, name: &str) -> String {
        if member == 0 { name.to_owned() } else { format!("{}.{name}", self.policy.member(member)) }
    }

    /// The member that declares a name, following imports; bounded by their number.
    fn declarer(&self, mut member: usize, name: &str) -> usize {
        for _ in 0..self.members.len() {
            let policy = self.members.get(member).and_then(|found| home(found, name));
            let position = policy.and_then(|id| self.policy.members.iter().position(|m| m == id));
            match position {
                Some(next) => member = next,
                None => break,
            }
        }
        member
    }

    fn enumerations(&mut self) {
        for (index, member) in self.members.clone().into_iter().enumerate() {
            for (_, enumeration) in member.file.policy.terms.enumerations() {
                if self.declarer(index, &enumeration.name) == index {
                    let name = self.qualified(index, &enumeration.name);
                    let constructors = enumeration.constructors.clone();
                    let id = self.policy.terms.declare_enumeration(&name, constructors);
                    self.enums.insert((index, enumeration.name.clone()), id);
                }
            }
        }
    }

    fn enumeration(&self, member: usize, name: &str) -> Option<EnumId> {
        let home = self.declarer(member, name);
        self.enums.get(&(home, name.to_owned())).copied()
    }

    fn sort(&self, member: usize, sort: Sort) -> Sort {
        let Sort::Enum(id) = sort else { return sort };
        let terms = self.members.get(member).map(|found| &found.file.policy.terms);
        let name = terms.map(|terms| terms.enumeration(id).name.as_str());
        name.and_then(|name| self.enumeration(member, name)).map_or(sort, Sort::Enum)
    }

    fn constants(&mut self) {
        for (index, member) in self.members.clone().into_iter().enumerate() {
            let constants = member.file.policy.terms.constants();
            for ((local, constant), declared) in constants.zip(&member.file.policy.declared) {
                if self.declarer(index, &constant.name) != index {
                    continue;
                }
                let name = self.qualified(index, &constant.name);
                let sort = self.sort(index, constant.sort);
                let id = self.policy.terms.declare(&name, sort);
                let term = self.policy.terms.constant_term(id);
                let askable = member.vocabulary.words(local).is_some_and(|words| words.ask);
                let span = declared.span.clone();
                let local = constant.name.clone();
                self.policy.declared.push(Declared { member: index, local, askable, span });
                self.policy.names.insert(name, term);
                self.consts.insert((index, constant.name.clone()), id);
            }
        }
    }

    fn terms(&mut self) -> Result<(), SortFault> {
        for (index, member) in self.members.clone().into_iter().enumerate() {
            let file = &member.file.policy;
            let constants = self.here(index, &file.terms);
            let mut built: Vec<TermId> = Vec::with_capacity(file.terms.len());
            // Arguments come before the terms that use them.
            for at in 0..file.terms.len() {
                let id = TermId(u32::try_from(at).unwrap_or(u32::MAX));
                let term = self.term(&constants, &file.terms, id, &built)?;
                built.push(term);
            }
            let moved = |id: TermId| built.get(id.index()).copied().unwrap_or(id);
            for (name, term) in &file.names {
                if file.constant(name).is_none() {
                    let name = self.qualified(index, name);
                    self.policy.names.insert(name, moved(*term));
                }
            }
            let here = |section: &Section| Section { member: index, label: section.label.clone() };
            for clause in &file.clauses {
                self.policy.clauses.push(Clause {
                    member: index,
                    section: clause.section.as_ref().map(here),
                    cites: clause.cites.iter().map(here).collect(),
                    term: moved(clause.term),
                    ..clause.clone()
                });
            }
        }
        Ok(())
    }

    /// What the joined policy has for each constant and enumeration of a member.
    fn here(&self, member: usize, terms: &Terms) -> Here {
        let constants = terms.constants().map(|(_, constant)| {
            let home = self.declarer(member, &constant.name);
            self.consts.get(&(home, constant.name.clone())).copied()
        });
        let enumerations = terms
            .enumerations()
            .map(|(_, enumeration)| self.enumeration(member, &enumeration.name));
        Here { constants: constants.collect(), enumerations: enumerations.collect() }
    }

    fn term(
        &mut self,
        here: &Here,
        from: &Terms,
        id: TermId,
        built: &[TermId],
    ) -> Result<TermId, SortFault> {
        let at = |id: &TermId| built.get(id.index()).copied().unwrap_or(*id);
        let all = |args: &[TermId]| args.iter().map(at).collect::<Vec<_>>();
        let terms = &mut self.policy.terms;
        match from.get(id) {
            Term::Bool(truth) => Ok(terms.bool(*truth)),
            Term::Number(number, sort) => Ok(terms.number(number.clone(), *sort)),
            Term::Not(arg) => terms.not(at(arg)),
            Term::And(args) => terms.and(&all(args)),
            Term::Or(args) => terms.or(&all(args)),
            Term::Ite(a, b, c) => terms.ite(at(a), at(b), at(c)),
            Term::Eq(a, b) => terms.eq(at(a), at(b)),
            Term::Le(a, b) => terms.le(at(a), at(b)),
            Term::Lt(a, b) => terms.lt(at(a), at(b)),
            Term::Sum(args) => terms.sum(&all(args)),
            Term::Scale(factor, arg) => terms.scale(factor, at(arg)),
            Term::ToReal(arg) => terms.to_real(at(arg)),
            Term::Ctor(sort, value) => {
                let sort = here.enumerations.get(sort.index()).copied().flatten();
                Ok(sort.map_or(id, |sort| terms.ctor(sort, *value)))
            }
            Term::Const(constant) => {
                let constant = here.constants.get(constant.index()).copied().flatten();
                Ok(constant.map_or(id, |constant| terms.constant_term(constant)))
            }
        }
    }
}

/// By id of one member's arena: what the joined policy has for it.
struct Here {
    constants: Vec<Option<ConstId>>,
    enumerations: Vec<Option<EnumId>>,
}
