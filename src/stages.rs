//! The stages of one determination, their keys, and the store between them.
//!
//! consistency -> tree -> certify (draw included) -> render. A stage's key holds its own version,
//! the output digests of what it reads and its parameters; solver name, version and limits only
//! where the stored result holds solver answers. Never in a key: job count, paths, host, time.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use crate::certify::Worker;
use crate::citations::{Reach, Switched};
use crate::claim::Drop;
use crate::classes::{DiagramClasses, Lemmas, Stop};
use crate::count::{self, Below};
use crate::dataset::{Row, Witness};
use crate::diag::Diagnostic;
use crate::digest::{Digest, Encoder, Fields};
use crate::docket::{Customs, Docket, Scenario};
use crate::draw::{self, Depth, Drawn, Nei, Wanted};
use crate::manifest::{Cut, Determination, NeiKind, Sampling};
use crate::numbers::Habits;
use crate::outline::{Outline, PortableOutline};
use crate::policy::{Facts, Inquiry};
use crate::render::{self, Wording};
use crate::sample::{Filled, Halt, Quota, fill};
use crate::settled::Settled;
use crate::slice::{self, Slice};
use crate::solver::{self, Limits, Meter};
use crate::space::{Space, SpaceFault};
use crate::store::{Mode, Store, StoreError};
use crate::term::Number;
use crate::theory::{Layout, Theory};
use crate::tree::{Estimate, Node, Variables, grow};
use crate::vocabulary::{Phrase, Phrases, Vocabulary};

/// Versions of the stages. A change of what a stage writes needs a new number here; a golden test
/// holds the outputs on fixture policies.
pub const VERSIONS: [(&str, u32); 4] =
    [("consistency", 1), ("tree", 1), ("certify", 1), ("render", 1)];

/// What all determinations of a run share.
pub struct Run<'r> {
    /// The store.
    pub store: &'r Store,
    /// Z3's limit per check.
    pub rlimit: u32,
    /// Z3's seed; reaches no output.
    pub solver_seed: u32,
    /// Memory of a diagram.
    pub diagram_mib: usize,
    /// Keep every clause.
    pub no_slice: bool,
    /// Checks of the run.
    pub meter: Meter,
    /// Set by Ctrl-C.
    pub interrupted: &'r AtomicBool,
    /// Told of each stage: determination, stage, `hit`, `miss` or a count.
    pub watch: &'r (dyn Fn(&str, &str, &str) + Sync),
    /// Seed or salt of draws, and whether it is secret.
    pub key: [u8; 32],
}

/// Why a determination has no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The user's files.
    #[error("the user's files are at fault")]
    Faults(Vec<Diagnostic>),
    /// The store or a file.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A bug of ours.
    #[error("{0}")]
    Bug(String),
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// A result was missing under `--cache=require`.
    #[error("`{0}` of `{1}` is not in the cache")]
    Missing(&'static str, String),
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Bug(bug) => Self::Bug(bug.to_string()),
            Halt::Interrupted => Self::Interrupted,
        }
    }
}

/// Figures of a tree (CONTRACTS.md section 7); counts are decimal strings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Clauses of the slice.
    pub clauses: usize,
    /// Facts of the slice.
    pub facts: usize,
    /// Questions on the longest path.
    pub depth: usize,
    /// Definite leaves.
    pub paths_definite: String,
    /// By verdict value.
    pub by_value: Vec<String>,
    /// Inner nodes but the root.
    pub paths_nei: String,
    /// Of them, those from which two definite verdicts can be reached.
    pub cut: String,
    /// Silent leaves.
    pub silent: String,
    /// Distinct sets of variables within kind and answer.
    pub signatures: String,
    /// Nodes of the shared tree.
    pub states: usize,
    /// How it was grown.
    pub engine: String,
}

/// What the certify stage stores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificates {
    /// Definite, then NEI, in order of acceptance.
    pub entries: Vec<Settled>,
    /// Candidates dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
}

