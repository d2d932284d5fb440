//! deogen turns written policies into benchmark entries whose answers are proved.
//!
//! Modules stand in the order in which they may use each other: a file imports only from files
//! above it (a test holds that). Read from the top, they are the way of the data:
//!
//! **Words.** [`diag`] says what is wrong, where, and what helps. [`digest`] names things by
//! content. [`term`] holds typed terms, each once.
//!
//! **What an author wrote.** [`smtlib`] reads a formalization into a [`policy`], [`document`] the
//! text with its labels, [`vocabulary`] the words of every fact and back, [`manifest`] the project
//! file; [`project`] brings them together and joins a policy with those it uses. [`eval`] decides a
//! full scenario without any solver.
//!
//! **What can be asked.** [`slice`](mod@slice) keeps the clauses a verdict depends on. [`space`]
//! makes facts and linear comparisons into levels of a [`diagram`] of classes: one for each verdict
//! that can be the only one left, and one for silence. [`theory`] knows which comparisons can hold
//! together; [`solver`] is the file that knows Z3. [`classes`] is the seam: what the tree asks, and
//! the two that answer it, the diagram engine, and [`reference`](mod@reference) which asks Z3 about
//! everything and is the judge of the other. [`tree`] grows the decision tree from those answers
//! alone; [`outline`] is the tree without a policy's term numbers, [`count`] its exact figures.
//!
//! **What becomes an entry.** [`draw`] ranks paths by content. [`numbers`] and [`twin`] choose
//! concrete values, [`claim`] says what is to be proved of them, [`certify`] has Z3 prove it, and
//! [`citations`] which sections are enough. [`settle`] adds what a row tells beside, [`render`]
//! words it, [`sample`] fills the quotas, [`dataset`] is the row.
//!
//! **What is kept.** [`store`] holds results by content, [`stages`] are the steps with their keys,
//! [`mod@build`] walks them for all determinations and writes `dist/`, [`watch`] repeats it while
//! an author writes and [`effect`] tells what an edit did.
//!
//! **For authors.** [`ask`] answers one scenario, with what is [`missing`] and the [`derivation`];
//! [`check`] finds what is likely wrong in a formalization.
//!
//! **For those who use the data.** [`release`], [`lock`] and [`formats`] pin and lay out a data
//! set, [`verify`] proves it again through [`replay`] from its own files, [`diff`] compares two,
//! and [`score`] judges predictions. [`cli`] is the command line.
//!
//! Invariants, wherever you are: no hash-map order, clock, thread, path or whim of a solver reaches
//! an output; a label rests on an answer of Z3 about the facts as stated, never on the diagram.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        reason = "a test that goes wrong is to stop"
    )
)]

pub mod diag;
pub mod digest;
pub mod term;
pub mod substitute;
pub mod policy;
pub mod smtlib;
pub mod document;
pub mod tables;
pub mod vocabulary;
pub mod manifest;
pub mod project;
pub mod eval;
pub mod minimal;
pub mod linear;
pub mod slice;
pub mod solver;
pub mod diagram;
pub mod space;
pub mod theory;
pub mod classes;
pub mod reference;
pub mod tree;
pub mod outline;
pub mod count;
pub mod draw;
pub mod numbers;
pub mod claim;
pub mod docket;
pub mod twin;
pub mod certify;
pub mod citations;
pub mod settled;
pub mod dataset;
pub mod render;
pub mod sample;
pub mod settle;
pub mod store;
pub mod stages;
pub mod options;
pub mod missing;
pub mod derivation;
pub mod ask;
pub mod check;
pub mod build;
pub mod watch;
pub mod effect;
pub mod query;
pub mod replay;
pub mod formats;
pub mod lock;
pub mod release;
pub mod rows;
pub mod verify;
pub mod diff;
pub mod score;
pub mod cli;
