//! deogen turns written policies into benchmark entries whose answers are proved.

pub mod diag;
pub mod digest;
pub mod term;
pub mod policy;
pub mod smtlib;
pub mod document;
pub mod tables;
pub mod vocabulary;
pub mod eval;
pub mod linear;
pub mod slice;
pub mod solver;
pub mod diagram;
pub mod space;
pub mod theory;
pub mod classes;
pub mod tree;
pub mod outline;
pub mod count;
pub mod draw;
pub mod numbers;
pub mod claim;
pub mod docket;
pub mod twin;
pub mod certify;
