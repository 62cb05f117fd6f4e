//! A test file that nobody listed would never run.

/// Lists the modules of a `main.rs`.
fn modules(main: &str) -> Vec<&str> {
    main.lines()
        .filter_map(|line| line.trim().strip_prefix("mod ")?.strip_suffix(';'))
        .collect()
}

#[test]
fn every_file_here_is_a_module_of_the_test_binary() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cli");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
            assert!(
                modules(&main).contains(&module),
                "tests/cli/{name} is not listed in main.rs"
            );
        }
    }
}
