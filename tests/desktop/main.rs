//! The shell on Tauri's mock runtime: that each command exists under the name and with the
//! arguments that the interface uses, and that what goes wrong reaches it as a `Problem`.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests stop the test when they can't go on"
)]

mod answers;
mod configuration;
mod contract;
mod shell;

/// A module that is not listed above would never run.
#[test]
fn every_file_of_this_folder_is_a_module() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/desktop");
    let listed = std::fs::read_to_string(format!("{folder}/main.rs")).unwrap();
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(
            module == "main" || listed.contains(&format!("mod {module};")),
            "{name} is no module of main.rs"
        );
    }
}
