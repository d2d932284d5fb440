//! deogen turns written policies into benchmark entries whose answers are proved.

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