/// What the render stage stores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// Rows, definite then NEI, each by id.
    pub rows: Vec<Row>,
    /// Their scenarios, by id.
    pub witnesses: Vec<Witness>,
    /// Entries that could not be worded.
    pub text_drops: u64,
}

/// A determination ready to be asked for its stages.
pub struct Prepared {
    /// The joined policy and the resolved names.
    pub inquiry: Inquiry,
    /// Its clauses.
    pub slice: Slice,
    /// Digest of the slice's meaning.
    pub meaning: Digest,
    /// Words.
    pub vocabulary: Vocabulary,
    /// Controls.
    pub sampling: Sampling,
    /// Question and answers.
    pub wording: Wording,
}

impl Prepared {
    /// Resolves a determination.
    ///
    /// # Errors
    /// Answers that do not cover the verdict's values.
    pub fn new(
        determination: &Determination,
        inquiry: Inquiry,
        vocabulary: Vocabulary,
        canary: String,
        no_slice: bool,
    ) -> Result<Self, Vec<Diagnostic>> {
        let slice = if no_slice { slice::whole(&inquiry) } else { slice::slice(&inquiry, &[]) };
        let meaning = slice::meaning(&inquiry, &slice::slice(&inquiry, &[]));
        let mut answers = Vec::new();
        let mut faults = Vec::new();
        for value in &inquiry.verdict.values {
            let spelled = inquiry.policy.terms.spell(value);
            match determination.answers.iter().find(|(name, _)| name.name == spelled) {
                Some((_, words)) => answers.push(words.clone()),
                None => faults.push(
                    Diagnostic::error(
                        "answer",
                        format!("`answers` has no wording for `{spelled}`"),
                    )
                    .at(determination.id.span.clone(), "this determination")
                    .hint(format!("add `{spelled} = \"…\"` to `answers`")),
                ),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let wording = Wording {
            question: determination.question.name.clone(),
            answers,
            meaning: meaning.to_string(),
            canary,
            salt: None,
        };
        let sampling = determination.sampling.clone();
        Ok(Self { inquiry, slice, meaning, vocabulary, sampling, wording })
    }

    fn id(&self) -> &str {
        &self.inquiry.id
    }

    /// What the vocabulary says that bears on proofs.
    #[must_use]
    pub fn customs(&self) -> Customs {
        let mut customs = Customs::default();
        for words in self.vocabulary.iter() {
            if words.sort.is_numeric() {
                let step = words.step.clone().unwrap_or_else(|| match words.sort {
                    crate::term::Sort::Real => Number::new(1.into(), 100.into()),
                    _ => Number::from_integer(1.into()),
                });
                let habits = Habits {
                    sort: words.sort,
                    bounds: words.bounds.clone(),
                    typical: words.typical.clone(),
                    step,
                };
                customs.habits.insert(words.constant, habits);
            }
            if let Some(value) = &words.presumed {
                customs.presumed.push((words.constant, value.clone()));
            }
        }
        customs
    }

    fn customs_digest(&self) -> Digest {
        let mut encoder = Encoder::new();
        for id in &self.slice.askable {
            let Some(words) = self.vocabulary.words(*id) else { continue };
            let presumed = words.presumed.as_ref().map(|v| self.inquiry.policy.terms.spell(v));
            encoder.text(&self.inquiry.policy.terms.constant(*id).name);
            encoder.text(&format!(
                "{:?} {:?} {:?} {presumed:?}",
                words.bounds, words.typical, words.step
            ));
        }
        encoder.finish()
    }

    fn words_digest(&self) -> Digest {
        let mut encoder = Encoder::new();
        let phrases = |encoder: &mut Encoder, list: &[Phrase]| {
            encoder.number(list.len() as u64);
            for phrase in list {
                encoder.text(&phrase.text);
            }
        };
        for subject in self.vocabulary.subjects() {
            encoder.text(subject);
        }
        for words in self.vocabulary.iter().filter(|w| self.slice.askable.contains(&w.constant)) {
            encoder.text(&self.inquiry.policy.terms.constant(words.constant).name);
            encoder.text(&words.subject).text(&words.name).text(&format!("{:?}", words.unit));
            match &words.phrases {
                Phrases::None => {}
                Phrases::Bool { yes, no } => {
                    phrases(&mut encoder, yes);
                    phrases(&mut encoder, no);
                }
                Phrases::Number(list) => phrases(&mut encoder, list),
                Phrases::Enum(lists) => {
                    for list in lists {
                        phrases(&mut encoder, list);
                    }
                }
            }
        }
        encoder.finish()
    }
}

/// A grown tree with its counts.
pub struct Grown {
    /// The tree by name.
    pub outline: Outline,
    /// Counts per node.
    pub counts: Vec<Below>,
    /// Figures.
    pub figures: Figures,
    /// Digest of the stored form.
    pub digest: Digest,
}

impl Run<'_> {
    /// Limits of every check.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits { rlimit: self.rlimit, seed: self.solver_seed, meter: self.meter.clone() }
    }

