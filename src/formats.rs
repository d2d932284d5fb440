//! The files of a release in the formats other tools read.

pub mod card;
pub mod columns;
pub mod croissant;
pub mod tasks;
