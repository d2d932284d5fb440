//! What only several files together can have wrong: imports, labels, constructors, words.

use std::collections::BTreeMap;

use super::join::home;
use super::{Loaded, Member, Project};
use crate::diag::{Diagnostic, Severity, Span, nearest};
use crate::manifest::PolicyEntry;
use crate::term::{Sort, Term};

impl Project {
    /// Adds to each policy the faults it has with its own files and with the policies it uses.
    pub(super) fn check_policies(&mut self) {
        let mut found: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
        for (id, loaded) in &self.policies {
            let (Some(member), Some(entry)) = (&loaded.member, self.manifest.policies.get(id))
            else {
                continue;
            };
            let mut faults = Vec::new();
            labels(member, &mut faults);
            if loaded.faults.iter().all(|fault| fault.severity != Severity::Error) {
                wordless(member, &mut faults);
            }
            self.uses(member, entry, &mut faults);
            self.imports(member, &mut faults);
            self.constructors(id, member, &mut faults);
            found.insert(id.clone(), faults);
        }
        for (id, faults) in found {
            if let Some(Loaded { faults: all, .. }) = self.policies.get_mut(&id) {
                all.extend(faults);
            }
        }
    }

    /// `uses` in the manifest and `:imports` in the policy name the same policies.
    fn uses(&self, member: &Member, entry: &PolicyEntry, faults: &mut Vec<Diagnostic>) {
        let imports = &member.file.imports;
        for import in imports {
            if entry.uses.iter().any(|used| used.name == import.policy) {
                continue;
            }
            let known = self.manifest.policies.keys().map(String::as_str);
            let hint = if self.manifest.policies.contains_key(&import.policy) {
                format!("add it: `uses = [\"{}\"]`", import.policy)
            } else {
                nearest(&import.policy, known).map_or_else(
                    || format!("add `[policies.{}]` and use it", import.policy),
                    |near| format!("did you mean `{near}`?"),
                )
            };
            faults.push(
                Diagnostic::error("unused-import", format!("`{}` is not used", import.policy))
                    .at(import.span.clone(), "imported here")
                    .at(entry.id.span.clone(), "but not in `uses` of this policy")
                    .hint(hint),
            );
        }
        for used in &entry.uses {
            if imports.iter().any(|import| import.policy == used.name) {
                continue;
            }
            let start = Span::new(&member.file.source, 0..1);
            faults.push(
                Diagnostic::error(
                    "unused-import",
                    format!("nothing is imported from `{}`", used.name),
                )
                .at(used.span.clone(), "used here")
                .at(start, "no `:imports` of it")
                .hint("remove it from `uses`, or import what the policy needs"),
            );
        }
    }

    /// What is imported is declared there, and here in the same way.
    fn imports(&self, member: &Member, faults: &mut Vec<Diagnostic>) {
        for import in &member.file.imports {
            let Some(home) = self.member(&import.policy) else { continue };
            for (name, span) in &import.names {
                faults.extend(import_fault(member, home, &import.policy, name, span));
            }
        }
    }

    /// Constructor names are unique among a policy and all it uses.
    fn constructors(&self, id: &str, member: &Member, faults: &mut Vec<Diagnostic>) {
        let mut names: BTreeMap<&str, (&str, Span)> = BTreeMap::new();
        let used = self.manifest.uses(id);
        let ids = std::iter::once(id).chain(used.iter().map(String::as_str));
        for other in ids {
            let Some(found) = self.member(other) else { continue };
            for (sort, _, places) in &found.file.enumerations {
                let enumeration = found.file.policy.terms.enumeration(*sort);
                if home(found, &enumeration.name).is_some() {
                    continue;
                }
                for (constructor, span) in enumeration.constructors.iter().zip(places) {
                    let first = names.insert(constructor, (other, span.clone()));
                    let constant = member.file.policy.constant(constructor);
                    let first = first.or_else(|| {
                        let declared = member.file.policy.declaration(constant?)?;
                        (other != id).then(|| (id, declared.span.clone()))
                    });
                    let Some((policy, place)) = first else { continue };
                    faults.push(
                        Diagnostic::error(
                            "shared-name",
                            format!("`{constructor}` has two meanings"),
                        )
                        .at(span.clone(), format!("a value here, in `{other}`"))
                        .at(place, format!("and here, in `{policy}`"))
                        .hint("values are unique among a policy and all it uses: rename one"),
                    );
                }
            }
        }
    }
}

