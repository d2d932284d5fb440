//! `deogen init`: a small project that builds at once and explains itself.

use std::fs;
use std::path::Path;

use super::{Shell, Status};
use crate::project::MANIFEST;
use crate::store::Disk;

/// The files of the project.
const FILES: [(&str, &str); 5] = [
    ("policies/leave/policy.md", include_str!("init/policy.md")),
    ("policies/leave/policy.smt2", include_str!("init/policy.smt2")),
    ("policies/leave/vocabulary.toml", include_str!("init/vocabulary.toml")),
    (".gitignore", "/cache/\n/dist/\n"),
    // Last: with it the folder is a project.
    (MANIFEST, include_str!("init/deogen.toml")),
];

pub(super) fn init(shell: &Shell, folder: &Path) -> Result<(), Status> {
    let folder = shell.root.join(folder);
    let taken: Vec<&str> = FILES
        .iter()
        .map(|(path, _)| *path)
        .chain(["deogen.schema.json"])
        .filter(|path| fs::symlink_metadata(folder.join(path)).is_ok())
        .collect();
    if !taken.is_empty() {
        shell.error(&format!("`{}` is there already; nothing is written", taken.join("`, `")));
        shell.say("help: name a new folder: `deogen init my-project`");
        return Err(Status::Faults);
    }
    let schema = serde_json::to_string_pretty(&crate::manifest::schema()).unwrap_or_default();
    let schema = format!("{schema}\n");
    let files = std::iter::once(("deogen.schema.json", schema.as_str())).chain(FILES);
    for (path, text) in files {
        if let Err(error) = Disk::default().write(&folder.join(path), text.as_bytes()) {
            shell.error(&error.to_string());
            return Err(Status::Environment);
        }
        shell.say(&format!("wrote {}", folder.join(path).display()));
    }
    shell.say("now: `deogen build` in that folder, then `deogen show --sample`");
    Ok(())
}
