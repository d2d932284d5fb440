//! Ready-made tasks for lm-evaluation-harness and Inspect.

use std::collections::BTreeMap;

use super::card::About;

/// The files of the tasks, by path in the release.
#[must_use]
pub fn tasks(about: &About) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut put = |path: &str, text: &str| {
        let head = format!("# {} {}; {}\n", about.name, about.version, about.canary);
        let text = text.replace("@VERSION@", &about.version);
        files.insert(path.to_owned(), head + &text);
    };
    put("lm_eval/deogen/deogen_utils.py", include_str!("deogen_utils.py"));
    put("lm_eval/deogen/_deogen_yaml", include_str!("deogen_base.yaml"));
    put("inspect/deogen_task.py", include_str!("deogen_task.py"));
    for part in &about.parts {
        let task = part.policy.replace('-', "_");
        let text = format!(
            "include: _deogen_yaml\ntask: deogen_{task}\ntag: deogen\n\
             custom_dataset: !function deogen_utils.load\ndataset_path: null\n\
             dataset_kwargs:\n  policy: {}\nprocess_results: !function deogen_utils.results\n",
            part.policy
        );
        put(&format!("lm_eval/deogen/deogen_{task}.yaml"), &text);
    }
    files
}
