//! cvc5 as a second opinion: the same queries as files, answered by a process of its own.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::query::Query;
use crate::replay::Said;

/// The runner script.
const SCRIPT: &str = "scripts/cvc5-run.py";

/// Where cvc5's runner is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cvc5 {
    python: String,
    script: PathBuf,
}

type Answers = Result<Vec<Said>, String>;

impl Cvc5 {
    /// Looks for the runner: in the folder given, in its parents, and beside the program.
    ///
    /// # Errors
    /// It is nowhere.
    pub fn find(root: &Path) -> Result<Self, String> {
        let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let program = std::env::current_exe().ok();
        let here = std::env::current_dir().ok();
        let root = root.canonicalize().ok();
        let starts = [here, root, program].into_iter().flatten();
        let folders: Vec<PathBuf> = starts
            .flat_map(|start| start.ancestors().map(Path::to_path_buf).collect::<Vec<_>>())
            .collect();
        let script =
            folders.into_iter().map(|folder| folder.join(SCRIPT)).find(|path| path.exists());
        match script {
            Some(script) => Ok(Self { python, script }),
            None => Err(format!("{SCRIPT} is not in this folder, above it or above the program")),
        }
    }

    /// Its name and version, asked of the bindings.
    ///
    /// # Errors
    /// It is not installed.
    pub fn version(&self) -> Result<String, String> {
        let output = Command::new(&self.python).arg(&self.script).arg("--version").output();
        match output {
            Ok(output) if output.status.success() => {
                Ok(format!("cvc5 {}", String::from_utf8_lossy(&output.stdout).trim()))
            }
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(format!("{}: {error}", self.python)),
        }
    }

    /// Asks every query, one process per worker.
    pub(super) fn ask(
        &self,
        queries: &[Result<Query, String>],
        interrupted: &AtomicBool,
    ) -> Result<Vec<Answers>, String> {
        let part = queries.len().div_ceil(rayon::current_num_threads().max(1)).max(1);
        let parts: Result<Vec<Vec<Answers>>, String> = queries
            .par_chunks(part)
            .map(|part| self.batch(part, interrupted).map_err(|error| format!("cvc5: {error}")))
            .collect();
        Ok(parts?.into_iter().flatten().collect())
    }

    fn batch(
        &self,
        queries: &[Result<Query, String>],
        interrupted: &AtomicBool,
    ) -> std::io::Result<Vec<Answers>> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("query.smt2");
        let mut process = Command::new(&self.python)
            .arg(&self.script)
            .args(["--rlimit", "50000000", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(mut input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(std::io::Error::other("no pipes"));
        };
        let mut output = BufReader::new(output);
        let mut all = Vec::with_capacity(queries.len());
        for query in queries {
            let query = match query {
                Ok(_) if interrupted.load(Ordering::Relaxed) => {
                    all.push(Err("interrupted".to_owned()));
                    continue;
                }
                Ok(query) => query,
                Err(reason) => {
                    all.push(Err(reason.clone()));
                    continue;
                }
            };
            fs::write(&file, query.script())?;
            writeln!(input, "{}", file.display())?;
            input.flush()?;
            let mut line = String::new();
            output.read_line(&mut line)?;
            all.push(read(&line));
        }
        drop(input);
        process.wait()?;
        Ok(all)
    }
}

fn read(line: &str) -> Answers {
    let said = |word: &str| match word {
        "sat" => Ok(Said::Sat),
        "unsat" => Ok(Said::Unsat),
        "unknown" => Ok(Said::Unknown),
        _ => Err("cvc5 does not read it".to_owned()),
    };
    line.split_whitespace().map(said).collect()
}
