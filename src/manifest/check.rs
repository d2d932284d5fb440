//! Raw tables to a manifest: ids, references, ranges, lists and paths.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use toml::Spanned;

use super::raw::{
    CutWord, RawCut, RawDetermination, RawManifest, RawPolicy, RawRange, RawSampling,
};
use super::{
    About, Allow, Certify, Cut, Determination, Limits, Manifest, Named, NeiKind, PolicyEntry,
    Range, Representative, Sampling,
};
use crate::diag::{Diagnostic, Source, Span, nearest};
use crate::tables;

/// What every reader is offered beside the answers of a determination.
const NEI: &str = "not enough information";

pub(super) fn read(source: &Source) -> Result<Manifest, Vec<Diagnostic>> {
    let (raw, faults) = tables::read::<RawManifest>(source);
    let Some(raw) = raw else { return Err(faults) };
    let mut checker = Checker { source, faults };
    let manifest = checker.manifest(&raw);
    if checker.faults.is_empty() {
        return Ok(manifest);
    }
    checker.faults.sort_by_key(|fault| fault.places.first().map(|(span, _)| span.range.start));
    Err(checker.faults)
}

struct Checker<'c> {
    source: &'c Source,
    faults: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn named(&self, raw: &Spanned<String>) -> Named {
        Named { name: raw.get_ref().clone(), span: self.span(raw) }
    }

    fn span<T>(&self, raw: &Spanned<T>) -> Span {
        Span::new(self.source, raw.span())
    }

    fn error(&mut self, code: &'static str, message: String, span: Span, hint: impl Into<String>) {
        self.faults.push(Diagnostic::error(code, message).at(span, "").hint(hint));
    }

    fn manifest(&mut self, raw: &RawManifest) -> Manifest {
        self.filled("name", &raw.project.name);
        self.filled("version", &raw.project.version);
        let dist = raw.project.dist.as_ref().map(|dist| self.path(dist));
        let about = About {
            name: raw.project.name.get_ref().clone(),
            version: raw.project.version.get_ref().clone(),
            license: raw.project.license.clone(),
            seed: raw.project.seed,
            dist: dist.flatten().unwrap_or_else(|| PathBuf::from("dist")),
        };
        let ids: Vec<Named> = raw.policies.keys().map(|key| self.named(key)).collect();
        self.distinct("policy", ids);
        let policies = self.policies(&raw.policies);
        self.cycles(&policies);
        let defaults = self.sampling(&raw.sampling, Sampling::default());
        self.distinct(
            "determination",
            raw.determination.iter().map(|d| self.named(&d.id)).collect(),
        );
        if raw.determination.is_empty() {
            self.faults.push(
                Diagnostic::error("no-determinations", "there is nothing to decide")
                    .at(Span::new(self.source, 0..self.source.text().len().min(1)), "")
                    .hint("add a `[[determination]]` with id, policy, verdict, question, answers"),
            );
        }
        let determinations = raw
            .determination
            .iter()
            .map(|determination| self.determination(determination, &policies, &defaults))
            .collect();
        let cache = raw.limits.cache.as_ref().and_then(|size| self.size(size));
        let limits = Limits {
            rlimit: raw.limits.rlimit.unwrap_or(5_000_000),
            diagram_mib: raw.limits.diagram_mib.unwrap_or(512),
            cache: cache.unwrap_or(2 << 30),
        };
        let mut allow = Vec::new();
        for one in &raw.check.allow {
            self.filled("reason", &one.reason);
            let (at, reason) = (one.at.clone(), one.reason.get_ref().clone());
            allow.push(Allow { lint: self.named(&one.lint), at, reason });
        }
        Manifest { about, policies, limits, determinations, allow, source: self.source.clone() }
    }

    fn filled(&mut self, key: &str, text: &Spanned<String>) {
        if text.get_ref().trim().is_empty() {
            let span = self.span(text);
            self.error("empty-text", format!("`{key}` is empty"), span, "write a text");
        }
    }

    /// Ids differ, also on file systems that do not see upper and lower case.
    fn distinct(&mut self, what: &str, ids: Vec<Named>) {
        let mut seen: BTreeMap<String, Named> = BTreeMap::new();
        for id in ids {
            let key = id.name.to_lowercase();
            let Some(first) = seen.get(&key) else {
                seen.insert(key, id);
                continue;
            };
            let message = match first.name == id.name {
                true => format!("{what} `{}` is there twice", id.name),
                false => {
                    format!("{what} ids `{}` and `{}` differ in case only", first.name, id.name)
                }
            };
            self.faults.push(
                Diagnostic::error("duplicate-id", message)
                    .at(id.span.clone(), "again here")
                    .at(first.span.clone(), "first here")
                    .hint("rename one of them"),
            );
        }
    }

    fn id(&mut self, what: &str, id: &Named, parts: usize) -> bool {
        let good = |part: &str| {
            let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            !part.is_empty() && part.bytes().all(letter)
        };
        let pieces: Vec<&str> = id.name.split('/').collect();
        let fits = pieces.len() <= parts && pieces.iter().all(|piece| good(piece));
        if !fits {
            let hint = match parts {
                1 => "use lower-case letters, digits and `-`",
                _ => "write `policy` or `policy/name` in lower-case letters, digits and `-`",
            };
            let message = format!("`{}` is no {what} id", id.name);
            self.error("bad-id", message, id.span.clone(), hint);
        }
        fits
    }

    fn policies(
        &mut self,
        raw: &BTreeMap<Spanned<String>, RawPolicy>,
    ) -> BTreeMap<String, PolicyEntry> {
        let mut policies = BTreeMap::new();
        let known: Vec<&str> = raw.keys().map(|key| key.get_ref().as_str()).collect();
        for (key, policy) in raw {
            let id = self.named(key);
            self.id("policy", &id, 1);
            let mut uses: Vec<Named> = Vec::new();
            for used in &policy.uses {
                let used = self.named(used);
                let span = used.span.clone();
                if !known.contains(&used.name.as_str()) {
                    self.no_policy(&used, &known);
                } else if used.name == id.name {
                    let message = format!("`{}` uses itself", id.name);
                    self.error("cycle", message, span, "remove it");
                } else if uses.iter().any(|known| known.name == used.name) {
                    let message = format!("`{}` is used twice", used.name);
                    self.error("duplicate-id", message, span, "keep one of them");
                } else {
                    uses.push(used);
                }
            }
            let path = policy.path.as_ref().and_then(|path| self.path(path));
            let path = path.unwrap_or_else(|| Path::new("policies").join(&id.name));
            policies.insert(id.name.clone(), PolicyEntry { id, uses, path });
        }
        policies
    }

    fn no_policy(&mut self, name: &Named, known: &[&str]) {
        let hint = nearest(&name.name, known.iter().copied()).map_or_else(
            || format!("add `[policies.{}]`", name.name),
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("no policy `{}`", name.name);
        self.error("unknown-policy", message, name.span.clone(), hint);
    }

    /// A policy must not use itself by way of others; each cycle is reported once, at its first id.
    fn cycles(&mut self, policies: &BTreeMap<String, PolicyEntry>) {
        let mut reported: Vec<String> = Vec::new();
        for start in policies.keys() {
            let mut trail = vec![start.clone()];
            let Some(spans) = cycle(policies, start, &mut trail) else { continue };
            if trail.iter().any(|id| reported.contains(id)) {
                continue;
            }
            let message = format!("policies use each other: `{}`", trail.join("` -> `"));
            let mut fault = Diagnostic::error("cycle", message);
            for span in spans {
                fault = fault.at(span, "");
            }
            self.faults.push(fault.hint("move what both need into a policy of its own"));
            reported.extend(trail);
        }
    }

    /// A path inside the project.
    fn path(&mut self, raw: &Spanned<String>) -> Option<PathBuf> {
        let text = raw.get_ref();
        let path = Path::new(text);
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if inside && !text.is_empty() && !text.contains('\\') {
            return Some(path.to_path_buf());
        }
        let span = self.span(raw);
        let message = format!("`{text}` is no path inside the project");
        let hint = "write a path below the folder of deogen.toml, with `/` and without `..`";
        self.error("outside-path", message, span, hint);
        None
    }

    fn size(&mut self, raw: &Spanned<String>) -> Option<u64> {
        let text = raw.get_ref().trim();
        let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, unit) = text.split_at_checked(split)?;
        let shift = match unit.trim() {
            "B" | "" => Some(0),
            "KiB" => Some(10),
            "MiB" => Some(20),
            "GiB" => Some(30),
            "TiB" => Some(40),
            _ => None,
        };
        let size = digits.parse::<u64>().ok().zip(shift).and_then(|(n, by)| n.checked_mul(1 << by));
        if size.is_none() {
            let span = self.span(raw);
            let message = format!("`{text}` is no size");
            self.error("bad-size", message, span, "write `512MiB` or `2GiB`");
        }
        size
    }

    fn range(&mut self, raw: Option<&Spanned<RawRange>>, default: Range) -> Range {
        let Some(raw) = raw else { return default };
        let range = Range {
            min: raw.get_ref().min.unwrap_or(default.min),
            max: raw.get_ref().max.unwrap_or(default.max),
        };
        if range.min > range.max {
            let message = format!("min {} is above max {}", range.min, range.max);
            let hint = format!("write `{{ min = {}, max = {} }}`", range.max, range.min);
            let span = self.span(raw);
            self.error("bad-range", message, span, hint);
        }
        range
    }

    fn list<T, V: Copy + PartialEq>(
        &mut self,
        key: &str,
        raw: Option<&Spanned<Vec<T>>>,
        default: Vec<V>,
        value: impl Fn(&T) -> V,
    ) -> Vec<V> {
        let Some(raw) = raw else { return default };
        let mut list: Vec<V> = Vec::new();
        for one in raw.get_ref() {
            let one = value(one);
            if list.contains(&one) {
                let span = self.span(raw);
                let message = format!("`{key}` names one thing twice");
                self.error("duplicate-id", message, span, "keep one of them");
            } else {
                list.push(one);
            }
        }
        if list.is_empty() {
            let span = self.span(raw);
            let hint = "name one or more, or remove the key for the default";
            self.error("empty-list", format!("`{key}` is empty"), span, hint);
        }
        list
    }

    /// The table over some defaults, key by key.
    fn sampling(&mut self, raw: &RawSampling, base: Sampling) -> Sampling {
        let cut = |cut: &Spanned<RawCut>| match cut.get_ref() {
            RawCut::Facts(number) => Cut::Exactly(*number),
            RawCut::Word(CutWord::One) => Cut::One,
            RawCut::Word(CutWord::Half) => Cut::Half,
            RawCut::Word(CutWord::Most) => Cut::Most,
        };
        let zero = raw.cut.iter().flat_map(|list| list.get_ref());
        for place in zero.filter(|one| cut(one) == Cut::Exactly(0)) {
            let span = self.span(place);
            let message = "an NEI entry withholds one fact or more".to_owned();
            self.error("bad-range", message, span, "write 1 or more");
        }
        Sampling {
            definite: raw.definite.unwrap_or(base.definite),
            nei: raw.nei.unwrap_or(base.nei),
            per_signature: raw.per_signature.unwrap_or(base.per_signature),
            facts: self.range(raw.facts.as_ref(), base.facts),
            needed: self.range(raw.needed.as_ref(), base.needed),
            cut: self.list("cut", raw.cut.as_ref(), base.cut, cut),
            kinds: self.list("kinds", raw.kinds.as_ref(), base.kinds, |kind| *kind),
            representatives: self.list(
                "representatives",
                raw.representatives.as_ref(),
                base.representatives,
                |one| *one,
            ),
            certify: raw.certify.unwrap_or(base.certify),
            list_cap: raw.list_cap.unwrap_or(base.list_cap),
            distractors: raw.distractors.unwrap_or(base.distractors),
            salt_env: raw.salt_env.clone().unwrap_or(base.salt_env),
            state_linked: raw.state_linked.unwrap_or(base.state_linked),
        }
    }

    fn determination(
        &mut self,
        raw: &RawDetermination,
        policies: &BTreeMap<String, PolicyEntry>,
        defaults: &Sampling,
    ) -> Determination {
        let (id, policy) = (self.named(&raw.id), self.named(&raw.policy));
        let first = id.name.split('/').next().unwrap_or("");
        if self.id("determination", &id, 2) && first != policy.name {
            self.faults.push(
                Diagnostic::error(
                    "bad-id",
                    format!("`{}` does not start with its policy", id.name),
                )
                .at(id.span.clone(), "")
                .at(policy.span.clone(), "its policy")
                .hint(format!("write `{}/…`", policy.name)),
            );
        }
        if !policies.contains_key(&policy.name) {
            let known: Vec<&str> = policies.keys().map(String::as_str).collect();
            self.no_policy(&policy, &known);
        }
        self.filled("question", &raw.question);
        self.filled("verdict", &raw.verdict);
        let mut opaque: Vec<Named> = Vec::new();
        for name in raw.opaque.iter().flatten() {
            let name = self.named(name);
            if opaque.iter().any(|known| known.name == name.name) {
                let message = format!("`{}` is there twice", name.name);
                self.error("duplicate-id", message, name.span, "keep one of them");
            } else {
                opaque.push(name);
            }
        }
        Determination {
            answers: self.answers(&raw.answers, &id),
            sampling: self.sampling(&raw.sampling, defaults.clone()),
            verdict: self.named(&raw.verdict),
            question: self.named(&raw.question),
            opaque,
            policy,
            id,
        }
    }

    fn answers(
        &mut self,
        raw: &BTreeMap<Spanned<String>, Spanned<String>>,
        id: &Named,
    ) -> Vec<(Named, String)> {
        let mut entries: Vec<_> = raw.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut answers: Vec<(Named, String)> = Vec::new();
        for (key, words) in entries {
            self.filled("answers", words);
            let text = words.get_ref();
            let same = |known: &str| known.trim().eq_ignore_ascii_case(text.trim());
            let taken = answers.iter().any(|(_, known)| same(known)) || same(NEI);
            if taken && !text.trim().is_empty() {
                let span = self.span(words);
                let message = format!("the answer `{text}` is taken");
                let hint = format!("answers differ from each other and from `{NEI}`");
                self.error("shared-answer", message, span, hint);
            }
            answers.push((self.named(key), text.clone()));
        }
        if answers.is_empty() {
            let message = "`answers` is empty".to_owned();
            let hint =
                "give the wording of each value: `answers = { true = \"yes\", false = \"no\" }`";
            self.error("empty-list", message, id.span.clone(), hint);
        }
        answers
    }
}

