//! SMT-LIB text answered by Z3 through its own parser: the second file that knows Z3.
//!
//! It shares nothing with `solver.rs`, which builds Z3's terms from ours: here a mistake of our
//! front end or of our encoding would show.

use z3::ast::Bool;
use z3::{Config, Params, SatResult, Solver};

use crate::query::{Query, asserts};

/// What a solver said to the questions of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Satisfiable.
    Sat,
    /// Unsatisfiable.
    Unsat,
    /// Neither.
    Unknown,
}

/// Asks Z3 the questions of a query, each on the whole text.
///
/// # Errors
/// Text that Z3 does not read.
pub fn ask(query: &Query, rlimit: u32) -> Result<Vec<Said>, String> {
    // A context of its own: two texts may each declare an enumeration of the same name.
    z3::with_z3_config(&Config::new(), || replay(query, rlimit))
}

fn replay(query: &Query, rlimit: u32) -> Result<Vec<Said>, String> {
    let solver = Solver::new();
    let mut params = Params::new();
    params.set_bool("ctrl_c", false);
    params.set_u32("rlimit", rlimit);
    solver.set_params(&params);
    if query.text.contains('\0') {
        return Err("the text holds a zero byte".to_owned());
    }
    solver.from_string(query.text.as_str());
    // Z3's interface does not report what it could not read; it leaves it out.
    let (read, written) = (solver.get_assertions().len(), asserts(&query.text));
    if read != written {
        return Err(format!("Z3 read {read} of {written} assertions"));
    }
    let said = |(name, _): &(String, bool)| match solver
        .check_assumptions(&[Bool::new_const(name.trim_matches('|'))])
    {
        SatResult::Sat => Said::Sat,
        SatResult::Unsat => Said::Unsat,
        SatResult::Unknown => Said::Unknown,
    };
    Ok(query.questions.iter().map(said).collect())
}
