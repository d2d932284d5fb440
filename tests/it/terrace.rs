//! A project of twelve small determinations as a model that can be edited at random and that knows,
//! without asking the program, what each determination hangs on.

use std::fs;

use crate::draft::Dice;
use crate::workshop::Workshop;

/// One policy: three verdicts, a derived condition, four facts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Terrace {
    /// Thresholds of the three verdicts and of the condition.
    thresholds: [i64; 4],
    /// Typical numbers.
    typical: i64,
    /// Wording of a fact.
    wording: u64,
    /// Wording of the text.
    prose: u64,
    /// A comment.
    comment: u64,
    /// Clauses in reverse.
    reversed: bool,
    /// A clause that no verdict reads.
    unrelated: Option<i64>,
    /// It does not parse.
    broken: bool,
}

/// One determination.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    policy: usize,
    verdict: usize,
    definite: u64,
    question: u64,
}

/// The project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hillside {
    terraces: Vec<Terrace>,
    asked: Vec<Asked>,
    seed: u64,
}

const POLICIES: usize = 4;

impl Hillside {
    pub(crate) fn new() -> Self {
        let terrace = |at: i64| Terrace {
            thresholds: [3 + at, 5, 7, 4 + at],
            typical: 2,
            wording: 0,
            prose: 0,
            comment: 0,
            reversed: false,
            unrelated: None,
            broken: false,
        };
        let asked = |at: usize| Asked { policy: at / 3, verdict: at % 3, definite: 2, question: 0 };
        Self {
            terraces: (0..POLICIES as i64).map(terrace).collect(),
            asked: (0..3 * POLICIES).map(asked).collect(),
            seed: 0,
        }
    }

    /// One random edit; says which.
    pub(crate) fn edit(&mut self, dice: &mut Dice, past: &[Self]) -> String {
        let at = dice.below(POLICIES);
        let det = dice.below(self.asked.len());
        let terrace = &mut self.terraces[at];
        match dice.below(14) {
            0..=2 => {
                let which = dice.below(4);
                terrace.thresholds[which] = 1 + (terrace.thresholds[which] + 1) % 9;
                format!("threshold {which} of p{at}")
            }
            3 => {
                terrace.comment += 1;
                format!("comment of p{at}")
            }
            4 => {
                terrace.reversed = !terrace.reversed;
                format!("order of clauses of p{at}")
            }
            5 => {
                terrace.wording += 1;
                format!("wording of p{at}")
            }
            6 => {
                terrace.prose += 1;
                format!("text of p{at}")
            }
            7 => {
                terrace.typical = 1 + (terrace.typical + 1) % 6;
                format!("typical number of p{at}")
            }
            8 => {
                terrace.unrelated = Some(terrace.unrelated.map_or(1, |old| old + 1));
                format!("unrelated clause of p{at}")
            }
            9 => {
                self.asked[det].definite = 1 + (self.asked[det].definite + 1) % 4;
                format!("controls of {}", self.asked[det].id())
            }
            10 => {
                self.asked[det].question += 1;
                format!("question of {}", self.asked[det].id())
            }
            11 if self.asked.len() > 10 => format!("without {}", self.asked.remove(det).id()),
            12 => {
                self.seed += 1;
                "seed".to_owned()
            }
            _ => {
                self.clone_from(dice.pick(past));
                "back to an earlier state".to_owned()
            }
        }
    }

    /// Breaks or repairs a policy.
    pub(crate) fn set_broken(&mut self, policy: usize, broken: bool) {
        self.terraces[policy].broken = broken;
    }

    /// Determinations that use a policy.
    pub(crate) fn using(&self, policy: usize) -> Vec<String> {
        let uses = |asked: &&Asked| asked.policy == policy || (policy == 0 && asked.policy == 1);
        self.asked.iter().filter(uses).map(Asked::id).collect()
    }

    /// By determination, what its tree hangs on and what its proofs hang on.
    pub(crate) fn slices(&self) -> Vec<(String, String, String)> {
        let of = |asked: &Asked| {
            let terrace = &self.terraces[asked.policy];
            let form = (asked.policy + asked.verdict) % 3;
            let mut slice = format!("{} {}", asked.id(), terrace.thresholds[asked.verdict]);
            let mut typical = terrace.typical.to_string();
            if form == 2 {
                let home = self.condition_of(asked.policy);
                slice += &format!(" {}", self.terraces[home].thresholds[3]);
                typical += &format!(" {}", self.terraces[home].typical);
            }
            let proofs = format!("{slice} / {typical} {} {}", asked.definite, self.seed);
            (asked.id(), slice, proofs)
        };
        self.asked.iter().map(of).collect()
    }

