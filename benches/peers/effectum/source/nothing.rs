//! Nothing: this package only names a dependency.
