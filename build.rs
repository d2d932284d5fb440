//! Lets every binary find the Z3 in `.z3/lib` at run time, from any folder and with an empty
//! environment, and says what to do when it is not there.

use std::env;
use std::fs;
use std::path::Path;

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let expected = env::var("Z3_SYS_Z3_VERSION").unwrap_or_default();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=.z3/VERSION");
    println!("cargo::rerun-if-env-changed=Z3_SYS_Z3_VERSION");

    // The first word is the version, as scripts/fetch-z3.sh wrote it.
    let stamp = fs::read_to_string(Path::new(&root).join(".z3/VERSION")).unwrap_or_default();
    let Some(found) = stamp.split_whitespace().next() else {
        println!(
            "cargo::error=Z3 is not in .z3/ yet: run `make`, or only `sh scripts/fetch-z3.sh`"
        );
        return;
    };
    if found != expected && !found.starts_with(&format!("{expected}.")) {
        println!(
            "cargo::error=.z3/ holds Z3 {found}, but this build is for {expected}: run `make`; \
             with a Z3 of the system, build with `DEOGEN_Z3=system make`, or set \
             Z3_SYS_Z3_VERSION={found}"
        );
        return;
    }

    // target/release/deogen, then target/release/{deps,examples}/*, then any other target folder.
    let origin = match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => "@loader_path",
        _ => "$ORIGIN",
    };
    for folder in [&format!("{origin}/../.."), &format!("{origin}/../../.."), &root] {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}/.z3/lib");
    }
}
