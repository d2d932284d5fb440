//! deogen turns written policies into benchmark entries whose answers are proved.
pub mod diag;
pub mod digest;
pub mod term;
pub mod policy;
pub mod smtlib;
pub mod document;
pub mod tables;
pub mod vocabulary;
pub mod manifest;
pub mod project;
