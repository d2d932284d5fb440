//! Arguments, commands as one match, exit status. The only file family that writes to the terminal.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

use crate::build::{Options, has_errors};
use crate::diag::Diagnostic;
use crate::solver;
use crate::stages::Failure;
use crate::store::Mode;
use crate::watch::Event;

mod ask;
mod cache;
mod check;
mod explain;
mod init;
mod inspect;
mod make;
mod progress;
mod watch;
mod release;
mod score;

/// How a command ended (CONTRACTS.md section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Done = 0,
    /// The user's files are at fault.
    Faults = 1,
    /// Unknown command, flag or determination.
    Usage = 2,
    /// Not up to date.
    Stale = 3,
    /// Not reproducible.
    Differs = 4,
    /// A certificate, checksum or stored file does not hold.
    Broken = 5,
    /// No solver, disk full and the like.
    Environment = 8,
    /// A bug.
    Bug = 101,
    /// Ctrl-C.
    Interrupted = 130,
}

/// Turns written policies into benchmark entries whose answers are proved.
#[derive(Parser, Debug)]
#[command(name = "deogen", version, long_version = long_version(), max_term_width = 100)]
#[command(after_help = "Start with `deogen build`, then `deogen show` and `deogen tree`.")]
struct Args {
    /// Work in this folder.
    #[arg(short = 'C', long = "directory", global = true, default_value = ".")]
    root: PathBuf,
    /// Workers; 0 is one per core. Never changes a result.
    #[arg(short = 'j', long, global = true, default_value_t = 0)]
    jobs: usize,
    /// Say less: only errors.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Color of diagnostics.
    #[arg(long, global = true, default_value = "auto")]
    color: Choice,
    /// Messages for a person, or one JSON object a line.
    #[arg(long, global = true, default_value = "human")]
    message_format: Format,
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Cache {
    /// Read and write it.
    Use,
    /// Fail on the first result that is not in it.
    Require,
    /// Do without.
    Off,
}

impl From<Cache> for Mode {
    fn from(cache: Cache) -> Self {
        match cache {
            Cache::Use => Self::Use,
            Cache::Require => Self::Require,
            Cache::Off => Self::Off,
        }
    }
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Make the entries of all determinations, or of those named.
    Build(BuildArgs),
    /// Say what `build` would do, and why.
    Plan(BuildArgs),
    /// Say whether all is up to date: exit status 3 where it is not.
    Status(BuildArgs),
    /// Build again whenever a file of the project is saved.
    Watch(watch::WatchArgs),
    /// Make a small project that builds.
    Init {
        /// A new or empty folder.
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Print entries as a person reads them.
    Show {
        /// An entry's id or a determination.
        what: Vec<String>,
        /// One definite and one NEI entry, and where the files are.
        #[arg(long)]
        sample: bool,
        /// Entries of a determination to print.
        #[arg(long, default_value_t = 10)]
        count: usize,
    },
    /// Look for faults and oddities in policies.
    Check(check::CheckArgs),
    /// Answer one scenario and explain the answer.
    Ask(ask::AskArgs),
    /// Print the decision tree of a determination.
    Tree {
        /// The determination.
        determination: String,
        /// As Graphviz.
        #[arg(long)]
        dot: bool,
        /// Levels printed.
        #[arg(long, default_value_t = 6)]
        depth: usize,
    },
    /// Write the joined SMT-LIB of a determination to standard output.
    Export {
        /// The determination.
        determination: String,
    },
    /// Say which input of a determination moved since its last build, and what a slice left out.
    Explain {
        /// The determination.
        determination: String,
    },
    /// Build, pin and lay out a release.
    Release(release::ReleaseArgs),
    /// Prove a release again from its own files.
    Verify(release::VerifyArgs),
    /// Say what changed between two releases or built projects.
    Diff(release::DiffArgs),
    /// Score predictions against the entries of a release.
    Score(score::ScoreArgs),
    /// Print the JSON Schema of deogen.toml.
    Schema,
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    #[command(hide = true)]
    Man,
    /// Look after the store.
    Cache {
        /// What to do.
        #[command(subcommand)]
        command: CacheCommand,
    },
}

#[derive(Subcommand, Debug)]
enum CacheCommand {
    /// Count records and bytes.
    Stats,
    /// Remove the oldest records beyond the budget.
    Gc,
    /// Re-hash every record.
    Verify,
}

#[derive(clap::Args, Debug, Clone)]
struct BuildArgs {
    /// Only these.
    determinations: Vec<String>,
    /// How the store is used.
    #[arg(long, default_value = "use")]
    cache: Cache,
    /// Keep every clause; gives the same entries, slower.
    #[arg(long)]
    no_slice: bool,
    /// Seed of the solver; gives the same entries.
    #[arg(long, default_value_t = 0, hide = true)]
    solver_seed: u32,
}

fn long_version() -> &'static str {
    static TEXT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    TEXT.get_or_init(|| format!("{}\n{}", env!("CARGO_PKG_VERSION"), solver::version()))
}

/// What every command is given.
struct Shell {
    root: PathBuf,
    quiet: bool,
    color: bool,
    json: bool,
    interrupted: Arc<AtomicBool>,
    /// Who is to be woken by Ctrl-C.
    wake: Wake,
}

type Wake = Arc<Mutex<Option<Sender<Event>>>>;

impl Shell {
    /// Data, to standard output. A closed pipe is no failure.
    fn out(&self, text: &str) -> Result<(), Status> {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        match written {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Status::Done),
            Err(_) => Err(Status::Environment),
        }
    }