    fn version(stage: &str) -> u32 {
        VERSIONS.iter().find(|(name, _)| *name == stage).map_or(0, |(_, version)| *version)
    }

    fn fields(&self, stage: &str, solver: bool) -> Fields {
        let fields = Fields::new().with("stage version", Self::version(stage));
        if solver {
            fields.with("solver", solver::version()).with("rlimit", self.rlimit)
        } else {
            fields
        }
    }

    fn consistency_key(&self, prepared: &Prepared) -> Fields {
        let whole = slice::meaning(&prepared.inquiry, &slice::whole(&prepared.inquiry));
        self.fields("consistency", true).with("policy", whole)
    }

    fn tree_key(&self, prepared: &Prepared) -> Fields {
        self.fields("tree", true)
            .with("meaning", prepared.meaning)
            .with("diagram_mib", self.diagram_mib)
            .with("estimate", "mean")
    }

    fn certify_key(&self, prepared: &Prepared, tree: Digest) -> Fields {
        self.fields("certify", true)
            .with("meaning", prepared.meaning)
            .with("tree", tree)
            .with("customs", prepared.customs_digest())
            .with("controls", controls(&prepared.sampling))
            .with("seed", Digest::of(&self.key))
    }

    fn render_key(&self, prepared: &Prepared, certificates: Digest) -> Fields {
        let wording = &prepared.wording;
        self.fields("render", false)
            .with("certificates", certificates)
            .with("meaning", prepared.meaning)
            .with("words", prepared.words_digest())
            .with("question", &wording.question)
            .with("answers", wording.answers.join(" | "))
            .with("canary", &wording.canary)
    }

    /// The keys of a determination's stages as far as they can be known: up to the first whose
    /// input is not in the store.
    #[must_use]
    pub fn keys(&self, prepared: &Prepared) -> Vec<(&'static str, Fields)> {
        let mut keys = vec![
            ("consistency", self.consistency_key(prepared)),
            ("tree", self.tree_key(prepared)),
        ];
        let digest = |stage: &str, fields: &Fields| {
            self.store.get(stage, fields).map(|bytes| Digest::of(&bytes))
        };
        let Some(tree) = digest("tree", &self.tree_key(prepared)) else { return keys };
        let certify = self.certify_key(prepared, tree);
        keys.push(("certify", certify.clone()));
        let Some(certificates) = digest("certify", &certify) else { return keys };
        keys.push(("render", self.render_key(prepared, certificates)));
        keys
    }

    /// The stored result of a stage, or a fresh one that is then stored.
    fn stage<T: Serialize + for<'d> Deserialize<'d>>(
        &self,
        stage: &'static str,
        of: &str,
        fields: &Fields,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<(T, Digest), Failure> {
        if let Some(bytes) = self.store.get(stage, fields)
            && let Ok(result) = serde_json::from_slice(&bytes)
        {
            (self.watch)(of, stage, "hit");
            return Ok((result, Digest::of(&bytes)));
        }
        if self.store.mode() == Mode::Require {
            return Err(Failure::Missing(stage, of.to_owned()));
        }
        (self.watch)(of, stage, "miss");
        let result = make()?;
        let bytes = serde_json::to_vec(&result).map_err(|error| Failure::Bug(error.to_string()))?;
        self.store.put(stage, of, fields, &bytes)?;
        Ok((result, Digest::of(&bytes)))
    }

    /// One scenario of the whole policy, or the fault that there is none.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn consistency(&self, prepared: &Prepared) -> Result<Scenario, Failure> {
        let policy = &prepared.inquiry.policy;
        let fields = self.consistency_key(prepared);
        let of = policy.id.clone();
        let (values, _) = self.stage("consistency", &of, &fields, || self.base(prepared))?;
        let read = |(name, value): &(String, String)| {
            let id = policy.constant(name)?;
            Some((id, policy.terms.read(value, policy.terms.constant(id).sort)?))
        };
        Ok(values.iter().filter_map(read).collect())
    }

