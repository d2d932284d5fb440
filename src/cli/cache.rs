//! `deogen cache`: a look at the store, and its upkeep.

use super::{CacheCommand, Shell, Status};
use crate::project::Project;
use crate::stages::Failure;
use crate::store::{Mode, Store};

pub(super) fn cache(shell: &Shell, command: &CacheCommand) -> Result<(), Status> {
    let store = Store::new(&shell.root.join("cache"), Mode::Use);
    match command {
        CacheCommand::Stats => {
            let stats = store.stats(false);
            if shell.json {
                return shell.out(&format!("{}\n", serde_json::json!(stats)));
            }
            shell.out(&format!("{} records, {} bytes\n", stats.records, stats.bytes))
        }
        CacheCommand::Verify => {
            let stats = store.stats(true);
            for path in &stats.broken {
                shell.out(&format!("broken: {path}\n"))?;
            }
            shell.out(&format!("{} records, {} broken\n", stats.records, stats.broken.len()))?;
            if stats.broken.is_empty() { Ok(()) } else { Err(Status::Broken) }
        }
        CacheCommand::Gc => {
            let budget = Project::load(&shell.root)
                .map_err(|faults| shell.failure(&Failure::Faults(faults)))?
                .manifest
                .limits
                .cache;
            let stats = store.collect(budget);
            shell.out(&format!(
                "{} records removed, {} left with {} bytes\n",
                stats.removed, stats.records, stats.bytes
            ))
        }
    }
}
