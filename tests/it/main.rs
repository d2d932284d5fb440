//! All integration tests in one binary; each module is a file of this folder.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::allow_attributes,
    reason = "a test fails by panicking"
)]

mod answers;
mod ask;
mod bytes;
mod check;
mod checkout;
mod commands;
mod draft;
mod durable;
mod engine;
mod front;
mod invent;
mod laws;
mod oracle;
mod rebuild;
mod regressions;
mod release;
mod reproof;
mod scale;
mod scenarios;
mod score;
mod seam;
mod suite;
mod terrace;
mod tidy;
mod versions;
mod watching;
mod workshop;