    fn base(&self, prepared: &Prepared) -> Result<Vec<(String, String)>, Failure> {
        let policy = &prepared.inquiry.policy;
        let whole = slice::whole(&prepared.inquiry);
        let mut everything = prepared.inquiry.clone();
        everything.askable = policy.terms.constants().map(|(id, _)| id).collect();
        everything.askable.retain(|id| prepared.inquiry.askable.contains(id));
        let outline = Outline::empty();
        let customs = prepared.customs();
        let mut docket =
            Docket::new(&everything, &whole, &outline, Scenario::new(), customs, self.limits())
                .map_err(|fault| Failure::Bug(fault.to_string()))?;
        docket.askable.clone_from(&everything.askable);
        docket.cover_all();
        let mut worker = Worker::new(&docket);
        match worker.scenario(&Facts::default(), usize::MAX, false) {
            Ok(Some(scenario)) => Ok(scenario
                .into_iter()
                .map(|(id, value)| {
                    (policy.terms.constant(id).name.clone(), policy.terms.spell(&value))
                })
                .collect()),
            Ok(None) => Err(Failure::Faults(vec![self.contradiction(prepared, &docket)])),
            Err(_) => Err(Failure::Faults(vec![
                Diagnostic::error(
                    "undecided",
                    format!(
                        "the solver cannot tell within its limit whether `{}` is consistent",
                        policy.id
                    ),
                )
                .hint("raise `rlimit` under `[limits]` in deogen.toml"),
            ])),
        }
    }

    /// The clauses that clash, found by leaving out one after the other.
    fn contradiction(&self, prepared: &Prepared, docket: &Docket) -> Diagnostic {
        let policy = &prepared.inquiry.policy;
        let mut session = solver::Session::new(&docket.terms, &[], self.limits());
        let mut clash: Vec<usize> = (0..policy.clauses.len()).collect();
        let literals: Vec<solver::Lit> =
            policy.clauses.iter().map(|clause| session.term(clause.term, true)).collect();
        let of = |clash: &[usize]| -> Vec<solver::Lit> {
            clash.iter().filter_map(|at| literals.get(*at).copied()).collect()
        };
        let mut at = 0;
        while at < clash.len() {
            let mut fewer = clash.clone();
            fewer.remove(at);
            match session.check(&of(&fewer)) {
                solver::Answer::Unsat(core) => {
                    fewer
                        .retain(|index| literals.get(*index).is_some_and(|lit| core.contains(lit)));
                    clash = fewer;
                }
                _ => at += 1,
            }
        }
        let mut fault = Diagnostic::error(
            "contradiction",
            format!("the clauses of `{}` contradict each other", policy.id),
        );
        for clause in clash.iter().filter_map(|at| policy.clauses.get(*at)).take(6) {
            fault = fault.at(clause.span.clone(), format!("`{}` clashes", clause.name));
        }
        fault.hint("these clauses together have no scenario; no fewer of them clash: correct one")
    }

