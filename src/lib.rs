//! deogen turns written policies into benchmark entries whose answers are proved.
pub mod classes;
pub mod diag;
pub mod diagram;
pub mod digest;
pub mod document;
pub mod eval;
pub mod linear;
pub mod policy;
pub mod slice;
pub mod smtlib;
pub mod solver;
pub mod space;
pub mod tables;
pub mod term;
pub mod theory;
pub mod tree;
pub mod vocabulary;