    /// A message, to standard error.
    fn say(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr().lock(), "{text}");
        }
    }

    /// An error, to standard error even when quiet.
    fn error(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "error: {text}");
    }

    fn diagnostics(&self, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            if self.json {
                let line = serde_json::json!({
                    "kind": "diagnostic",
                    "severity": format!("{:?}", diagnostic.severity).to_lowercase(),
                    "code": diagnostic.code,
                    "message": diagnostic.message,
                    "position": diagnostic.position(),
                    "hints": diagnostic.hints,
                });
                let _ = self.out(&format!("{line}\n"));
            } else if !self.quiet || has_errors(std::slice::from_ref(diagnostic)) {
                let _ = writeln!(io::stderr().lock(), "{}\n", diagnostic.draw(self.color));
            }
        }
    }

    fn failure(&self, failure: &Failure) -> Status {
        match failure {
            Failure::Faults(faults) => {
                self.diagnostics(faults);
                Status::Faults
            }
            Failure::Store(error) => {
                self.error(&error.to_string());
                self.say(
                    "help: free some space or check the folder's permissions; nothing already \
                          made is lost",
                );
                Status::Environment
            }
            Failure::Bug(text) => {
                self.error(&format!("a bug in deogen: {text}"));
                Status::Bug
            }
            Failure::Interrupted => {
                self.say(
                    "interrupted: what was finished is kept in the cache; run it again to go on",
                );
                Status::Interrupted
            }
            Failure::Missing(_) => {
                self.error(&failure.to_string());
                Status::Stale
            }
        }
    }

    fn options(&self, args: &BuildArgs) -> Options {
        Options {
            root: self.root.clone(),
            cache: args.cache.into(),
            no_slice: args.no_slice,
            solver_seed: args.solver_seed,
            only: args.determinations.clone(),
            ..Options::default()
        }
    }
}

/// Runs the command line and says how it ended.
#[must_use]
pub fn run() -> u8 {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    let wake = Wake::default();
    let (flag, sleeper) = (Arc::clone(&interrupted), Arc::clone(&wake));
    // Without a handler Ctrl-C ends the process at once, which loses nothing but the message.
    let _ = ctrlc::set_handler(move || {
        flag.store(true, Ordering::Relaxed);
        if let Ok(sleeper) = sleeper.lock()
            && let Some(sender) = sleeper.as_ref()
        {
            let _ = sender.send(Event::Stop);
        }
    });
    let _ =
        rayon::ThreadPoolBuilder::new().num_threads(args.jobs).stack_size(64 << 20).build_global();
    let shell = Shell {
        root: args.root.clone(),
        quiet: args.quiet,
        color: match args.color {
            Choice::Always => true,
            Choice::Never => false,
            Choice::Auto => io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        },
        json: args.message_format == Format::Json,
        interrupted,
        wake,
    };
    dispatch(&shell, args.command) as u8
}

fn dispatch(shell: &Shell, command: Command) -> Status {
    let done = match command {
        Command::Build(args) => return make::build(shell, &args),
        Command::Plan(args) => return make::plan(shell, &args),
        Command::Status(args) => return make::state(shell, &args),
        Command::Watch(args) => return watch::watch(shell, &args),
        Command::Init { folder } => init::init(shell, &folder),
        Command::Show { what, sample, count } => inspect::show(shell, &what, sample, count),
        Command::Check(args) => check::check(shell, &args),
        Command::Ask(args) => ask::ask(shell, &args),
        Command::Tree { determination, dot, depth } => {
            inspect::tree(shell, &determination, dot, depth)
        }
        Command::Export { determination } => inspect::export(shell, &determination),
        Command::Explain { determination } => explain::explain(shell, &determination),
        Command::Release(args) => release::release(shell, &args),
        Command::Verify(args) => release::verify(shell, &args),
        Command::Diff(args) => release::diff(shell, &args),
        Command::Score(args) => score::score(shell, &args),
        Command::Schema => {
            let schema = serde_json::to_string_pretty(&crate::manifest::schema());
            shell.out(&format!("{}\n", schema.unwrap_or_default()))
        }
        Command::Completions { shell: kind } => {
            let mut bytes = Vec::new();
            clap_complete::generate(kind, &mut Args::command(), "deogen", &mut bytes);
            shell.out(&String::from_utf8_lossy(&bytes))
        }
        Command::Man => {
            let mut bytes = Vec::new();
            let _ = clap_mangen::Man::new(Args::command()).render(&mut bytes);
            shell.out(&String::from_utf8_lossy(&bytes))
        }
        Command::Cache { command } => cache::cache(shell, &command),
    };
    done.err().unwrap_or(Status::Done)
}