    /// The tree.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn tree(&self, prepared: &Prepared) -> Result<Grown, Failure> {
        let fields = self.tree_key(prepared);
        let policy = &prepared.inquiry.policy;
        let ((stored, figures), digest) =
            self.stage::<(PortableOutline, Figures)>("tree", prepared.id(), &fields, || {
                let outline = self.grow(prepared)?;
                let counts = count::count(&outline.tree);
                let figures = figures(prepared, &outline, &counts);
                Ok((outline.portable(policy), figures))
            })?;
        let outline = Outline::resolve(&stored, policy)
            .ok_or_else(|| Failure::Bug("a stored tree does not fit its policy".to_owned()))?;
        let counts = count::count(&outline.tree);
        Ok(Grown { outline, counts, figures, digest })
    }

    fn grow(&self, prepared: &Prepared) -> Result<Outline, Failure> {
        let hard = |reason: &str| {
            Failure::Faults(vec![
                Diagnostic::error("too-hard", format!("`{}`: {reason}", prepared.id())).hint(
                    "raise `diagram_mib` or `rlimit` under `[limits]`, or make a derived \
                           condition `opaque`",
                ),
            ])
        };
        let mut space = Space::build(&prepared.inquiry, &prepared.slice, self.diagram_mib)
            .map_err(|fault| match fault {
                SpaceFault::Sort(fault) => Failure::Bug(fault.to_string()),
                other => hard(&other.to_string()),
            })?;
        let arity: Vec<u8> =
            (0_u16..).take(space.levels.len()).map(|level| space.diagram.arity(level)).collect();
        let layout = Layout::new(&arity);
        let terms = space.terms.clone();
        let theory = Theory::new(&terms, &space, layout.clone(), self.limits());
        let variables = Variables::new(&space);
        let silent = space.silent();
        let tree = {
            let mut classes = DiagramClasses::new(&mut space, theory, layout, Lemmas::Pairs)
                .map_err(|stop| hard(&stop.to_string()))?;
            grow(&mut classes, &variables, silent, Estimate::Mean, self.interrupted)
        };
        match tree {
            Ok(tree) => Ok(Outline::new(&space, tree, "diagram")),
            Err(Stop::Interrupted) => Err(Failure::Interrupted),
            Err(stop) => Err(hard(&stop.to_string())),
        }
    }

    /// Draws candidates and certifies as many as are wanted.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn certify(
        &self,
        prepared: &Prepared,
        grown: &Grown,
    ) -> Result<(Certificates, Digest), Failure> {
        let fields = self.certify_key(prepared, grown.digest);
        self.stage("certify", prepared.id(), &fields, || {
            let base = self.consistency(prepared)?;
            let docket = Docket::new(
                &prepared.inquiry,
                &prepared.slice,
                &grown.outline,
                base,
                prepared.customs(),
                self.limits(),
            )
            .map_err(|fault| Failure::Bug(fault.to_string()))?;
            self.certified(prepared, grown, &docket)
        })
    }

    fn certified(
        &self,
        prepared: &Prepared,
        grown: &Grown,
        docket: &Docket,
    ) -> Result<Certificates, Failure> {
        let sampling = &prepared.sampling;
        let drawn = self.drawn(prepared, grown);
        let id = prepared.id();
        let progress = |count: usize| (self.watch)(id, "certify", &count.to_string());
        let needed = (size(sampling.needed.min), size(sampling.needed.max));
        let quota = |entries: u64| Quota { entries: size(entries), needed, single: 20, effort: 12 };
        let definite =
            fill(docket, &drawn.definite, quota(sampling.definite), self.interrupted, &progress)?;
        let nei = fill(docket, &drawn.nei, quota(sampling.nei), self.interrupted, &progress)?;
        let mut certificates = Certificates::default();
        for drop in Drop::ALL {
            let count = |filled: &Filled| filled.dropped.get(&drop).copied().unwrap_or(0);
            let sum = count(&definite) + count(&nei);
            certificates.dropped.insert(drop.name().to_owned(), sum);
        }
        let reach = Reach::new(&prepared.inquiry, &prepared.slice);
        let switched = Switched::new(&prepared.inquiry, &prepared.slice, self.limits())
            .map_err(|fault| Failure::Bug(fault.to_string()))?;
        let mut entries = definite.entries;
        entries.extend(nei.entries);
        certificates.entries = crate::settle::settle(
            &crate::settle::Setting {
                inquiry: &prepared.inquiry,
                vocabulary: &prepared.vocabulary,
                reach: &reach,
                switched: &switched,
                outline: &grown.outline,
                interrupted: self.interrupted,
            },
            entries,
        )?;
        Ok(certificates)
    }

    /// Candidates by rank.
    #[must_use]
    pub fn drawn(&self, prepared: &Prepared, grown: &Grown) -> Drawn {
        let sampling = &prepared.sampling;
        let kinds = sampling.kinds.iter().map(|kind| match kind {
            NeiKind::Cut => Nei::Cut,
            NeiKind::Hole => Nei::Hole,
            NeiKind::Mixed => Nei::Mixed,
            NeiKind::Silent => Nei::Silent,
        });
        let cut = sampling.cut.iter().map(|cut| match cut {
            Cut::One => Depth::One,
            Cut::Half => Depth::Half,
            Cut::Most => Depth::Most,
            Cut::Exactly(facts) => Depth::Exactly(size(*facts)),
        });
        let wanted = Wanted {
            determination: prepared.id().to_owned(),
            key: self.key,
            facts: (size(sampling.facts.min), size(sampling.facts.max)),
            kinds: kinds.collect(),
            cut: cut.collect(),
            list_cap: sampling.list_cap,
            most: size(sampling.definite.max(sampling.nei)).saturating_mul(12).max(200),
            per_signature: size(sampling.per_signature),
        };
        draw::draw(&prepared.inquiry.policy, &grown.outline, &grown.counts, &wanted)
    }

    /// Rows in words.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn render(
        &self,
        prepared: &Prepared,
        certificates: &Certificates,
        digest: Digest,
    ) -> Result<(Rendered, Digest), Failure> {
        let wording = &prepared.wording;
        let fields = self.render_key(prepared, digest);
        self.stage("render", prepared.id(), &fields, || {
            let mut rendered = Rendered::default();
            for settled in &certificates.entries {
                let row = render::row(&prepared.inquiry, &prepared.vocabulary, wording, settled);
                match row {
                    Some((row, witnesses)) => {
                        rendered.rows.push(row);
                        rendered.witnesses.extend(witnesses);
                    }
                    None => rendered.text_drops += 1,
                }
            }
            rendered.rows.sort_by(|a, b| a.kind.cmp(&b.kind).then_with(|| a.id.cmp(&b.id)));
            rendered.rows.dedup_by(|a, b| a.id == b.id);
            rendered.witnesses.sort();
            rendered.witnesses.dedup();
            Ok(rendered)
        })
    }
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn controls(sampling: &Sampling) -> String {
    format!(
        "definite {} nei {} per_signature {} facts {:?} needed {:?} cut {:?} kinds {:?} \
         representatives {:?} list_cap {} distractors {} state_linked {}",
        sampling.definite,
        sampling.nei,
        sampling.per_signature,
        sampling.facts,
        sampling.needed,
        sampling.cut,
        sampling.kinds,
        sampling.representatives,
        sampling.list_cap,
        sampling.distractors,
        sampling.state_linked,
    )
}

fn figures(prepared: &Prepared, outline: &Outline, counts: &[Below]) -> Figures {
    let zero = Below::default();
    let root = counts.get(outline.tree.root as usize).unwrap_or(&zero);
    let less_root = |count: &BigUint| {
        let asks = matches!(outline.node(outline.tree.root), Node::Ask { .. });
        if asks { (count - 1_u8).to_string() } else { count.to_string() }
    };
    let two = root.classes() >= 2;
    Figures {
        clauses: prepared.slice.kept.len(),
        facts: prepared.slice.askable.len(),
        depth: root.depth,
        paths_definite: root.leaves().to_string(),
        by_value: root.definite.iter().map(BigUint::to_string).collect(),
        paths_nei: less_root(&root.inner),
        cut: if two { less_root(&root.cut) } else { root.cut.to_string() },
        silent: root.silent.to_string(),
        signatures: count::signatures(&outline.tree).to_string(),
        states: outline.tree.nodes.len(),
        engine: outline.engine.clone(),
    }
}