    /// The policy whose derived condition a policy reads: `p1` defers to `p0`.
    fn condition_of(&self, policy: usize) -> usize {
        if policy == 1 { 0 } else { policy }
    }

    /// Writes all files of the project.
    pub(crate) fn write(&self, workshop: &Workshop) {
        let mut manifest = format!(
            "[project]\nname = \"hillside\"\nversion = \"0.1.0\"\nlicense = \"CC0-1.0\"\n\
             seed = {}\n[sampling]\nnei = 2\n",
            self.seed
        );
        for at in 0..POLICIES {
            let uses = if at == 1 { "\"p0\"" } else { "" };
            manifest += &format!("[policies.p{at}]\nuses = [{uses}]\n");
            self.write_policy(workshop, at);
        }
        for asked in &self.asked {
            manifest += &format!(
                "[[determination]]\nid = \"{}\"\npolicy = \"p{}\"\nverdict = \"v{}\"\n\
                 question = \"Is it so ({})?\"\nanswers = {{ true = \"yes\", false = \"no\" }}\n\
                 sampling = {{ definite = {} }}\n",
                asked.id(),
                asked.policy,
                asked.verdict,
                asked.question,
                asked.definite
            );
        }
        put(workshop, "deogen.toml", &manifest);
    }

    fn write_policy(&self, workshop: &Workshop, at: usize) {
        let terrace = &self.terraces[at];
        let [a, b, c, d] = terrace.thresholds;
        let condition = format!("c{}", self.condition_of(at));
        let mut clauses: Vec<String> = Vec::new();
        for (verdict, threshold) in [a, b, c].into_iter().enumerate() {
            let body = match (at + verdict) % 3 {
                0 => format!("(and b0 (<= n {threshold}))"),
                1 => format!("(or b1 (and b2 (> n {threshold})))"),
                _ => format!("(ite b0 b1 (and {condition} (<= n {threshold})))"),
            };
            clauses.push(format!(
                "(assert (! (= v{verdict} {body}) :named s{verdict} :section \"{verdict}\" \
                 :source \"rule {verdict}\"))"
            ));
        }
        clauses.push(format!(
            "(assert (! (= c{at} (or b1 (>= n {d}))) :named s3 :section \"3\" :source \"rule 3\"))"
        ));
        if let Some(bound) = terrace.unrelated {
            clauses.push(format!(
                "(assert (! (= z (and b2 (>= n {bound}))) :named s4 :section \"4\" :source \"z\"))"
            ));
        }
        if terrace.reversed {
            clauses.reverse();
        }
        let mut text = format!("; comment {}\n(set-logic ALL)\n", terrace.comment);
        if at == 1 {
            text += "(set-info :imports \"p0: c0\")\n(declare-const c0 Bool)\n";
        }
        for name in ["b0", "b1", "b2", "v0", "v1", "v2", &format!("c{at}"), "z"] {
            text += &format!("(declare-const {name} Bool)\n");
        }
        text += "(declare-const n Int)\n(assert (! (>= n 0) :kind range))\n";
        text += &clauses.join("\n");
        text += if terrace.broken { "\n(assert\n" } else { "\n" };
        put(workshop, &format!("policies/p{at}/policy.smt2"), &text);
        let mut prose = format!("# Terrace {at} ({})\n", terrace.prose);
        for label in 0..5 {
            prose += &format!("\n**§{label}** Rule {label}.\n");
        }
        put(workshop, &format!("policies/p{at}/policy.md"), &prose);
        put(workshop, &format!("policies/p{at}/vocabulary.toml"), &self.words(at));
    }

    fn words(&self, at: usize) -> String {
        let terrace = &self.terraces[at];
        let mut words = String::new();
        for name in ["b0", "b1", "b2"] {
            let version = if name == "b0" { terrace.wording } else { 0 };
            words += &format!(
                "[facts.{name}]\ntrue = [\"Of p{at}, {name} holds ({version}).\"]\n\
                 false = [\"Of p{at}, {name} does not hold ({version}).\"]\n"
            );
        }
        words += &format!(
            "[facts.n]\nbounds = [0, 20]\ntypical = [{}]\nsay = [\"Of p{at}, n is {{value}}.\"]\n",
            terrace.typical
        );
        for name in ["v0", "v1", "v2", &format!("c{at}"), "z"] {
            words += &format!("[derived.{name}]\nname = \"{name} of p{at}\"\n");
        }
        words
    }
}

impl Asked {
    fn id(&self) -> String {
        format!("p{}/v{}", self.policy, self.verdict)
    }
}

/// Writes a file if its text is another.
fn put(workshop: &Workshop, path: &str, text: &str) {
    if fs::read_to_string(workshop.path(path)).is_ok_and(|old| old == text) {
        return;
    }
    workshop.write(path, text);
}