fn import_fault(
    member: &Member,
    home: &Member,
    policy: &str,
    name: &str,
    span: &Span,
) -> Option<Diagnostic> {
    let (here, there) = (&member.file, &home.file);
    if let Some(further) = super::join::home(home, name) {
        let message = format!("`{policy}` does not declare `{name}` itself");
        return Some(
            Diagnostic::error("bad-import", message)
                .at(span.clone(), "")
                .hint(format!("import it from `{further}`")),
        );
    }
    let (mine, theirs) = (declaration(here, name), declaration(there, name));
    // That it is missing here was said when the file was read.
    let mine = mine?;
    let Some(theirs) = theirs else {
        let known = there.policy.terms.constants().map(|(_, constant)| constant.name.as_str());
        let sorts = there.policy.terms.enumerations().map(|(_, sort)| sort.name.as_str());
        let hint = match there.policy.names.contains_key(name) {
            true => "a definition cannot be imported: declare a constant and define it by a clause"
                .to_owned(),
            false => nearest(name, known.chain(sorts)).map_or_else(
                || "import names that it declares".to_owned(),
                |near| format!("did you mean `{near}`?"),
            ),
        };
        return Some(
            Diagnostic::error("bad-import", format!("`{policy}` has no constant `{name}`"))
                .at(span.clone(), "")
                .hint(hint),
        );
    };
    if mine.0 == theirs.0 {
        return None;
    }
    Some(
        Diagnostic::error("import-differs", format!("`{name}` is declared differently"))
            .at(mine.1, format!("here: {}", mine.0))
            .at(theirs.1, format!("in `{policy}`: {}", theirs.0))
            .hint("copy the declaration of the policy it is imported from"),
    )
}

/// A constant's or enumeration's declaration as text, the same exactly for identical ones, and its place.
fn declaration(file: &crate::smtlib::PolicyFile, name: &str) -> Option<(String, Span)> {
    let terms = &file.policy.terms;
    let values = |id| {
        let enumeration = terms.enumeration(id);
        format!("{} of {}", enumeration.name, enumeration.constructors.join(", "))
    };
    if let Some(constant) = file.policy.constant(name) {
        let sort = match terms.constant(constant).sort {
            Sort::Enum(id) => values(id),
            sort @ (Sort::Bool | Sort::Int | Sort::Real) => terms.sort_name(sort),
        };
        return Some((sort, file.policy.declaration(constant)?.span.clone()));
    }
    let found = file.enumerations.iter().find(|(id, _, _)| terms.enumeration(*id).name == name);
    found.map(|(id, span, _)| (values(*id), span.clone()))
}

/// Every label the clauses use is in the text.
fn labels(member: &Member, faults: &mut Vec<Diagnostic>) {
    let known = &member.document.labels;
    for (label, span) in &member.file.label_spans {
        if member.document.label(label).is_some() {
            continue;
        }
        let path = member.document.source.path().display();
        let near = nearest(label, known.iter().map(|(label, _)| label.as_str()));
        let hint = near.map_or_else(
            || format!("mark it in {path}: `**§{label}** …`"),
            |near| format!("did you mean `{near}`?"),
        );
        faults.push(
            Diagnostic::error("unknown-label", format!("label `{label}` is not in {path}"))
                .at(span.clone(), "")
                .hint(hint),
        );
    }
}

/// A constant without words that no clause defines is probably a fact that was forgotten.
fn wordless(member: &Member, faults: &mut Vec<Diagnostic>) {
    let policy = &member.file.policy;
    let mut defined = std::collections::BTreeSet::new();
    for clause in &policy.clauses {
        if let Term::Eq(a, b) = policy.terms.get(clause.term) {
            defined.extend(
                [*a, *b].map(|side| policy.terms.get(side).clone()).into_iter().filter_map(
                    |side| match side {
                        Term::Const(id) => Some(id),
                        _ => None,
                    },
                ),
            );
        }
    }
    for ((id, constant), declared) in policy.terms.constants().zip(&policy.declared) {
        let worded = member.vocabulary.words(id).is_some()
            || member.vocabulary.derived(&constant.name).is_some();
        if worded || defined.contains(&id) || home(member, &constant.name).is_some() {
            continue;
        }
        let name = &constant.name;
        faults.push(
            Diagnostic::warning("no-words", format!("`{name}` has no words and no definition"))
                .at(declared.span.clone(), "")
                .hint(format!("add `[facts.{name}]` if it is a fact"))
                .hint(format!("add `[derived.{name}]` if rules settle it")),
        );
    }
}
