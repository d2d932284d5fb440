//! The `deogen` program: runs the command line and exits with its status.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(deogen::cli::run())
}