/// Follows `uses` from a policy back to itself; the trail and the places on it.
fn cycle(
    policies: &BTreeMap<String, PolicyEntry>,
    start: &str,
    trail: &mut Vec<String>,
) -> Option<Vec<Span>> {
    let mut seen = vec![start.to_owned()];
    let mut stack: Vec<(Vec<String>, Vec<Span>)> = vec![(trail.clone(), Vec::new())];
    while let Some((path, spans)) = stack.pop() {
        let entry = path.last().and_then(|id| policies.get(id))?;
        for used in entry.uses.iter().rev() {
            let mut spans = spans.clone();
            spans.push(used.span.clone());
            let mut path = path.clone();
            path.push(used.name.clone());
            if used.name == start {
                *trail = path;
                return Some(spans);
            }
            if !seen.contains(&used.name) {
                seen.push(used.name.clone());
                stack.push((path, spans));
            }
        }
    }
    None
}

impl Default for Sampling {
    fn default() -> Self {
        let all = Range { min: 1, max: 999 };
        Self {
            definite: 100,
            nei: 100,
            per_signature: 0,
            facts: all,
            needed: all,
            cut: vec![Cut::One, Cut::Half, Cut::Most],
            kinds: vec![NeiKind::Cut, NeiKind::Hole],
            representatives: vec![Representative::One],
            certify: Certify::Drawn,
            list_cap: 1_000_000,
            distractors: 0,
            salt_env: String::new(),
            state_linked: false,
        }
    }
}
